"""Explanation of one segment: languages, words and pronunciation, with places in the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.engines.alignment import source_of
from yuliu.explanation.values import ExplainedSegment, LexiconHit, SkippedSpan, SpokenSpan
from yuliu.segmenter.languages import split_hinted, split_segment
from yuliu.text.frontend import Reading
from yuliu.text.language_spans import LangSpan
from yuliu.text.lexicon.words import main_language
from yuliu.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from yuliu.text.frontend import FrontEnd, Unit
    from yuliu.text.lexicon import Hit, Words
    from yuliu.types import Lang, Segment

    FrontEnds = Mapping[Lang, FrontEnd]

_RHOTIC = ("儿", "兒")
_NOT_READ = Reading((), ())


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of a segment in one language, and its reading."""

    segment: Segment
    name: str
    """Language, even where no voice speaks it."""
    reading: Reading

    def place(self, span: Span) -> Span:
        """Return the place in the source for one in the part's text."""
        return source_of(self.segment, span)

    def skipped(self) -> Iterator[SkippedSpan]:
        """Yield the places that are not spoken."""
        if self.segment.lang is None:
            yield SkippedSpan(self.segment.source, "language_not_spoken")
        for skip in self.reading.skipped:
            yield SkippedSpan(self.place(skip.source), skip.rule)

    def refused(self) -> Iterator[SkippedSpan]:
        """Yield the hints that could not be followed."""
        for refused in self.reading.refused:
            yield SkippedSpan(self.place(refused.source), refused.rule)

    def pinyin(self) -> Iterator[tuple[int, str, str]]:
        """Yield the Mandarin syllables."""
        for unit in self.reading.units:
            if unit.pinyin is not None:
                yield from _syllables(unit, unit.pinyin, self.place(unit.source))

    def phonemes(self) -> Iterator[str]:
        """Yield the phonemes and marks."""
        for unit in self.reading.units:
            if unit.pinyin is None:
                yield "".join(unit.phonemes)
            else:
                yield from unit.phonemes
            if after := unit.after.strip():
                yield after

    def spoken(self) -> SpokenSpan:
        """Return the spoken form."""
        return SpokenSpan(self.segment.source, self.name, self.segment.text, self.reading.spoken)


def explain_segment(
    segment: Segment, front_ends: FrontEnds, *, languages: Sequence[Lang], words: Words
) -> ExplainedSegment:
    """Explain how a segment will be spoken.

    Args:
        segment: Segment with the hints of its writer.
        front_ends: Front ends by language.
        languages: Languages that can be spoken, preferred first.
        words: Lexicons for its words.
    """
    hits = words.hits_in(segment, languages)
    segment = words.apply(segment, languages)
    spans = _lang_spans(segment, languages)
    parts = [
        _Part(part, found.name, _reading(part, front_ends))
        for part, found in zip(split_segment(segment, languages), spans, strict=True)
    ]
    return ExplainedSegment(
        source=segment.source,
        text=segment.text,
        lang=main_language(segment.text, spans),
        spoken="".join(part.reading.spoken for part in parts),
        spans=tuple(part.spoken() for part in parts),
        pinyin=tuple(each for part in parts for each in part.pinyin()),
        phonemes=tuple(each for part in parts for each in part.phonemes()),
        skipped=tuple(each for part in parts for each in part.skipped()),
        lexicon=(
            *(_told(hit, source_of(segment, hit.span)) for hit in hits),
            *(each for part in parts for each in _spoken_hits(part, front_ends, words)),
        ),
        refused=tuple(each for part in parts for each in part.refused()),
    )


def _reading(part: Segment, front_ends: FrontEnds) -> Reading:
    if part.lang is None:
        return _NOT_READ
    return front_ends[part.lang].read(part.text, part.hints, part.respelling)


def _lang_spans(segment: Segment, languages: Sequence[Lang]) -> list[LangSpan]:
    """Return the languages of a segment, as :func:`yuliu.segmenter.split_segment` splits it."""
    whole = Span(0, len(segment.text))
    if segment.style.lang in languages:
        return [LangSpan(whole, segment.style.lang, str(segment.style.lang))]
    return split_hinted(segment.text, segment.hints, languages) or [LangSpan(whole, languages[0], languages[0])]


def _syllables(unit: Unit, pinyin: str, source: Span) -> Iterator[tuple[int, str, str]]:
    if len(unit.text) > 1 and unit.text.endswith(_RHOTIC) and pinyin[-2:-1] == "r":
        base = pinyin if pinyin[:-1] == "er" else pinyin[:-2] + pinyin[-1]
        is_written = source.end - source.start == len(unit.text)
        yield source.start, unit.text[:-1], base
        yield source.start + (1 if is_written else 0), unit.text[-1], "r"
    else:
        yield source.start, unit.text, pinyin


def _told(hit: Hit, source: Span) -> LexiconHit:
    entry = hit.entry
    return LexiconHit(source, entry.text, entry.reading, entry.alphabet, hit.lexicon)


def _spoken_hits(part: _Part, front_ends: FrontEnds, words: Words) -> Iterator[LexiconHit]:
    """Yield the entries that match in the spoken form, with the places that it was made from."""
    segment = part.segment
    if segment.respelling is None or segment.lang is None:
        return
    before = front_ends[segment.lang].read(segment.text, segment.hints)
    for hit in words.spoken_hits(before.spoken, segment.lang):
        yield _told(hit, part.place(_written(before, hit.span)))


def _written(reading: Reading, spoken: Span) -> Span:
    """Return the place in the text that a place in the spoken form was made from."""
    offset = 0
    touched: list[Span] = []
    for piece in reading.pieces:
        start, end = max(spoken.start - offset, 0), min(spoken.end - offset, len(piece.spoken))
        if start < end:
            is_plain = len(piece.spoken) == piece.source.end - piece.source.start
            at = piece.source.start
            touched.append(Span(at + start, at + end) if is_plain else piece.source)
        offset += len(piece.spoken)
    return Span(touched[0].start, touched[-1].end)
