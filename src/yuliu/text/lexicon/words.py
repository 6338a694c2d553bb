"""Look-up of entries in a text: the longest match first, and the strongest lexicon among equally long ones."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from yuliu.text.language_spans import split_languages
from yuliu.text.languages import all_languages, language_of
from yuliu.text.lexicon.entry import folded, is_word_character, unwidened
from yuliu.text.scripts import is_latin
from yuliu.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from yuliu.text.language_spans import LangSpan
    from yuliu.text.lexicon.entry import Entry, LexiconStage
    from yuliu.types import Hint, Lang, Segment


@dataclass(frozen=True, slots=True)
class Hit:
    """Match of an entry in a text."""

    span: Span
    entry: Entry
    lexicon: str
    """Name of the lexicon that contains the entry."""


@dataclass(frozen=True)
class Lexicon:
    """Entries of one lexicon, indexed for look-up.

    At each place of a text only the lengths that occur with its first character are tried, one look-up each, so the
    cost does not grow with the number of entries.
    """

    name: str
    entries: tuple[Entry, ...]
    """Entries without conflicts: only the last of each scope."""

    @classmethod
    def of(cls, name: str, entries: Iterable[Entry]) -> Lexicon:
        """Make a lexicon in which later entries replace earlier ones of the same scope."""
        return cls(name, tuple({entry.scope: entry for entry in entries}.values()))

    def index(self) -> None:
        """Build the tables now: about 3 ms per thousand entries."""
        _ = self.before, self.after, self.digest

    @cached_property
    def before(self) -> EntryTable:
        """Entries that are matched in the text as written."""
        return EntryTable.of(self.entries, "before")

    @cached_property
    def after(self) -> EntryTable:
        """Entries that are matched in the spoken form."""
        return EntryTable.of(self.entries, "after")

    @cached_property
    def digest(self) -> str:
        """Digest of the entries that change spoken forms; empty if there are none."""
        entries = [entry for entry in self.entries if entry.stage == "after"]
        return sha256(repr(entries).encode("utf-8", "surrogatepass")).hexdigest() if entries else ""


@dataclass(frozen=True, slots=True)
class EntryTable:
    """Entries of one stage, by their text."""

    entries: Mapping[str, tuple[Entry, ...]]
    """Entries by folded text, the narrower scope first."""
    lengths: Mapping[str, tuple[int, ...]]
    """Lengths of the texts that begin with a character, longest first."""
    first: re.Pattern[str] | None
    """Pattern of the first characters of all texts; None if there are no texts."""

    @classmethod
    def of(cls, entries: Sequence[Entry], stage: LexiconStage) -> EntryTable:
        """Index the entries of a stage."""
        by_text: dict[str, list[Entry]] = {}
        lengths: dict[str, set[int]] = {}
        for entry in entries:
            if entry.stage == stage:
                by_text.setdefault(folded(entry.text), []).append(entry)
                lengths.setdefault(folded(entry.text[0]), set()).add(len(entry.text))
        return cls(
            {text: tuple(sorted(each, key=_breadth)) for text, each in by_text.items()},
            {char: tuple(sorted(each, reverse=True)) for char, each in lengths.items()},
            re.compile("[" + "".join(map(re.escape, lengths)) + "]") if lengths else None,
        )


def _breadth(entry: Entry) -> tuple[bool, bool]:
    return not entry.match_case, entry.lang is None


@dataclass(frozen=True, slots=True)
class _Written:
    """Text under search."""

    text: str
    folded: str
    languages: Languages

    def holds(self, entry: Entry, start: int, end: int) -> bool:
        """Return whether ``entry``, whose folded text matches there, applies there."""
        if entry.match_case and self.text[start:end] != unwidened(entry.text):
            return False
        if entry.is_whole_word and not (_parts(self.text, start) and _parts(self.text, end)):
            return False
        return entry.lang is None or entry.lang in self.languages.at(start)


def _parts(text: str, at: int) -> bool:
    """Return whether a word may end or begin at a place."""
    if not 0 < at < len(text):
        return True
    left, right = text[at - 1], text[at]
    if right in "'’" and is_word_character(left):
        return not is_word_character(text[at + 1 : at + 2] or " ")
    return not (is_word_character(left) and is_word_character(right))


@dataclass(slots=True)
class Languages:
    """Languages of a text, computed at the first use."""

    text: str
    forced: Lang | None
    """Language of the whole text, if it is settled."""
    _main: str = ""
    _starts: list[int] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)

    def at(self, place: int) -> tuple[str, str]:
        """Return the language of the whole text, and that of a place."""
        if self.forced is not None:
            return self.forced, self.forced
        if not self._starts:
            found = split_languages(self.text, all_languages())
            self._main = main_language(self.text, found)
            self._starts, self._names = [each.span.start for each in found], [each.name for each in found]
        return self._main, self._names[bisect_right(self._starts, place) - 1]


def main_language(text: str, spans: Sequence[LangSpan]) -> str:
    """Return the language of the largest part of a text, by length in speech; the first of equally long ones."""
    weights: dict[str, float] = {}
    for found in spans:
        said = sum(map(_weight, text[found.span.start : found.span.end]))
        weights[found.name] = weights.get(found.name, 0.0) + said
    return max(weights, key=lambda name: weights[name])


def _weight(char: str) -> float:
    if not char.isalnum():
        return 0.0
    return 0.25 if is_latin(char) else 1.0


@dataclass(frozen=True, slots=True)
class Words:
    """Lexicons in layers, as a stream uses them."""

    lexicons: tuple[Lexicon, ...] = ()
    """Lexicons, the strongest last."""

    @property
    def digests(self) -> tuple[str, ...]:
        """Digests of the lexicons that change spoken forms."""
        return tuple(each.digest for each in self.lexicons if each.digest)

    def hits(self, text: str, *, lang: Lang | None = None) -> list[Hit]:
        """Return the entries that match in a text as written, in order and without overlap.

        Args:
            text: Text as written.
            lang: Language of the whole text, if it is settled.
        """
        return list(_search(text, [(each.name, each.before) for each in self.lexicons], lang))

    def spoken_hits(self, spoken: str, lang: Lang) -> list[Hit]:
        """Return the entries that match in a spoken form in one language, in order and without overlap."""
        return list(_search(spoken, [(each.name, each.after) for each in self.lexicons], lang))

    def respell(self, spoken: str, lang: Lang) -> list[tuple[Span, str]]:
        """Return the places in a spoken form that entries replace, and the replacements."""
        return [(hit.span, hit.entry.reading) for hit in self.spoken_hits(spoken, lang)]

    def hits_in(self, segment: Segment, languages: Sequence[Lang]) -> list[Hit]:
        """Return the entries that match in a segment, except under a hint of its writer and except unspeakable
        readings.

        Args:
            segment: Segment with the hints of its writer.
            languages: Languages that can be spoken.
        """
        hits = self.hits(segment.text, lang=segment.style.lang)
        return [hit for hit in hits if _is_free(hit.span, segment.hints) and _is_sayable(hit.entry, languages)]

    def apply(self, segment: Segment, languages: Sequence[Lang]) -> Segment:
        """Return the segment with a hint for each match, and with the entries that may match in its spoken form.

        Args:
            segment: Segment with the hints of its writer.
            languages: Languages that can be spoken.
        """
        own = [hit.entry.hint(hit.span) for hit in self.hits_in(segment, languages)]
        respelling = self if any(each.after.first for each in self.lexicons) else None
        if not own and respelling is None:
            return segment
        hints = sorted([*segment.hints, *own], key=lambda hint: hint.span)
        return replace(segment, hints=tuple(hints), respelling=respelling)


def _is_sayable(entry: Entry, languages: Sequence[Lang]) -> bool:
    """Return whether one of the languages can say the reading; an English voice does not say GPT as 吉皮提."""
    if entry.alphabet is not None:
        return any(entry.alphabet in language_of(lang).alphabets for lang in languages)
    return any(found.lang is not None for found in split_languages(entry.reading, languages))


def _is_free(span: Span, hints: Sequence[Hint]) -> bool:
    return all(span.end <= hint.span.start or hint.span.end <= span.start for hint in hints)


def _search(text: str, tables: Sequence[tuple[str, EntryTable]], lang: Lang | None) -> Iterator[Hit]:
    """Yield matches from left to right: the longest at each place, and of equally long ones that of the last table."""
    wanted = [(name, table, table.first) for name, table in reversed(tables) if table.first is not None]
    if not wanted:
        return
    written = _Written(unwidened(text), folded(text), Languages(text, lang))
    ahead = [-1] * len(wanted)  # where each table's next text may begin
    at = 0
    while True:
        for index, (_, _, first) in enumerate(wanted):
            if ahead[index] < at:
                match = first.search(written.folded, at)
                ahead[index] = match.start() if match else len(text)
        at = min(ahead)
        if at == len(text):
            return
        best: Hit | None = None
        for name, table, _ in wanted:
            longer = 0 if best is None else best.span.end - best.span.start
            best = _longest(written, at, name, table, longer_than=longer) or best
        if best is not None:
            yield best
        at = best.span.end if best is not None else at + 1


def _longest(written: _Written, at: int, name: str, table: EntryTable, *, longer_than: int) -> Hit | None:
    for size in table.lengths.get(written.folded[at], ()):
        if size <= longer_than:
            return None
        if at + size > len(written.folded):
            continue
        for entry in table.entries.get(written.folded[at : at + size], ()):
            if written.holds(entry, at, at + size):
                return Hit(Span(at, at + size), entry, name)
    return None
