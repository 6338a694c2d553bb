"""Mandarin front end: text in, units for the Baker voice out."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.text.frontend import Piece, Reading, Unit
from yuliu.text.respelling import respelled
from yuliu.text.zh import letters, lexicon
from yuliu.text.zh.hints import given_readings
from yuliu.text.zh.normalise import Rewrite, scan
from yuliu.text.zh.phones import phones
from yuliu.text.zh.pronounce import Syllable, pronounce
from yuliu.types import Skipped, Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.types import Hint, Respelling

_LANG = "zh"
_MAX_CLAUSE = 120
"""Maximum length of a clause; longer runs of characters are read in parts, which bounds the cost of the libraries."""

_STAND_IN = "㒰"
"""Stand-in for a syllable that is given for no character of its own: a rare character, which joins no word."""

_LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]+(?:['’][A-Za-z]+)?")
_CLAUSE_PAUSE = frozenset("，,。.；;：:！!？?…—–\n")
_PHRASE_PAUSE = frozenset("、·/|~-")


@dataclass(frozen=True, slots=True)
class _Spoken:
    """Spoken form with the mapping back to the text."""

    text: str
    source: tuple[Span, ...]
    """Span of the input for each spoken character."""
    spelled: frozenset[int]
    """Places in ``text`` whose Latin words are spelled."""
    given: Mapping[int, str]
    """Settled syllables, by their place in ``text``."""


class Mandarin:
    """Mandarin front end. Construction loads its tables (about half a second of CPU, 60 MB); safe to share between
    threads."""

    def __init__(self) -> None:
        self._lexicon = lexicon.load()

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """Normalise ``text`` and return its syllables.

        Args:
            text: One segment with any characters; the cost grows with its length.
            hints: Readings of places in it; phonemes in pinyin.
            respelling: Replacements in the spoken form.

        Returns:
            Pieces that tile ``text``; one unit per syllable (or per syllable of a letter's name) with phones of the
            Baker voice and ``after`` one of ``#0`` to ``#3``; the rest under ``language_not_spoken`` (Latin words and
            other scripts) or ``symbol``.
        """
        given, refused = given_readings(text, hints) if hints else ([], [])
        rewrites = scan(text, given)
        if respelling is not None and (changes := respelling.respell(_joined(rewrites), _LANG)):
            settled = {(each.start, each.end) for each in given}
            rewrites = respelled(rewrites, changes, is_settled=lambda each: (each.start, each.end) in settled)
        pieces = tuple(Piece(Span(each.start, each.end), each.spoken) for each in rewrites)
        units, skipped = _Voicing(self._lexicon, _spoken(rewrites, self._lexicon)).run()
        return Reading(pieces, units, skipped, tuple(refused))


def _joined(rewrites: Sequence[Rewrite]) -> str:
    return "".join(each.spoken for each in rewrites)


def _spoken(rewrites: list[Rewrite], words: lexicon.ZhLexicon) -> _Spoken:
    text: list[str] = []
    source: list[Span] = []
    spelled: set[int] = set()
    given: dict[int, str] = {}
    for each in rewrites:
        spoken = _voiced(each, words)
        if each.spelled:
            spelled.update(range(len(source), len(source) + len(spoken)))
        given.update(enumerate(each.syllables, start=len(source)))
        if each.rewritten:
            source += [Span(each.start, each.end)] * len(spoken)
        else:
            source += [Span(at, at + 1) for at in range(each.start, each.end)]
        text.append(spoken)
    return _Spoken("".join(text), tuple(source), frozenset(spelled), given)


def _voiced(rewrite: Rewrite, words: lexicon.ZhLexicon) -> str:
    """Return the text of a rewrite for the clause: a character for each given syllable."""
    spoken, syllables = rewrite.spoken, rewrite.syllables
    if not syllables or (len(spoken) == len(syllables) and all(char in words.characters for char in spoken)):
        return spoken
    return _STAND_IN * len(syllables)


class _Voicing:
    """Single pass over a spoken form that collects units and skips."""

    def __init__(self, words: lexicon.ZhLexicon, spoken: _Spoken) -> None:
        self._lexicon = words
        self._spoken = spoken
        self._units: list[Unit] = []
        self._skipped: list[Skipped] = []
        self._mark = ""
        """Mark due before the next unit, because of the characters between."""

    def run(self) -> tuple[tuple[Unit, ...], tuple[Skipped, ...]]:
        text, at = self._spoken.text, 0
        while at < len(text):
            at = self._han(at) or self._latin(at) or self._other(at)
        return tuple(self._units), _without_spoken(self._skipped, self._units)

    def _han(self, start: int) -> int:
        text, known = self._spoken.text, self._lexicon.characters
        end = start
        limit = min(len(text), start + _MAX_CLAUSE)
        while end < limit and text[end] in known:
            end += 1
        if end == start:
            return 0
        given = {place - start: each for place, each in self._spoken.given.items() if start <= place < end}
        for syllable in pronounce(text[start:end], self._lexicon, given):
            self._say(syllable, start)
        return end

    def _say(self, syllable: Syllable, offset: int) -> None:
        start, end = offset + syllable.start, offset + syllable.end
        text = self._spoken.text[start:end]
        self._add(start, end, syllable.pinyin[:-1] if text == _STAND_IN else text, syllable.pinyin)
        self._mark = syllable.mark

    def _latin(self, start: int) -> int:
        match = _LATIN.match(self._spoken.text, start)
        if match is None:
            return 0
        syllables = self._letters(match[0], spelled=start in self._spoken.spelled)
        if not syllables:
            self._skip(start, match.end(), "language_not_spoken")
            return match.end()
        for index, (place, name, pinyin) in enumerate(syllables):
            self._add(start + place[0], start + place[1], name, pinyin)
            self._mark = "#0" if index + 1 < len(syllables) else "#1"
        return match.end()

    def _letters(self, word: str, *, spelled: bool) -> list[tuple[tuple[int, int], str, str]]:
        if spelled and word.lower() in letters.WORDS:
            return [((0, len(word)), word, pinyin) for pinyin in letters.WORDS[word.lower()]]
        if not word.isascii() or not (spelled or letters.is_spelled(word)):
            return []
        named = ((at, char, letters.LETTERS.get(char.upper(), ())) for at, char in enumerate(word))
        return [((at, at + 1), char, pinyin) for at, char, name in named for pinyin in name]

    def _other(self, at: int) -> int:
        char = self._spoken.text[at]
        if char in _CLAUSE_PAUSE:
            self._mark = "#3"
        elif char in _PHRASE_PAUSE and self._mark != "#3":
            self._mark = "#2"
        if not char.isspace() and not _is_punctuation(char):
            self._skip(at, at + 1, "language_not_spoken" if char.isalnum() else "symbol")
        return at + 1

    def _skip(self, start: int, end: int, rule: str) -> None:
        source = Span(self._spoken.source[start].start, self._spoken.source[end - 1].end)
        if self._mark:
            self._mark = max(self._mark, "#1")
        last = self._skipped[-1] if self._skipped else None
        if last and last.rule == rule and source.start <= last.source.end:
            self._skipped[-1] = Skipped(Span(last.source.start, max(last.source.end, source.end)), rule)
        else:
            self._skipped.append(Skipped(source, rule))

    def _add(self, start: int, end: int, text: str, pinyin: str) -> None:
        if self._units:
            last = self._units[-1]
            self._units[-1] = Unit(last.source, last.text, last.phonemes, self._mark or "#1", last.pinyin)
        source = Span(self._spoken.source[start].start, self._spoken.source[end - 1].end)
        self._units.append(Unit(source, text, phones(pinyin), "", pinyin))


def _without_spoken(skipped: list[Skipped], units: list[Unit]) -> tuple[Skipped, ...]:
    """Drop skips inside a rewriting that is spoken."""
    spoken = {unit.source for unit in units}
    return tuple(each for each in skipped if each.source not in spoken)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PZ" and char not in "#@&*%/\\"
