"""Entry of a lexicon: a written text and its reading."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from yuliu.errors import InvalidRequest
from yuliu.text.languages import parse_language, phoneme_alphabets
from yuliu.text.scripts import is_latin
from yuliu.types import Hint, Span

Where = Literal["word", "anywhere"]
LexiconStage = Literal["before", "after"]
MAX_TEXT_CHARACTERS = 64
MAX_READING_CHARACTERS = 200


class Entry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Written text and its reading.

    Raises:
        InvalidRequest: A field is empty, too long or not one of the choices; ``param`` names it.
    """

    text: Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_TEXT_CHARACTERS})]
    """Text as written, at most 64 characters; letters match in either case and width, unless ``match_case``."""
    reading: Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_READING_CHARACTERS})]
    """Reading, at most 200 characters: words if ``alphabet`` is None, else phonemes."""
    alphabet: str | None = None
    """Phoneme alphabet of a registered language: pinyin with tone digits or marks for Mandarin, IPA or misaki's symbols
    for English."""
    lang: str | None = None
    """Language by BCP 47 tag, stored as the tag of the registered language. The entry applies only where the
    surrounding words, or it by itself, are in this language; None applies everywhere."""
    match_case: bool = False
    """True if upper and lower case, and full and normal width, differ."""
    where: Where | None = None
    """``word``: only where it is not part of a longer word or number; None means ``word`` for texts that begin or end
    with a letter or digit, and ``anywhere`` for others (Chinese characters)."""
    stage: LexiconStage = "before"
    """``before``: matched in the text as written, and the reading is read like any text. ``after``: matched in the
    spoken form, where numbers and signs are words already; the reading consists of words as well."""

    def __post_init__(self) -> None:
        """Validate the fields."""
        _check_text("text", self.text, MAX_TEXT_CHARACTERS)
        _check_text("reading", self.reading, MAX_READING_CHARACTERS)
        if self.alphabet is not None:
            _check_choice("alphabet", self.alphabet, phoneme_alphabets())
        if self.lang is not None:
            force_setattr(self, "lang", parse_language(self.lang, param="lang"))
        _check_choice("where", self.where, (None, *get_args(Where)))
        _check_choice("stage", self.stage, get_args(LexiconStage))
        if self.stage == "after" and self.alphabet is not None:
            raise InvalidRequest("phonemes need no stage: leave out 'after'", param="stage")

    @property
    def is_whole_word(self) -> bool:
        """True if it matches whole words only."""
        if self.where is not None:
            return self.where == "word"
        return is_word_character(self.text[0]) or is_word_character(self.text[-1])

    @property
    def scope(self) -> tuple[str, str | None, bool, LexiconStage]:
        """Key that two conflicting entries share; the later one wins."""
        text = self.text if self.match_case else folded(self.text)
        return text, self.lang, self.match_case, self.stage

    def hint(self, span: Span) -> Hint:
        """Return the hint for a front end at a place where the entry matches."""
        if self.alphabet is None:
            return Hint(span, "spoken", self.reading)
        return Hint(span, "phonemes", self.reading, self.alphabet)


def is_word_character(char: str) -> bool:
    """Return whether ``char`` belongs to words written with spaces between them: a Latin letter or a digit."""
    return is_latin(char) or char.isdecimal()


def folded(text: str) -> str:
    """Return ``text`` in lower case and normal width, character by character, so that its length is unchanged."""
    lower = text.lower()
    if lower.isascii():
        return lower
    return "".join(map(_fold, text))


def unwidened(text: str) -> str:
    """Return ``text`` with full-width forms made plain; case and length are unchanged."""
    return text if text.isascii() else "".join(map(_unwiden, text))


def _unwiden(char: str) -> str:
    return chr(ord(char) - 0xFEE0) if "！" <= char <= "～" else char


def _fold(char: str) -> str:
    lower = _unwiden(char).lower()
    return lower if len(lower) == 1 else char


def _check_text(name: str, value: object, max_characters: int) -> None:
    if not isinstance(value, str) or not value or value != value.strip():
        raise InvalidRequest(f"{name!r} must be a text without white space at its ends", param=name)
    if len(value) > max_characters:
        raise InvalidRequest(f"{name!r} has {len(value)} characters; the maximum is {max_characters}", param=name)
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in value):
        raise InvalidRequest(
            f"{name!r} contains a line break, a control character or half of a surrogate pair", param=name
        )


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        accepted = ", ".join(str(choice) for choice in choices if choice is not None)
        raise InvalidRequest(f"{name!r} must be one of: {accepted}", param=name)
