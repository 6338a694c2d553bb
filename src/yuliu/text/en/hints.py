"""Hinted places of an English text: a spoken form, phonemes, or the kind of expression."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

from yuliu.text.en.fold import fold
from yuliu.text.en.number_words import digits, number, ordinal
from yuliu.text.en.rules.dates import date_words
from yuliu.text.en.spoken_form import FormPart, spoken_parts
from yuliu.text.frontend import RefusedHint
from yuliu.text.hints import day_parts, in_place, plain_number

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from yuliu.text.en.fold import Folded
    from yuliu.types import Hint

_DIPHTHONGS = {
    "eɪ": "A", "aɪ": "I", "aʊ": "W", "ɔɪ": "Y", "oʊ": "O", "əʊ": "O", "dʒ": "ʤ", "tʃ": "ʧ", "ɝ": "ɜɹ", "ɚ": "əɹ",
    "e": "ɛ", "r": "ɹ", "g": "ɡ", "ɒ": "ɑ", "ɫ": "l", "ɾ": "T",
}  # fmt: skip
"""Symbols of the International Phonetic Alphabet (American English) and misaki's spelling; longest first."""
_IPA = re.compile("|".join(map(re.escape, _DIPHTHONGS)))
_IPA_NOTATION = re.compile("[/\\[\\].ː\u0361\u035c\u032f\u0329\u02d1]")
"""Brackets, syllable breaks, length, tie bars and marks below, none of which misaki uses."""
_MAX_CARDINAL = 10**33
_MAX_DIGITS = 1000


def given_parts(
    folded: Folded, hints: Sequence[Hint], *, length: int, alphabet: Collection[str]
) -> tuple[list[FormPart], list[RefusedHint]]:
    """Return one part for each hint that can be followed, in order, and the hints that cannot.

    Args:
        folded: Folded text; hints refer to its source.
        hints: Hints in any order.
        length: Number of characters of the source.
        alphabet: Symbols that the voice knows.
    """
    placed, refused = in_place(hints, length)
    parts: list[FormPart] = []
    for hint in placed:
        start, end = bisect_left(folded.starts, hint.span.start), bisect_left(folded.starts, hint.span.end)
        found = _part(folded.text, hint, (start, end), alphabet) if start < end else None
        if found is None:
            refused.append(RefusedHint(hint.span, f"{hint.kind}_unknown"))
        else:
            parts.append(found)
    return parts, sorted(refused, key=lambda each: each.source)


def _part(text: str, hint: Hint, place: tuple[int, int], alphabet: Collection[str]) -> FormPart | None:
    start, end = place
    written = text[start:end]
    if hint.kind == "spoken":
        return FormPart(start, end, _normal(hint.value), rewritten=True)
    if hint.kind == "say_as":
        said = _say_as(written, hint.value, hint.detail)
        return FormPart(start, end, said, rewritten=True) if said else None
    phonemes = to_misaki(hint.value, hint.detail)
    if not holds_sound(phonemes) or any(char not in alphabet for char in phonemes):
        return None
    return FormPart(start, end, written, rewritten=True, phonemes=phonemes)


def to_misaki(value: str, alphabet: str) -> str:
    """Return phonemes in misaki's symbols; empty if they are in an alphabet that is not for English.

    Args:
        value: For example ``həˈloʊ`` or ``həlˈO``.
        alphabet: ``ipa`` or ``x-misaki``.
    """
    value = " ".join(value.split())
    if alphabet == "x-misaki":
        return value
    if alphabet != "ipa":
        return ""
    return _IPA.sub(lambda match: _DIPHTHONGS[match[0]], _IPA_NOTATION.sub("", value))


def holds_sound(phonemes: str) -> bool:
    """Return whether the phonemes contain more than stress and punctuation."""
    return any(unicodedata.category(char) in ("Ll", "Lu") for char in phonemes)


def _normal(text: str) -> str:
    """Return the words that the rules make of a text that stands alone."""
    return "".join(part.spoken for part in spoken_parts(fold(text).text)).strip()


def _say_as(text: str, kind: str, detail: str) -> str | None:
    say = _KINDS.get(kind)
    return say(text[:_MAX_DIGITS], detail) if say else None


def _characters(text: str, _: str) -> str:
    return " ".join(filter(None, (char.upper() if char.isalpha() else _normal(char) for char in text)))


def _digits(text: str, _: str) -> str:
    return digits(text)


def _telephone(text: str, _: str) -> str:
    plus = "plus " if text.lstrip().startswith("+") else ""
    groups = ", ".join(digits(group) for group in re.findall(r"\d+", text, re.ASCII))
    return plus + groups if groups else ""


def _cardinal(text: str, _: str) -> str:
    bare = plain_number(text)
    if bare is None:
        return ""
    return ("minus " if bare[0] == "-" else "") + number(bare.lstrip("+-"))


def _ordinal(text: str, _: str) -> str:
    found = re.sub(r"\D", "", text)
    return ordinal(int(found)) if found and int(found) < _MAX_CARDINAL else ""


def _date(text: str, order: str) -> str:
    parts = day_parts(text, order) if order else None
    if parts is None or not parts[1]:
        return _normal(text)
    year, month, day = parts
    words = date_words(int(year) if year else None, int(month), int(day or 1))
    if words and not day:
        words = words.replace(" " + ordinal(1), "", 1)
    return words or _normal(text)


def _alone(text: str, _: str) -> str:
    return _normal(text)


_KINDS: dict[str, Callable[[str, str], str]] = {
    "characters": _characters,
    "digits": _digits,
    "telephone": _telephone,
    "cardinal": _cardinal,
    "ordinal": _ordinal,
    "date": _date,
    "time": _alone,
    "unit": _alone,
}
