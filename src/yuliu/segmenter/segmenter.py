"""Segmentation of arriving text into the pieces that are spoken as one unit.

The first segment of a stream is as short as prosody allows, because the first sound waits for it; each later one may be
longer, because more audio is ready by then, up to whole sentences, which sound best. Cuts are made at sentence and
clause ends (found by :mod:`yuliu.text.sentences`); only a clause longer than the limit is cut between two words.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from yuliu.segmenter.options import MIN_WEIGHT, NUM_HELD_BACK, SegmenterOptions, weigh
from yuliu.text.markup import CleanText, Pause, Restyle, UnitEnd
from yuliu.text.phrasing import cut_between_words, places_between_words
from yuliu.text.sentences import Break, BreakFinder
from yuliu.types import Boundary, Mark, Segment, Span, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.markup import MarkupEvent
    from yuliu.types import Hint

_AT_CLAUSE = 3
"""Quality of a clause end, above that of any place between two words."""
_WEAK = 2.5
"""Factor on the minimum weight at which a clause end counts, for weak clause ends."""


class Segmenter:
    """Segmenter of one stream's text. Pure: no clock, no I/O; returned segments never change.

    The same text with the same flushes gives the same segments however it is cut into deltas. Segments tile the text:
    joined, they are the input. White space between two segments opens the later one. A segment may have nothing to
    speak (white space, symbols) if nothing else was pending at a flush, and no text at all if it carries a pause or a
    mark.
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
        self._is_configured = False  # by new options that the pending breaks have not been checked against
        self._restart()

    def configure(self, options: SegmenterOptions) -> None:
        """Apply these options from now on, also to pending text from the next character or flush on."""
        if options == self._options:
            return
        self._options = options
        self._is_configured = True
        num_grown = self._num_grown
        self._restart()
        for _ in range(num_grown):
            self._grow()

    def push(self, delta: str) -> list[Segment]:
        """Take the next piece of text and return the segments that are now certain."""
        start = self._source_end
        return self.push_clean(delta, range(start, start + len(delta)), source_end=start + len(delta))

    def _last_boundary(self) -> Boundary:
        """Return the boundary of the last break, if only white space follows it."""
        if self._breaks and "".join(self._chars[self._breaks[-1].end - self._num_cut :]).strip() == "":
            return self._breaks[-1].boundary
        return Boundary.NONE

    def push_clean(
        self, text: str, origins: Sequence[int], *, source_end: int, hint: Hint | None = None
    ) -> list[Segment]:
        """Take text that differs from the source, such as text without its Markdown.

        Args:
            text: Next clean characters.
            origins: Source offset of each; not decreasing.
            source_end: Number of source characters received so far, including skipped ones.
            hint: Reading of the whole ``text``, which is then not cut if it is shorter than ``max_characters``.
        """
        segments: list[Segment] = []
        self._source_end = source_end
        if hint is not None:
            start = self._num_cut + len(self._chars)
            self._hints.append(replace(hint, span=Span(start, start + len(text))))
        for char, origin in zip(text, origins, strict=True):
            if self._is_configured:
                segments += self._review()
            found = self._finder.push(char)
            self._append(char, origin)
            if found is not None and found.end > self._num_cut and not self._is_hinted(found.end):
                self._breaks.append(found)
                if self._wanted(found):
                    segments += self._cut_apart(found.end - self._num_cut, found.boundary)
            if self._weights and (
                self._weights[-1] >= self._next_try or len(self._chars) >= self._options.max_characters
            ):
                segments.extend(self._shorten())
        return segments

    def take(self, event: MarkupEvent) -> list[Segment]:
        """Take an event of the markup reader and return the segments that are now certain."""
        match event:
            case CleanText():
                return self.push_clean(event.text, event.origins, source_end=event.source.end, hint=event.hint)
            case UnitEnd():
                return self.end_unit(event.boundary)
            case Pause():
                return self.pause(event.pause_s)
            case Restyle():
                return self.restyle(event.style)
            case Mark():
                self.mark(event)
            case _:
                self.skip(event.source.end)
        return []

    def skip(self, source_end: int) -> None:
        """Record that source characters up to ``source_end`` are not spoken."""
        self._source_end = source_end
        if not self._chars:
            self._source_start = source_end

    def mark(self, mark: Mark) -> None:
        """Set a mark before the next character."""
        self._marks.append(mark)

    def restyle(self, style: Style) -> list[Segment]:
        """Speak the following text in ``style``; return the pending segments."""
        segments = self._cut_all(None) if self._weights and self._weights[-1] else []
        self._style = style
        return segments

    def end_unit(self, boundary: Boundary) -> list[Segment]:
        """Cut here, as at a boundary of this kind. Does nothing where the pending text has nothing to speak."""
        return self._cut_all(boundary) if self._weights and self._weights[-1] else []

    def pause(self, pause_s: float) -> list[Segment]:
        """Cut here, with this silence after it; the segment may be empty."""
        *segments, last = self._cut_all(None)
        return [*segments, replace(last, pause_s=pause_s, marks=last.marks + self._take_marks())]

    def flush(self) -> list[Segment]:
        """Return the pending text, because the text has ended or its writer has stalled.

        It is at most one segment, unless the options ask for shorter ones (``merge_limit``, ``fixed_weight``).

        More may be pushed afterwards; the next segment is then short again, as at the start of the stream.
        """
        segments = self._cut_all(None) if self._chars else []
        if self._marks:
            segments += [replace(self._cut(0, Boundary.NONE), marks=self._take_marks())]
        self._restart()
        return segments

    def _cut_all(self, boundary: Boundary | None) -> list[Segment]:
        """Return the pending text; without a boundary its own marks decide."""
        found = self._finder.flush()
        if found in (None, Boundary.NONE):
            found = self._last_boundary()
        return self._cut_apart(len(self._chars), boundary or found)

    def _restart(self) -> None:
        self._num_grown = 0  # number of times that the two below have grown
        self._clause_weight = self._options.first_weight
        self._limit = min(self._options.first_limit, self._options.limit)
        self._next_try = self._first_try()

    def _first_try(self) -> float:
        """Return the weight at which a clause is too long; with fixed lengths, the rest must be speakable."""
        return self._limit + MIN_WEIGHT if self._options.fixed_weight else self._limit

    def _append(self, char: str, origin: int) -> None:
        self._chars.append(char)
        self._origins.append(origin)
        self._weights.append((self._weights[-1] if self._weights else 0.0) + weigh(char))

    def _weight_at(self, end: int) -> float:
        """Return the weight of the first ``end`` pending characters."""
        return self._weights[end - 1] if end else 0.0

    def _wanted(self, found: Break) -> bool:
        weight = self._weight_at(found.end - self._num_cut)
        if found.boundary is Boundary.CLAUSE:
            return weight >= self._clause_weight * (_WEAK if found.weak else 1.0)
        return weight > 0 and (found.line or weight >= self._options.sentence_weight)

    def _review(self) -> list[Segment]:
        """Apply new options to the pending breaks."""
        self._is_configured = False
        segments: list[Segment] = []
        while wanted := next(filter(self._wanted, self._breaks), None):
            segments += self._cut_apart(wanted.end - self._num_cut, wanted.boundary)
        return segments

    def _cut_apart(self, num_chars: int, boundary: Boundary) -> list[Segment]:
        """Cut off the first characters, in pieces if they are too many for one segment."""
        segments: list[Segment] = []
        while (early := self._early_end(num_chars)) is not None:
            segments.append(self._cut(*early))
            num_chars -= early[0]
        return [*segments, self._cut(num_chars, boundary)]

    def _early_end(self, num_chars: int) -> tuple[int, Boundary] | None:
        """Return an earlier cut in the first characters, if they are too many for one segment."""
        weight = self._weight_at(num_chars)
        if self._options.fixed_weight:
            return self._nearest_end(num_chars, is_last=True) if weight > self._limit else None
        if weight <= self._options.merge_limit:
            return None
        for found in reversed(self._breaks):
            end = found.end - self._num_cut
            is_sentence = end < num_chars and found.boundary is not Boundary.CLAUSE
            if is_sentence and MIN_WEIGHT <= self._weight_at(end) <= self._options.merge_limit:
                return end, found.boundary
        return None

    def _nearest_end(self, num_chars: int, *, is_last: bool) -> tuple[int, Boundary] | None:
        """Return the place in the first characters whose weight is nearest to the fixed range.

        It is never inside a hinted text, and leaves enough on both sides.

        Args:
            num_chars: Number of characters to search.
            is_last: True if they end at a place, too. Return None if that is nearer, or, if they do not, while a nearer
                one may come.
        """
        low, high = self._options.fixed_weight, self._limit
        seen = self._weight_at(num_chars)
        latest = seen - MIN_WEIGHT if is_last else min(seen, self._weights[-1] - MIN_WEIGHT)
        text = "".join(self._chars)
        places = [(end, quality, Boundary.NONE) for end, quality in places_between_words(text) if end <= num_chars]
        places += [(found.end - self._num_cut, _AT_CLAUSE, found.boundary) for found in self._breaks]
        best: tuple[float, int, int] | None = None
        boundary = Boundary.NONE
        for end, quality, kind in places:
            weight = self._weight_at(end)
            if not MIN_WEIGHT <= weight <= latest or self._is_hinted(self._num_cut + end):
                continue
            rank = (-max(low - weight, weight - high, 0.0), quality, end)
            if best is None or rank > best:
                best, boundary = rank, kind
        if best is None or best[0] < high - (seen if is_last else latest):
            return None
        return best[2], boundary

    def _shorten(self) -> list[Segment]:
        """Cut pending text that is too long, if there is a place."""
        if self._options.fixed_weight:
            return self._shorten_fixed()
        best = self._best_break() or self._word_end()
        if best is not None and not self._is_hinted(self._num_cut + best[0]):
            return [self._cut(*best)]
        if len(self._chars) >= self._options.max_characters or self._weights[-1] >= 2 * self._limit:
            return self._cut_anywhere()
        # Not at every character: each try reads all that is pending.
        self._next_try = self._weights[-1] + self._limit / 4
        return []

    def _shorten_fixed(self) -> list[Segment]:
        segments: list[Segment] = []
        is_full = len(self._chars) >= self._options.max_characters
        while self._weights and self._weights[-1] >= self._first_try():
            best = self._nearest_end(len(self._chars) - NUM_HELD_BACK, is_last=is_full)
            if best is None:
                break
            segments.append(self._cut(*best))
        if len(self._chars) >= self._options.max_characters:
            segments += self._cut_anywhere()
        elif self._weights and self._weights[-1] >= self._first_try():
            self._next_try = self._weights[-1] + 1
        return segments

    def _cut_anywhere(self) -> list[Segment]:
        """Cut before the last character, or before the hinted text that it belongs to."""
        end = len(self._chars) - 1
        if self._is_hinted(self._num_cut + end):
            end = self._hints[-1].span.start - self._num_cut
        return [self._cut(end, Boundary.NONE)] if end > 0 else []

    def _is_hinted(self, end: int) -> bool:
        """Return whether a cut there would be inside a hinted text. Hinted texts of full length may be cut."""
        return any(
            hint.span.start < end < hint.span.end
            for hint in reversed(self._hints)
            if hint.span.end - hint.span.start < self._options.max_characters
        )

    def _least(self, share: float) -> float:
        """Return the minimum weight to cut off: a share of the limit, and enough to be spoken alone."""
        return max(share * self._limit, min(MIN_WEIGHT, self._limit))

    def _best_break(self) -> tuple[int, Boundary] | None:
        """Return the last clause or sentence end not too near the start; a weak one only if there is no other."""
        least = self._least(0.25)
        usable = [found for found in self._breaks if self._weight_at(found.end - self._num_cut) >= least]
        strong = [found for found in usable if not found.weak]
        for found in (strong or usable)[-1:]:
            return found.end - self._num_cut, found.boundary
        return None

    def _word_end(self) -> tuple[int, Boundary] | None:
        """Return the best place between two words that more text cannot change, preferably in the later part."""
        latest = len(self._chars) - NUM_HELD_BACK
        for share in (0.6, 0.25):
            earliest = bisect_left(self._weights, self._least(share)) + 1
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
        if weight:
            self._grow()
        self._next_try = self._first_try()
        return segment

    def _cut_hints(self, num_chars: int) -> tuple[Hint, ...]:
        """Return the hints of the first characters; their spans count from the first character."""
        if not self._hints:
            return ()
        start, end = self._num_cut, self._num_cut + num_chars
        taken = [hint for hint in self._hints if hint.span.start < end]
        self._hints = self._hints[len(taken) :]
        spans = [Span(hint.span.start - start, min(hint.span.end, end) - start) for hint in taken]
        return tuple(replace(hint, span=span) for hint, span in zip(taken, spans, strict=True))

    def _cut_marks(self, num_chars: int) -> tuple[Mark, ...]:
        """Return the marks before the last of the first characters; later ones belong to the following text."""
        last = self._origins[num_chars - 1] if num_chars else -1
        taken = [mark for mark in self._marks if mark.offset <= last]
        self._marks = self._marks[len(taken) :]
        return tuple(taken)

    def _take_marks(self) -> tuple[Mark, ...]:
        marks, self._marks = tuple(self._marks), []
        return marks

    def _grow(self) -> None:
        growth, options = self._options.growth, self._options
        self._num_grown += 1
        self._clause_weight = min(self._clause_weight * growth, options.clause_weight)
        self._limit = min(self._limit * growth, options.limit)
        self._next_try = self._first_try()
