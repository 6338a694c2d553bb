"""Explanation as values and as JSON, which is a contract with other programs."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from yuliu.types import Span

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SpokenSpan:
    """Part of a segment in one language."""

    source: Span
    lang: str
    """BCP 47 primary tag, also of languages without a front end (``ja``, ``ko``)."""
    text: str
    """Text as written, without markup."""
    spoken: str
    """Spoken form; empty if the language is not spoken."""


@dataclass(frozen=True, slots=True)
class SkippedSpan:
    """Piece of the text that is not spoken."""

    source: Span
    rule: str
    """Stable name of the rule that skips it."""


@dataclass(frozen=True, slots=True)
class LexiconHit:
    """Place whose reading comes from a lexicon entry."""

    source: Span
    text: str
    reading: str
    alphabet: str | None
    """Alphabet of the reading, if that is phonemes."""
    lexicon: str
    """Name of the lexicon; ``request`` for entries that came with the text."""


@dataclass(frozen=True, slots=True)
class Emission:
    """Moment at which a segment of an arriving text could first be spoken."""

    delta: int
    """Number of the latest delta, from 0."""
    char: int
    """Number of characters received."""
    at_ms: float
    """Milliseconds since the first delta."""
    by: Literal["text", "stall", "end"]
    """Reason that it became certain: the text, a pause of its writer, or its end."""


@dataclass(frozen=True, slots=True)
class ExplainedSegment:
    """Segment and its reading."""

    source: Span
    """Place in the given text, code points, like all other places."""
    text: str
    """Text as written, without markup."""
    lang: str
    """Language of its largest part."""
    spoken: str
    """Spoken form in all languages."""
    spans: tuple[SpokenSpan, ...]
    """Parts that tile the segment."""
    pinyin: tuple[tuple[int, str, str], ...]
    """Index of the character (the first one of a rewriting), spoken character, syllable after sandhi with tone digit,
    where 5 is neutral. A 儿 that has merged with the character before it is a syllable ``r`` of its own."""
    phonemes: tuple[str, ...]
    """Phonemes in order: Mandarin initials, finals and the marks between syllables; English words and the marks between
    them."""
    skipped: tuple[SkippedSpan, ...]
    lexicon: tuple[LexiconHit, ...]
    refused: tuple[SkippedSpan, ...]
    """Places whose hint (of the markup, of a lexicon) could not be followed, and the rule."""
    emitted: Emission | None = None
    """Set for texts that are followed as they arrive."""


@dataclass(frozen=True, slots=True)
class Clean:
    """Text without markup, as the reader returns it."""

    text: str
    skipped: tuple[SkippedSpan, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Reading of a text."""

    text: str
    """Text as given."""
    reader: Clean
    segments: tuple[ExplainedSegment, ...]

    def to_values(self) -> dict[str, Any]:
        """Return dictionaries, lists, strings and numbers. ``emitted`` is present only where it is set."""
        values = asdict(self)
        for segment in values["segments"]:
            if segment["emitted"] is None:
                del segment["emitted"]
        return values

    def to_json(self) -> str:
        """Return one line of JSON."""
        return dumped(self.to_values())


def dumped(values: dict[str, Any]) -> str:
    """Return one line of JSON. Halves of surrogate pairs are written as escapes, so that the line can be encoded."""
    line = json.dumps(values, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)
