"""What happened to a stream when. Pure: every time is an argument, seconds on one monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from yuliu.metrics.report import StreamMoments, StreamReport
from yuliu.types import Cancelled, Failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.metrics.report import LatencyPart as PartOfTime
    from yuliu.metrics.report import StreamOutcome
    from yuliu.types import Ending, StreamClass


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asked for a stream. None of it is ever the text."""

    door: str = "library"
    """Which way in, in a word of ours: it becomes a label."""
    stream_id: str = ""
    """The id that the caller was told, for logs and traces."""
    trace_parent: str = field(default="", repr=False)
    """The caller's ``traceparent`` header (W3C Trace Context), if there was one."""


class StreamMetrics(Protocol):
    """What a stream tells of itself; :class:`yuliu.metrics.metrics.Metrics` listens."""

    def stream_started(self, stream_class: StreamClass) -> None:
        """A stream was opened."""
        ...

    def stream_ended(self, report: StreamReport) -> None:
        """A stream is over."""
        ...

    def chunk_gap(self, gap_s: float) -> None:
        """So long after the sound before, sound was taken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """What a report needs beside times and ending."""

    stream_class: StreamClass
    voice: str
    began_at_s: float
    """When it was opened, Unix time in seconds."""
    delivered_s: float
    """Length of what the reader took, seconds."""
    num_characters: int
    num_bytes: int
    """Bytes that the door sent, as encoded."""


def report_of(timeline: Timeline, ending: Ending, caller: Caller, facts: ReportFacts) -> StreamReport:
    """A stream that is over, as the metrics count it."""
    return StreamReport(
        stream_id=caller.stream_id,
        stream_class=facts.stream_class,
        voice=facts.voice,
        door=caller.door,
        outcome=_outcome(timeline, ending),
        code=ending.code if isinstance(ending, Failed) else "",
        degraded=ending.degraded,
        began_at_s=facts.began_at_s,
        moments=timeline.moments,
        front_end_s=timeline.front_end_s,
        audio_s=facts.delivered_s,
        num_characters=facts.num_characters,
        num_bytes=facts.num_bytes,
        underrun_s=timeline.underrun_s,
        longest_gap_s=timeline.longest_gap_s,
        num_segments=timeline.num_segments,
        num_cached_segments=timeline.num_cached_segments,
        num_retries=timeline.num_retries,
        trace_parent=caller.trace_parent,
    )


def _outcome(timeline: Timeline, ending: Ending) -> StreamOutcome:
    if isinstance(ending, Cancelled):
        return "cancelled"
    if isinstance(ending, Failed):
        return "rejected" if timeline.admitted_at_s is None and ending.code == "overloaded" else "failed"
    return "finished"


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
    """Plans and steps that were repeated on another worker."""

    @property
    def moments(self) -> StreamMoments:
        """The stamps from the opening of the stream on; where it has not ended, its end is the last thing known."""

        def since(at_s: float | None) -> float | None:
            return None if at_s is None else at_s - self.opened_at_s

        last_s = max(filter(None, (self.last_taken_at_s, self.made_at_s, self.admitted_at_s, self.opened_at_s)))
        return StreamMoments(
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


class TimelineRecorder:
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
