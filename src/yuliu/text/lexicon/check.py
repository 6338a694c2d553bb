"""Check of entries against the alphabets of the voices, so that errors surface before they are heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.text.languages import phoneme_problem
from yuliu.text.lexicon.problems import LineProblem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.text.lexicon.entry import Entry
    from yuliu.text.lexicon.problems import Parsed


def unspeakable(entry: Entry) -> str:
    """Return the problem with the phonemes of an entry and its remedy; empty if there is none."""
    return "" if entry.alphabet is None else phoneme_problem(entry.reading, entry.alphabet)


def checked_phonemes(parsed: Parsed) -> list[LineProblem]:
    """Return the lines with phonemes that no voice has."""
    told = ((line, unspeakable(entry)) for line, entry in zip(parsed.lines, parsed.entries, strict=True))
    return [LineProblem(line, message) for line, message in told if message]


def first_unspeakable(entries: Iterable[Entry]) -> str:
    """Return the first problem in a list of entries with its position; empty if there is none."""
    told = ((index, unspeakable(entry)) for index, entry in enumerate(entries, start=1))
    return next((f"entry {index}: {message}" for index, message in told if message), "")
