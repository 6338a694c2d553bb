"""Whether the voices could say what entries want: what would only be noticed by ear is found before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.text.en.frontend import voice_alphabet
from yuliu.text.en.hints import holds_sound, to_misaki
from yuliu.text.lexicon.problems import LineProblem
from yuliu.text.zh.hints import parse_pinyin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.text.lexicon.entry import Entry
    from yuliu.text.lexicon.problems import Parsed


def unspeakable(entry: Entry) -> str:
    """What is wrong with the phonemes of an entry and what to do; empty if nothing is."""
    if entry.alphabet == "pinyin":
        return "" if parse_pinyin(entry.reading) else "holds no pinyin syllable with tone, such as hang2 ye4"
    if entry.alphabet is None:
        return ""
    phonemes = to_misaki(entry.reading, entry.alphabet)
    unknown = sorted(set(phonemes) - voice_alphabet())
    if unknown:
        return f"holds symbols that the voice does not have ({' '.join(unknown)}); see docs/en/reference/phonemes.md"
    return "" if holds_sound(phonemes) else "holds no phoneme; see docs/en/reference/phonemes.md"


def checked_phonemes(parsed: Parsed) -> list[LineProblem]:
    """The lines whose phonemes no voice has."""
    told = ((line, unspeakable(entry)) for line, entry in zip(parsed.lines, parsed.entries, strict=True))
    return [LineProblem(line, message) for line, message in told if message]


def first_unspeakable(entries: Iterable[Entry]) -> str:
    """The first problem of a list of entries, with its place in the list; empty if there is none."""
    told = ((index, unspeakable(entry)) for index, entry in enumerate(entries, start=1))
    return next((f"entry {index}: {message}" for index, message in told if message), "")
