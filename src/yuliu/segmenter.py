"""Cuts text that is still arriving into segments: the pieces that are spoken as one unit.

The first segment of a stream is as short as prosody allows, because the first sound waits for it; each later one may
be longer, because more sound is in hand by then, up to whole sentences, which sound best. Cuts are made at sentence and
clause ends (:mod:`yuliu.text.sentences` finds them); only a clause longer than the limit is cut between two words.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.text.hints import split_hinted
from yuliu.text.phrasing import cut_between_words
from yuliu.text.reader import Pause, Restyle, Text, UnitEnd
from yuliu.text.scripts import is_latin, is_wide
from yuliu.text.sentences import Break, BreakFinder
from yuliu.types import Boundary, Mark, Segment, Skipped, Span, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.reader import Event
    from yuliu.text.spans import LangSpan
    from yuliu.types import Hint, Lang

_HELD_BACK = 3
"""Characters after a cut between two words: the word boundaries before them do not change any more when text follows
(rjieba, 36 sentences at every length: with 3 held back none of 252 cuts lay inside a word, with none 135 of 366)."""
_SPOKEN_SYMBOLS = frozenset("%$€£¥￥+=°℃&@#‰")
_WEAK = 2.5
"""A weak clause end counts as an end from this many times the weight on that a strong one does."""


@dataclass(frozen=True, slots=True)
class SegmenterOptions:
    """How long segments are, in weight: a Chinese character or a digit weighs 1, a Latin letter 0.25.

    A weight of 1 is about 0.2 s of speech in either language.
    """

    first_weight: float = 4.0
    """The first segment (of the stream, and after a flush) ends at the first clause end from this weight on."""
    growth: float = 2.0
    """Each later segment may end at a clause end from a weight this many times larger on."""
    clause_weight: float = 32.0
    """Until this weight is reached: sentences shorter than it are not cut at clause ends any more."""
    sentence_weight: float = 3.5
    """Sentences lighter than this go together with the next one: engines speak single words badly."""
    first_limit: float = 20.0
    """The first segment's greatest weight; it grows as ``first_weight`` does."""
    limit: float = 60.0
    """The greatest weight of any segment; what is longer is cut at the best place there is."""
    max_characters: int = 400
    """The greatest length of any segment, whatever it weighs; what has no place to cut is cut anywhere."""

    def __post_init__(self) -> None:
        """Refuse what could not work.

        Raises:
            InvalidRequest: A weight is not above zero, ``growth`` is less than 1, or ``max_characters`` less than 8.
        """
        for name in ("first_weight", "clause_weight", "sentence_weight", "first_limit", "limit"):
            if not getattr(self, name) > 0:
                raise InvalidRequest(f"{name} must be above 0", param=name)
        if not self.growth >= 1:
            raise InvalidRequest("growth must be at least 1", param="growth")
        if not self.max_characters > 2 * _HELD_BACK + 1:
            raise InvalidRequest("max_characters must be at least 8", param="max_characters")


