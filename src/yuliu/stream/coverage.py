"""Coverage of a stream's text: each source character ends up spoken, skipped by a named rule, or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.types import Coverage, Skipped, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Ledger:
    """Ledger of the parts of a text, recorded in any order; parts do not overlap.

    Text that the reader left out lies inside parts or between them, and is subtracted from them.
    """

    def __init__(self) -> None:
        self.num_chars: int = 0
        """Number of characters received so far."""
        self._spoken: list[Span] = []
        self._skipped: list[Skipped] = []
        self._left_out: list[Skipped] = []

    def received(self, num_chars: int) -> None:
        """Record more text."""
        self.num_chars += num_chars

    def left_out(self, skipped: Skipped) -> None:
        """Record text that the reader left out, after all text that it left out before."""
        last = self._left_out[-1] if self._left_out else None
        if last and last.rule == skipped.rule and last.source.end == skipped.source.start:
            self._left_out[-1] = Skipped(Span(last.source.start, skipped.source.end), skipped.rule)
        else:
            self._left_out.append(skipped)

    def spoken(self, source: Span, skipped: Sequence[Skipped]) -> None:
        """Record a spoken part, apart from skipped places in it."""
        places = _within(source, skipped)
        self._skipped += places
        for span in _gaps(source, [skip.source for skip in places]):
            if self._spoken and self._spoken[-1].end == span.start:  # the usual case: the ledger of a day stays short
                span = Span(self._spoken.pop().start, span.end)
            self._spoken.append(span)

    def silent(self, source: Span, skipped: Sequence[Skipped]) -> None:
        """Record a part without sound; text that no rule names is punctuation or white space."""
        places = _within(source, skipped)
        self._skipped += places
        self._skipped += [Skipped(gap, "punctuation") for gap in _gaps(source, [skip.source for skip in places])]

    def coverage(self) -> Coverage:
        """Return the coverage so far; text that is neither spoken nor skipped counts as failed."""
        holes = [skip.source for skip in self._left_out]
        spoken = [span for span, _ in _without(sorted((span, "") for span in self._spoken), holes)]
        others = _without(sorted((skip.source, skip.rule) for skip in self._skipped), holes)
        skipped = sorted([*self._left_out, *(Skipped(span, rule) for span, rule in others)], key=_start)
        done = sorted([*spoken, *(skip.source for skip in skipped)])
        return Coverage(
            spoken=tuple(_merged(spoken)),
            skipped=tuple(skipped),
            failed=tuple(_gaps(Span(0, self.num_chars), done)),
        )


def _start(skip: Skipped) -> int:
    return skip.source.start


def _within(source: Span, skipped: Sequence[Skipped]) -> list[Skipped]:
    """Return the skips inside ``source``, sorted, without overlap; two characters may have one source."""
    places, at = [], source.start
    for skip in sorted(skipped, key=_start):
        span = Span(max(skip.source.start, at), min(skip.source.end, source.end))
        if span.start < span.end:
            places.append(Skipped(span, skip.rule))
            at = span.end
    return places


def _without(parts: Iterable[tuple[Span, str]], holes: Sequence[Span]) -> list[tuple[Span, str]]:
    """Return the parts without the holes; both are sorted."""
    left: list[tuple[Span, str]] = []
    first = 0
    for span, name in parts:
        while first < len(holes) and holes[first].end <= span.start:
            first += 1
        last = first
        while last < len(holes) and holes[last].start < span.end:
            last += 1
        left += [(gap, name) for gap in _gaps(span, holes[first:last])]
    return left


def _gaps(whole: Span, taken: Iterable[Span]) -> list[Span]:
    """Return the gaps in ``whole`` between the sorted spans."""
    gaps, at = [], whole.start
    for span in taken:
        if span.start > at:
            gaps.append(Span(at, span.start))
        at = max(at, span.end)
    if at < whole.end:
        gaps.append(Span(at, whole.end))
    return gaps


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].end == span.start:
            merged[-1] = Span(merged[-1].start, span.end)
        else:
            merged.append(span)
    return merged
