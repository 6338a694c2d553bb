"""English front end: spoken form, words and pronunciation, each with its place in the text."""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from yuliu.text.en.fold import Folded, fold
from yuliu.text.en.hints import given_parts
from yuliu.text.en.pronounce import PronouncedWord, Pronouncer
from yuliu.text.en.spoken_form import FormPart, spoken_parts
from yuliu.text.frontend import Piece, Reading, Unit
from yuliu.text.respelling import respelled
from yuliu.types import Skipped, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from yuliu.types import Hint, Respelling

_LANG = "en"


class English:
    """English front end; implements :class:`yuliu.text.frontend.FrontEnd`.

    Construction loads the lexicons (about half a second of CPU). Reading is pure and may be shared between threads, as
    far as ``oov`` may.

    Args:
        oov: Phonemes of a word outside the lexicons, in misaki's alphabet. Without it such words are spelled.
    """

    def __init__(self, oov: Callable[[str], str | None] | None = None) -> None:
        self._pronouncer = Pronouncer(oov)
        self._alphabet = voice_alphabet()

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """Return the spoken form of ``text`` and its words with phonemes, one symbol of misaki's alphabet per item.

        The phonemes and ``after`` of all units, joined, are the input of the voice. A mark before the first word stands
        at the head of its phonemes. Accepts any text. Hinted phonemes are misaki's or those of the IPA.
        """
        folded = fold(text)
        given, refused = given_parts(folded, hints, length=len(text), alphabet=self._alphabet) if hints else ([], [])
        parts = spoken_parts(folded.text, given)
        if respelling is not None and (changes := respelling.respell("".join(part.spoken for part in parts), _LANG)):
            settled = {(part.start, part.end) for part in given}
            parts = respelled(parts, changes, is_settled=lambda part: (part.start, part.end) in settled)
        tokens = self._pronouncer.tokens(parts)
        spoken = self._pronouncer.pronounce(tokens) if tokens else []
        units = tuple(self._units(spoken, folded))
        return Reading(tuple(_pieces(parts, folded, len(text))), units, tuple(_skipped(text, units)), tuple(refused))

    def _units(self, spoken: Sequence[PronouncedWord], folded: Folded) -> Iterator[Unit]:
        head = ""
        pending: PronouncedWord | None = None
        after = ""
        for word in spoken:
            phonemes = "".join(char for char in word.phonemes if char in self._alphabet)
            if word.mark or not phonemes:
                mark = _squeeze(after, phonemes) if pending else phonemes
                if pending:
                    after = mark + (" " if word.space and not mark.endswith(" ") else "")
                else:
                    head += phonemes
                continue
            if pending is not None:
                yield self._unit(pending, folded, head, after + (" " if after[-1:] in _PAUSES else ""))
                head = ""
            pending, after = word, " " if word.space else ""
        if pending is not None:
            closed = after.rstrip() or ("." if pending.text.endswith(".") else "")  # "in the U.S." ends a sentence
            yield self._unit(pending, folded, head, closed)

    def _unit(self, word: PronouncedWord, folded: Folded, head: str, after: str) -> Unit:
        span = Span(folded.starts[word.start], folded.ends[max(word.start, word.end - 1)])
        symbols = tuple(char for char in head + word.phonemes if char in self._alphabet)
        return Unit(span, word.text, symbols, after)


_PAUSES = (",", ".", "!", "?", ";", ":", "…")
"""Marks after which the voice expects a space even where the text has none."""


def _squeeze(after: str, mark: str) -> str:
    """Return ``after`` followed by ``mark``; a space before closing punctuation is dropped."""
    if mark and mark[0] in ",.!?;:…":
        after = after.rstrip()
    return after + mark


def _pieces(parts: Sequence[FormPart], folded: Folded, length: int) -> Iterator[Piece]:
    start = 0
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        end = length if last else max(start, folded.starts[parts[index + 1].start])
        yield Piece(Span(start, end), part.spoken)
        start = end
    if not parts and length:
        yield Piece(Span(0, length), "")


def _skipped(text: str, units: Sequence[Unit]) -> Iterator[Skipped]:
    """Yield runs of characters, other than space and punctuation, that no unit stands for, one rule each."""
    covered = 0
    start, rule = 0, ""
    spans = iter([*(unit.source for unit in units), Span(len(text), len(text))])
    for span in spans:
        for place in range(covered, max(covered, span.start)):
            found = _skip_rule(text[place])
            if found != rule:
                if rule:
                    yield Skipped(Span(start, place), rule)
                start, rule = place, found
        if rule and span.start > covered:
            yield Skipped(Span(start, span.start), rule)
        rule = ""
        covered = max(covered, span.end)


def _skip_rule(char: str) -> str:
    """Return the rule that skips a character; empty for space and punctuation, which need none."""
    category = unicodedata.category(char)
    if char.isspace() or category[0] in "PZ":
        return ""
    emoji = "\ufe00" <= char <= "\ufe0f" or char == "\u20e3"  # marks that choose how an emoji looks
    return "language_not_spoken" if category[0] in "LMN" and not emoji else "symbol"


@cache
def voice_alphabet() -> frozenset[str]:
    """Return the symbols that the English voice knows: misaki's phonemes, punctuation and the space."""
    vocabulary = resources.files("hibari").joinpath("assets", "vocab.json").read_text(encoding="utf-8")
    return frozenset(json.loads(vocabulary))
