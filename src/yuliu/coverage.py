"""The account of a stream's text: each source character ends up spoken, skipped by a named rule, or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.types import Coverage, Skipped, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Ledger:
    """Collects what became of the parts of a text, in any order; parts do not overlap."""

    def __init__(self) -> None:
        self._num_chars = 0
        self._spoken: list[Span] = []
        self._skipped: list[Skipped] = []

    def received(self, num_chars: int) -> None:
        """More text came."""
        self._num_chars += num_chars

    def spoken(self, source: Span, skipped: Sequence[Skipped]) -> None:
        """A part has been spoken, but for some places in it."""
        places = sorted((skip for skip in skipped if skip.source.start < skip.source.end), key=_start)
        self._skipped += places
        self._spoken += _gaps(source, [skip.source for skip in places])

    def silent(self, source: Span, skipped: Sequence[Skipped]) -> None:
        """A part turned out to have no sound: what no rule names is punctuation or white space."""
        self._skipped += skipped
        places = sorted(skip.source for skip in skipped)
        self._skipped += [Skipped(gap, "punctuation") for gap in _gaps(source, places)]

    def coverage(self) -> Coverage:
        """The account so far; what was received and is neither spoken nor skipped counts as failed."""
        done = sorted([*self._spoken, *(skip.source for skip in self._skipped)])
        return Coverage(
            spoken=tuple(_merged(sorted(self._spoken))),
            skipped=tuple(sorted(self._skipped, key=_start)),
            failed=tuple(_gaps(Span(0, self._num_chars), done)),
        )


def _start(skip: Skipped) -> int:
    return skip.source.start


def _gaps(whole: Span, taken: Iterable[Span]) -> list[Span]:
    """What of ``whole`` the sorted spans leave free."""
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