class Segmenter:
    """Cuts one stream's text. Pure: no clock, no I/O; what it has returned never changes.

    The same text with the same flushes gives the same segments however it is cut into deltas. Segments tile the text:
    joined, they are what was pushed. White space between two segments opens the later one. A segment may hold nothing
    to say (white space, symbols), if nothing else was pending at a flush, and no text at all, if it carries a pause or
    a mark.
    """

    def __init__(self, options: SegmenterOptions | None = None) -> None:
        self._options = options or SegmenterOptions()
        self._finder = BreakFinder()
        self._chars: list[str] = []
        self._origins: list[int] = []
        self._weights: list[float] = []  # of the pending text up to and with each character
        self._num_cut = 0  # characters in emitted segments
        self._source_start = 0
        self._source_end = 0
        self._breaks: list[Break] = []  # in the pending text, not used so far
        self._hints: list[Hint] = []  # spans count from the first character pushed
        self._marks: list[Mark] = []
        self._style = Style()
        self._restart()

    def push(self, delta: str) -> list[Segment]:
        """Take the next piece of text, cut anywhere; return the segments that are now certain."""
        start = self._source_end
        return self.push_clean(delta, range(start, start + len(delta)), source_end=start + len(delta))

    def _last_boundary(self) -> Boundary:
        """That of the last break, if only white space follows it."""
        if self._breaks and "".join(self._chars[self._breaks[-1].end - self._num_cut :]).strip() == "":
            return self._breaks[-1].boundary
        return Boundary.NONE

    def push_clean(
        self, text: str, origins: Sequence[int], *, source_end: int, hint: Hint | None = None
    ) -> list[Segment]:
        """Take text that is not the source itself: Markdown has been taken out, say.

        Args:
            text: The next clean characters.
            origins: Source offset of each; not decreasing.
            source_end: Number of source characters received so far, those left out counted.
            hint: How all of ``text`` is to be read; it is not cut then, if it is shorter than ``max_characters``.
        """
        segments: list[Segment] = []
        self._source_end = source_end
        if hint is not None:
            start = self._num_cut + len(self._chars)
            self._hints.append(replace(hint, span=Span(start, start + len(text))))
        for char, origin in zip(text, origins, strict=True):
            found = self._finder.push(char)
            self._append(char, origin)
            if found is not None and found.end > self._num_cut and not self._is_hinted(found.end):
                self._breaks.append(found)
                if self._wanted(found):
                    segments.append(self._cut(found.end - self._num_cut, found.boundary))
            if self._weights and (
                self._weights[-1] >= self._next_try or len(self._chars) >= self._options.max_characters
            ):
                segments.extend(self._shorten())
        return segments

    def take(self, event: Event) -> list[Segment]:
        """Take what the reader made of the next piece of text; return the segments that are now certain."""
        match event:
            case Text():
                return self.push_clean(event.text, event.origins, source_end=event.source.end, hint=event.hint)
            case UnitEnd():
                return self.end_unit(event.boundary)
            case Pause():
                return self.pause(event.pause_s)
            case Restyle():
                return self.restyle(event.style)
            case Mark():
                self.mark(event)
            case Skipped():
                self.skip(event.source.end)
        return []

    def skip(self, source_end: int) -> None:
        """Take notice of source characters that are not spoken, up to ``source_end``."""
        self._source_end = source_end
        if not self._chars:
            self._source_start = source_end

    def mark(self, mark: Mark) -> None:
        """Name the place before the next character."""
        self._marks.append(mark)

    def restyle(self, style: Style) -> list[Segment]:
        """Let what follows be spoken in ``style``; return what was pending, as one segment or none."""
        segments = self._cut_all(None) if self._weights and self._weights[-1] else []
        self._style = style
        return segments

    def end_unit(self, boundary: Boundary) -> list[Segment]:
        """Cut here, as at a boundary of this kind. Nothing happens where nothing to say is pending."""
        return self._cut_all(boundary) if self._weights and self._weights[-1] else []

    def pause(self, pause_s: float) -> list[Segment]:
        """Cut here, with so much silence after it; the segment may be empty."""
        segment = self._cut_all(None)[0]
        return [replace(segment, pause_s=pause_s, marks=segment.marks + self._take_marks())]

    def flush(self) -> list[Segment]:
        """Return all that is pending, as one segment or none: the text has ended or its writer has stalled.

        More may be pushed afterwards; the next segment is then short again, as at the start of the stream.
        """
        segments = self._cut_all(None) if self._chars else []
        if self._marks:
            segments += [replace(self._cut(0, Boundary.NONE), marks=self._take_marks())]
        self._restart()
        return segments

    def _cut_all(self, boundary: Boundary | None) -> list[Segment]:
        """All that is pending; without a boundary its own marks tell it."""
        found = self._finder.flush()
        if found in (None, Boundary.NONE):
            found = self._last_boundary()
        return [self._cut(len(self._chars), boundary or found)]

    def _restart(self) -> None:
        self._clause_weight = self._options.first_weight
        self._limit = min(self._options.first_limit, self._options.limit)
        self._next_try = self._limit

    def _append(self, char: str, origin: int) -> None:
        self._chars.append(char)
        self._origins.append(origin)
        self._weights.append((self._weights[-1] if self._weights else 0.0) + weigh(char))

    def _weight_at(self, end: int) -> float:
        """Weight of the first ``end`` pending characters."""
        return self._weights[end - 1] if end else 0.0

    def _wanted(self, found: Break) -> bool:
        weight = self._weight_at(found.end - self._num_cut)
        if found.boundary is Boundary.CLAUSE:
            return weight >= self._clause_weight * (_WEAK if found.weak else 1.0)
        return weight > 0 and (found.line or weight >= self._options.sentence_weight)

    def _shorten(self) -> list[Segment]:
        """Cut what has grown too long, if there is a place."""
        best = self._best_break() or self._word_end()
        if best is not None and not self._is_hinted(self._num_cut + best[0]):
            return [self._cut(*best)]
        if len(self._chars) >= self._options.max_characters or self._weights[-1] >= 2 * self._limit:
            return self._cut_anywhere()
        # Not at every character: each try reads all that is pending.
        self._next_try = self._weights[-1] + self._limit / 4
        return []

    def _cut_anywhere(self) -> list[Segment]:
        """Cut before the last character, or before the hinted text that it belongs to."""
        end = len(self._chars) - 1
        if self._is_hinted(self._num_cut + end):
            end = self._hints[-1].span.start - self._num_cut
        return [self._cut(end, Boundary.NONE)] if end > 0 else []

    def _is_hinted(self, end: int) -> bool:
        """Whether a cut there would be inside the text of a hint. Hinted texts of full length are cut all the same."""
        return any(
            hint.span.start < end < hint.span.end
            for hint in reversed(self._hints)
            if hint.span.end - hint.span.start < self._options.max_characters
        )

    def _best_break(self) -> tuple[int, Boundary] | None:
        """The last clause or sentence end that is not too near the start, weak ones only if there is no other."""
        least = self._limit / 4
        usable = [found for found in self._breaks if self._weight_at(found.end - self._num_cut) >= least]
        strong = [found for found in usable if not found.weak]
        for found in (strong or usable)[-1:]:
            return found.end - self._num_cut, found.boundary
        return None

    def _word_end(self) -> tuple[int, Boundary] | None:
        """The best place between two words that more text cannot change; in the later part if there is one."""
        latest = len(self._chars) - _HELD_BACK
        for share in (0.6, 0.25):
            earliest = bisect_left(self._weights, share * self._limit) + 1
            place = cut_between_words("".join(self._chars), earliest=earliest, latest=latest)
            if place is not None:
                return place, Boundary.NONE
        return None

    def _cut(self, num_chars: int, boundary: Boundary) -> Segment:
        end = self._origins[num_chars] if num_chars < len(self._origins) else self._source_end
        segment = Segment(
            text="".join(self._chars[:num_chars]),
            source=Span(self._source_start, end),
            origin=tuple(self._origins[:num_chars]),
            boundary=boundary,
            hints=self._cut_hints(num_chars),
            style=self._style,
            marks=self._cut_marks(num_chars),
        )
        weight = self._weight_at(num_chars)
        del self._chars[:num_chars], self._origins[:num_chars], self._weights[:num_chars]
        self._weights = [left - weight for left in self._weights]
        self._num_cut += num_chars
        self._source_start = end
        self._breaks = [found for found in self._breaks if found.end > self._num_cut]
        self._grow(weight)
        return segment

    def _cut_hints(self, num_chars: int) -> tuple[Hint, ...]:
        """The hints of the first characters, their spans counting from the first of them."""
        if not self._hints:
            return ()
        start, end = self._num_cut, self._num_cut + num_chars
        taken = [hint for hint in self._hints if hint.span.start < end]
        self._hints = self._hints[len(taken) :]
        spans = [Span(hint.span.start - start, min(hint.span.end, end) - start) for hint in taken]
        return tuple(replace(hint, span=span) for hint, span in zip(taken, spans, strict=True))

    def _cut_marks(self, num_chars: int) -> tuple[Mark, ...]:
        """The marks before the last of the first characters; later ones belong to what follows."""
        last = self._origins[num_chars - 1] if num_chars else -1
        taken = [mark for mark in self._marks if mark.offset <= last]
        self._marks = self._marks[len(taken) :]
        return tuple(taken)

    def _take_marks(self) -> tuple[Mark, ...]:
        marks, self._marks = tuple(self._marks), []
        return marks

    def _grow(self, weight: float) -> None:
        if weight:
            growth, options = self._options.growth, self._options
            self._clause_weight = min(self._clause_weight * growth, options.clause_weight)
            self._limit = min(self._limit * growth, options.limit)
        self._next_try = self._limit


def weigh(char: str) -> float:
    """How much of a segment's weight ``char`` is: about its share of 0.2 s of speech."""
    if is_latin(char):
        return 0.25
    if is_wide(char) or char.isdecimal() or char in _SPOKEN_SYMBOLS:
        return 1.0
    return 0.25 if char.isalpha() else 0.0


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
