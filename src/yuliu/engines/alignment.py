"""Positions in the source of the stream for positions in a segment's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.types import Skipped, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.frontend import Reading, Unit
    from yuliu.types import Segment

UNKNOWN_PHONEME = "phoneme_not_in_voice"
"""Rule for units whose phonemes the voice does not have."""


def source_of(segment: Segment, span: Span) -> Span:
    """A span of the segment's text as a span of the source; empty at its place if the span is empty."""
    if span.start >= span.end:
        at = segment.origin[span.start] if span.start < len(segment.origin) else segment.source.end
        return Span(at, at)
    return Span(segment.origin[span.start], segment.origin[span.end - 1] + 1)


def skipped_of(segment: Segment, reading: Reading, said: Sequence[Unit]) -> tuple[Skipped, ...]:
    """Return the parts that the front end leaves out or the model cannot say, with positions in the source.

    Args:
        segment: The segment.
        reading: Its reading.
        said: The units of the reading that the model will say.
    """
    parts = [(skip.source, skip.rule) for skip in reading.skipped]
    if len(said) < len(reading.units):
        spoken = {unit.source for unit in said}
        parts += [(unit.source, UNKNOWN_PHONEME) for unit in reading.units if unit.source not in spoken]
    return tuple(Skipped(source_of(segment, span), rule) for span, rule in sorted(parts))
