"""Splits a segment into parts of one language each, for the front ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from yuliu.text.hints import split_hinted
from yuliu.types import Boundary, Segment, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.language_spans import LangSpan
    from yuliu.types import Lang


def split_segment(segment: Segment, languages: Sequence[Lang]) -> list[Segment]:
    """Split a segment into parts of one language each.

    The parts tile the segment, text and source; all but the last end in Boundary.NONE. Parts in a language that is not
    among ``languages`` keep ``lang`` None: they are to be skipped by the rule ``language_not_spoken``.
    """
    if segment.style.lang in languages:
        return [replace(segment, lang=segment.style.lang)]
    spans = split_hinted(segment.text, segment.hints, languages)
    if not spans:
        return [replace(segment, lang=languages[0])]
    starts = [segment.source.start, *(segment.origin[found.span.start] for found in spans[1:]), segment.source.end]
    return [
        _part(segment, found, source=Span(starts[index], starts[index + 1]), is_last=index == len(spans) - 1)
        for index, found in enumerate(spans)
    ]


def _part(segment: Segment, found: LangSpan, *, source: Span, is_last: bool) -> Segment:
    start, end = found.span
    return Segment(
        text=segment.text[start:end],
        source=source,
        origin=segment.origin[start:end],
        boundary=segment.boundary if is_last else Boundary.NONE,
        lang=found.lang,
        hints=tuple(
            replace(hint, span=Span(hint.span.start - start, hint.span.end - start))
            for hint in segment.hints
            if start <= hint.span.start < end
        ),
        style=segment.style,
        respelling=segment.respelling,
        pause_s=segment.pause_s if is_last else None,
        marks=tuple(
            mark
            for mark in segment.marks
            if (start == 0 or mark.offset >= source.start) and (is_last or mark.offset < source.end)
        ),
    )
