"""Split of a segment into parts of one language each, for the front ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from yuliu.text.hints import in_place
from yuliu.text.language_spans import split_languages
from yuliu.text.languages import language_of
from yuliu.types import Boundary, Segment, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.language_spans import LangSpan
    from yuliu.text.languages import Language
    from yuliu.types import Hint, Lang


def split_segment(segment: Segment, languages: Sequence[Lang]) -> list[Segment]:
    """Split a segment into parts of one language each.

    The parts tile the segment, text and source; all but the last end in Boundary.NONE. Parts in a language that is not
    among ``languages`` keep ``lang`` None: the rule ``language_not_spoken`` skips them.
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


def split_hinted(text: str, hints: Sequence[Hint], languages: Sequence[Lang]) -> list[LangSpan]:
    """Split ``text`` into languages as :func:`yuliu.text.language_spans.split_languages` does, with hinted places by
    their reading.

    ``GPT`` with the reading 吉皮提 is Chinese. No span ends inside a hinted place. Hints whose phonemes belong to none
    of ``languages`` are ignored.
    """
    usable = [hint for hint in in_place(hints, len(text))[0] if _is_usable(hint, languages)]
    if not usable:
        return split_languages(text, languages)
    said, ends = _as_said(text, usable, languages)
    spans: list[LangSpan] = []
    start = 0
    for found in split_languages(said, languages):
        end = ends[found.span.end]
        if end > start:
            spans.append(found._replace(span=Span(start, end)))
            start = end
    return spans


def _is_usable(hint: Hint, languages: Sequence[Lang]) -> bool:
    return hint.kind != "phonemes" or _language_of(hint, languages) is not None


def _language_of(hint: Hint, languages: Sequence[Lang]) -> Language | None:
    """Return the language whose phonemes a hint gives: the first one that uses its alphabet."""
    return next((each for each in map(language_of, languages) if hint.detail in each.alphabets), None)


def _as_said(text: str, hints: Sequence[Hint], languages: Sequence[Lang]) -> tuple[str, list[int]]:
    """Return the text with the readings of hinted places, and for each offset in it the one in ``text``."""
    parts: list[str] = []
    ends: list[int] = [0]
    done = 0
    for hint in hints:
        said = _said(text, hint, languages)
        parts += [text[done : hint.span.start], said]
        ends += [*range(done + 1, hint.span.start + 1), *[hint.span.end] * len(said)]
        done = hint.span.end
    return "".join([*parts, text[done:]]), ends + list(range(done + 1, len(text) + 1))


def _said(text: str, hint: Hint, languages: Sequence[Lang]) -> str:
    if hint.kind == "spoken" and hint.value:
        return hint.value
    if hint.kind == "phonemes" and (language := _language_of(hint, languages)) is not None:
        return language.stand_in or language.sample.split()[0]
    return text[hint.span.start : hint.span.end]
