"""What happened to a stream when. Pure: every time is an argument, seconds on one monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yuliu.metrics.report import Moments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.metrics.report import Part as PartOfTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Stamps of a stream: seconds on a monotonic clock, None for what has not happened."""

    opened_at_s: float
    admitted_at_s: float | None = None
    """The machine could carry it."""
    first_text_at_s: float | None = None
    """The first text was pushed."""
    first_segment_at_s: float | None = None
    """There was enough text for the first segment."""
    plan_began_at_s: float | None = None
    """An engine began to plan the first segment."""
    planned_at_s: float | None = None
    """The first segment was planned."""
    step_began_at_s: float | None = None
    """An engine began to make the first sound."""
    made_at_s: float | None = None
    """The first sound was made, or found in a cache."""
    taken_at_s: float | None = None
    """The first sound was taken by the reader: the first packet. Silence of ``lead_in_ms`` does not count."""
    last_taken_at_s: float | None = None
    """The last sound was taken."""
    ended_at_s: float | None = None
    """The stream was over."""
    front_end_s: float = 0.0
    """How long reading the text took within the plan of the first segment, seconds."""
    underrun_s: float = 0.0
    """How long a listener who began to play with the first packet stood silent although there was text to speak."""
    longest_gap_s: float = 0.0
    """The longest time between two sounds that were taken, seconds."""
    num_segments: int = 0
    """Parts of the text that were given to an engine."""
    num_cached_segments: int = 0
    """Those whose sound came from a cache."""
    num_retries: int = 0
    """Plans and steps that were repeated on another lane."""

    @property
    def moments(self) -> Moments:
        """The stamps from the opening of the stream on; where it has not ended, its end is the last thing known."""

        def since(at_s: float | None) -> float | None:
            return None if at_s is None else at_s - self.opened_at_s

        last_s = max(filter(None, (self.last_taken_at_s, self.made_at_s, self.admitted_at_s, self.opened_at_s)))
        return Moments(
            first_text_s=since(self.first_text_at_s),
            admitted_s=since(self.admitted_at_s),
            segment_s=since(self.first_segment_at_s),
            plan_began_s=since(self.plan_began_at_s),
            planned_s=since(self.planned_at_s),
            made_s=since(self.made_at_s),
            sent_s=since(self.taken_at_s),
            last_sent_s=since(self.last_taken_at_s),
            ended_s=(last_s if self.ended_at_s is None else self.ended_at_s) - self.opened_at_s,
        )

    @property
    def ttfp_s(self) -> float | None:
        """Time to the first packet but for the wait for text, seconds; None if there was none."""
        return self.moments.ttfp_s()

    @property
    def parts(self) -> Mapping[PartOfTime, float]:
        """Time to the first packet in parts, seconds; their sum is the time from opening to ``taken_at_s``."""
        return self.moments.parts(self.front_end_s)


class Trace:
    """Keeps the timeline of one stream.

    Args:
        opened_at_s: Now.
    """

    def __init__(self, opened_at_s: float) -> None:
        self._line = Timeline(opened_at_s=opened_at_s)
        # What changes with every chunk is kept apart: a new line for each would cost 10 us.
        self._last_taken_at_s: float | None = None
        self._dry_at_s = 0.0  # when the listener has played all that was taken
        self._underrun_s = self._longest_gap_s = 0.0

    @property
    def line(self) -> Timeline:
        """As it is now."""
        return replace(
            self._line,
            last_taken_at_s=self._last_taken_at_s,
            underrun_s=self._underrun_s,
            longest_gap_s=self._longest_gap_s,
        )

    def admitted(self, now: float) -> None:
        """The stream is carried."""
        self._line = replace(self._line, admitted_at_s=now)

    def text(self, now: float) -> None:
        """Text was pushed."""
        if self._line.first_text_at_s is None:
            self._line = replace(self._line, first_text_at_s=now)

    def segment(self, now: float) -> None:
        """A part of the text was given to an engine."""
        first = self._line.first_segment_at_s
        self._line = replace(
            self._line, first_segment_at_s=now if first is None else first, num_segments=self._line.num_segments + 1
        )

    def planned(self, at_s: float, took_s: float, front_end_s: float) -> None:
        """A segment was planned."""
        if self._line.planned_at_s is None:
            began_s = at_s - took_s
            self._line = replace(self._line, plan_began_at_s=began_s, planned_at_s=at_s, front_end_s=front_end_s)

    def made(self, at_s: float, took_s: float) -> None:
        """Sound was made."""
        if self._line.made_at_s is None:
            self._line = replace(self._line, step_began_at_s=at_s - took_s, made_at_s=at_s)

    def segment_made(self, *, cached: bool, num_retries: int) -> None:
        """A segment has sound to its end."""
        self._line = replace(
            self._line,
            num_cached_segments=self._line.num_cached_segments + cached,
            num_retries=self._line.num_retries + num_retries,
        )

    def taken(
        self, now: float, length_s: float, *, there_at_s: float, text_at_s: float, sound: bool = True
    ) -> float | None:
        """A chunk was taken. The listener begins to play with the first sound.

        Args:
            now: Seconds.
            length_s: How much.
            there_at_s: When the listener could have had it: what it waited for its reader is not our fault.
            text_at_s: When its text was there: what the listener waited for its writer is not our fault either.
            sound: Whether it is not a pause.

        Returns:
            How long after the sound before, seconds; None if there was none, or if it is a pause.
        """
        last = self._last_taken_at_s
        if last is None:
            if sound:
                self._line = replace(self._line, taken_at_s=now)
                self._last_taken_at_s = now
                self._dry_at_s = now + length_s
            return None
        self._underrun_s += max(0.0, there_at_s - max(self._dry_at_s, text_at_s))
        self._dry_at_s = max(self._dry_at_s, there_at_s) + length_s
        if not sound:
            return None
        self._last_taken_at_s = now
        self._longest_gap_s = max(self._longest_gap_s, now - last)
        return now - last

    def ended(self, now: float) -> None:
        """The stream is over."""
        self._line = replace(self._line, ended_at_s=now)
