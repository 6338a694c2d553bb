"""An explanation as values, and as JSON: a contract that others check against."""

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
    """A stretch of a segment in one language."""

    source: Span
    lang: str
    """BCP 47 primary tag, also of languages that nothing here speaks (``ja``, ``ko``)."""
    text: str
    """As written, without markup."""
    spoken: str
    """In words; empty if the language is not spoken."""


@dataclass(frozen=True, slots=True)
class SkippedSpan:
    """A piece of the text that is not spoken."""

    source: Span
    rule: str
    """Stable name of what says so."""


@dataclass(frozen=True, slots=True)
class LexiconHit:
    """A place whose reading an entry of a lexicon gives."""

    source: Span
    text: str
    reading: str
    alphabet: str | None
    """Of the reading, if that is phonemes."""
    lexicon: str
    """Name of the lexicon; ``request`` for entries that came with the text."""


@dataclass(frozen=True, slots=True)
class Emission:
    """When a segment of an arriving text could first be spoken."""

    delta: int
    """Number of the delta that came last, from 0."""
    char: int
    """Characters that had come."""
    at_ms: float
    """Milliseconds since the first delta."""
    by: Literal["text", "stall", "end"]
    """What made it certain: the text, a pause of its writer, or its end."""


@dataclass(frozen=True, slots=True)
class ExplainedSegment:
    """A segment and all that is known of how it will be spoken."""

    source: Span
    """Place in the text given, code points. So are all other places."""
    text: str
    """As written, without markup."""
    lang: str
    """The language that most of it is in."""
    spoken: str
    """Its words, all languages."""
    spans: tuple[SpokenSpan, ...]
    """They tile the segment."""
    pinyin: tuple[tuple[int, str, str], ...]
    """Index of the character (of the first one of what was rewritten), character as spoken, syllable after sandhi with
    tone digit, 5 = neutral. A 儿 that has merged with the character before it is a syllable ``r`` of its own."""
    phonemes: tuple[str, ...]
    """In order: Mandarin initials, finals and the marks between syllables; English words and the marks between them."""
    skipped: tuple[SkippedSpan, ...]
    lexicon: tuple[LexiconHit, ...]
    refused: tuple[SkippedSpan, ...]
    """Places whose hint (of the markup, of a lexicon) could not be followed, and why."""
    emitted: Emission | None = None
    """Set for texts that are followed as they arrive."""


@dataclass(frozen=True, slots=True)
class Clean:
    """What the reader of markup made of a text."""

    text: str
    skipped: tuple[SkippedSpan, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What becomes of a text."""

    text: str
    """As given."""
    reader: Clean
    segments: tuple[ExplainedSegment, ...]

    def to_values(self) -> dict[str, Any]:
        """As plain values: dictionaries, lists, strings and numbers. ``emitted`` is there only where it is set."""
        values = asdict(self)
        for segment in values["segments"]:
            if segment["emitted"] is None:
                del segment["emitted"]
        return values

    def to_json(self) -> str:
        """One line of JSON."""
        return dumped(self.to_values())


def dumped(values: dict[str, Any]) -> str:
    """One line of JSON. Halves of surrogate pairs are written as escapes, so that the line can be encoded."""
    line = json.dumps(values, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)
