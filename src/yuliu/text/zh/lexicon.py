"""Readings of characters and words: the dictionary of the ``pypinyin`` package under our own overrides.

The package's two data files (characters and phrases; MIT, derived from the Unihan database and 现代汉语词典 word lists)
are read directly and kept compactly: importing the package itself would hold some 57 MB for the same contents, and its
matcher cannot respect word boundaries.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from dataclasses import dataclass
from importlib import resources, util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TONES = {"\u0304": "1", "\u0301": "2", "\u030c": "3", "\u0300": "4"}
_BLANK = re.compile(r"[\s,:{}]*")

Readings = tuple[str, ...]
"""One syllable with tone digit per character."""


@dataclass(frozen=True, slots=True)
class Context:
    """Reading of a character that applies where the text on both sides matches."""

    pinyin: str
    left: re.Pattern[str]
    """Pattern searched in the few characters before; ends with ``$``."""
    right: re.Pattern[str]
    """Pattern matched at the characters after."""


@dataclass(frozen=True, slots=True)
class PhraseBook:
    """Phrases with readings, matched longest first."""

    readings: Mapping[str, Readings | None]
    """Readings; None where each character has its usual one."""
    lengths: Mapping[str, tuple[int, ...]]
    """Lengths of the phrases that begin with a character, longest first."""

    @classmethod
    def of(cls, readings: Mapping[str, Readings | None]) -> PhraseBook:
        """Index ``readings`` by first character."""
        lengths: dict[str, set[int]] = {}
        for phrase in readings:
            lengths.setdefault(phrase[0], set()).add(len(phrase))
        return cls(readings, {char: tuple(sorted(each, reverse=True)) for char, each in lengths.items()})

    def at(self, text: str, position: int) -> tuple[int, ...]:
        """Return the lengths of the phrases at ``position``, longest first."""
        lengths, left = self.lengths.get(text[position], ()), len(text) - position
        return tuple(each for each in lengths if each <= left and text[position : position + each] in self.readings)


@dataclass(frozen=True, slots=True)
class ZhLexicon:
    """Readings known before the sentence is seen."""

    characters: Mapping[str, str]
    """Usual reading of each character, with tone digit."""
    phrases: PhraseBook
    """Words and idioms of the dictionary."""
    overrides: PhraseBook
    """Our own words, which win over the dictionary and the contexts."""
    contexts: Mapping[str, tuple[Context, ...]]
    """Rules for single characters by their neighbours; the first that applies wins."""


def load() -> ZhLexicon:
    """Read the dictionary and our own tables, about 0.3 s of CPU.

    Raises:
        ModuleNotFoundError: ``pypinyin`` is not installed.
    """
    own = dict(_own_words())
    characters = {char: sys.intern(_digit_tone(reading)) for char, reading in _characters()}
    characters |= {char: readings[0] for char, readings in own.items() if len(char) == 1}
    return ZhLexicon(
        characters=characters,
        phrases=PhraseBook.of(dict(_phrases(characters))),
        overrides=PhraseBook.of({word: readings for word, readings in own.items() if len(word) > 1}),
        contexts=_contexts(),
    )


def _package_file(name: str) -> str:
    spec = util.find_spec("pypinyin")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the package pypinyin is needed to read Mandarin")
    return Path(spec.origin).with_name(name).read_text(encoding="utf-8")


def _characters() -> Iterator[tuple[str, str]]:
    for code, readings in json.loads(_package_file("pinyin_dict.json")).items():
        yield chr(int(code)), readings.partition(",")[0]


def _phrases(characters: Mapping[str, str]) -> Iterator[tuple[str, Readings | None]]:
    """Yield phrase by phrase, so that the whole nested list is never in memory."""
    text = _package_file("phrases_dict.json")
    decoder = json.JSONDecoder()
    cache: dict[str, str] = {}
    position = _skip(text, 0)
    while position < len(text):
        phrase, position = decoder.raw_decode(text, position)
        value, position = decoder.raw_decode(text, _skip(text, position))
        position = _skip(text, position)
        if len(phrase) == len(value):
            marked = [each[0] for each in value]
            readings = tuple(cache[each] if each in cache else _remember(cache, each) for each in marked)
            yield phrase, None if readings == tuple(map(characters.get, phrase)) else readings


def _remember(cache: dict[str, str], marked: str) -> str:
    cache[marked] = sys.intern(_digit_tone(marked))
    return cache[marked]


def _skip(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _digit_tone(marked: str) -> str:
    """Convert ``"lǜ"`` to ``"lv4"``, ``"men"`` to ``"men5"``."""
    tone = "5"
    letters: list[str] = []
    for char in unicodedata.normalize("NFD", marked):
        if char in _TONES:
            tone = _TONES[char]
        elif char == "\u0308":
            letters[-1] = "v"
        elif char == "\u0302":
            letters[-1] = "ê"
        elif char.isalpha():
            letters.append("g" if char == "ɡ" else char)
    return "".join(letters) + tone


def _rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of one of our own tables; ``#`` begins a remark."""
    table = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    for line in table.splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def _own_words() -> Iterator[tuple[str, Readings]]:
    for readings, words in _rows("polyphones.tsv"):
        for word in words.split():
            yield word, tuple(map(sys.intern, readings.split()))


def _contexts() -> dict[str, tuple[Context, ...]]:
    table: dict[str, list[Context]] = {}
    for row in _rows("contexts.tsv"):
        char, pinyin, left, right = (*row, "", "")[:4]
        rule = Context(pinyin, re.compile(f"(?:{left})$" if left else ""), re.compile(right))
        table.setdefault(char, []).append(rule)
    return {char: tuple(rules) for char, rules in table.items()}
