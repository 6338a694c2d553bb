"""Timeline of a stream and its report. Pure: every time is an argument, in seconds on one monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from yuliu.metrics.report import StreamMoments, StreamReport
from yuliu.types import Cancelled, Failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.metrics.report import LatencyPart, StreamOutcome
    from yuliu.types import Ending, StreamClass


@dataclass(frozen=True, slots=True)
class Caller:
    """Origin of a stream; never any of its text."""

    door: str = "library"
    """Name of the endpoint, a fixed word that becomes a label."""
    stream_id: str = ""
    """Id that the client knows, for logs and traces."""
    trace_parent: str = field(default="", repr=False)
    """``traceparent`` header of the request (W3C Trace Context), if any."""


class StreamMetrics(Protocol):
    """Receiver of the events of streams, such as :class:`yuliu.metrics.metrics.Metrics`."""

    def stream_started(self, stream_class: StreamClass) -> None:
        """Record an opened stream."""
        ...

    def stream_ended(self, report: StreamReport) -> None:
        """Record the end of a stream."""
        ...

    def chunk_gap(self, gap_s: float) -> None:
        """Record the time between two chunks of audio that were taken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """Facts of a report beside the times and the ending."""

    stream_class: StreamClass
    voice: str
    began_at_s: float
    """Unix time of the opening, in seconds."""
    delivered_s: float
    """Length of the audio that the reader took, in seconds."""
    num_characters: int
    num_bytes: int
    """Number of encoded bytes that the endpoint sent."""


def report_of(timeline: Timeline, ending: Ending, caller: Caller, facts: ReportFacts) -> StreamReport:
    """Return the report of a finished stream for the metrics."""
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
    """Times of the stages of a stream, in seconds on a monotonic clock; None for a stage that has not happened."""

    opened_at_s: float
    admitted_at_s: float | None = None
    """The stream was admitted."""
    first_text_at_s: float | None = None
    """The first text was pushed."""
    first_segment_at_s: float | None = None
    """The text of the first segment was complete."""
    plan_began_at_s: float | None = None
    """A worker began to plan the first segment."""
    planned_at_s: float | None = None
    """The first segment was planned."""
    step_began_at_s: float | None = None
    """A worker began to make the first audio."""
    made_at_s: float | None = None
    """The first audio was made, or found in a cache."""
    taken_at_s: float | None = None
    """The reader took the first audio: the first packet. The silence of ``lead_in_ms`` does not count."""
    last_taken_at_s: float | None = None
    """The reader took the last audio."""
    ended_at_s: float | None = None
    """The stream ended."""
    front_end_s: float = 0.0
    """Duration of the text front end within the plan of the first segment, in seconds."""
    underrun_s: float = 0.0
    """Silence of a player that started with the first packet, while there was text to speak, in seconds."""
    longest_gap_s: float = 0.0
    """Longest time between two chunks of audio that were taken, in seconds."""
    num_segments: int = 0
    """Number of parts of the text that went to an engine."""
    num_cached_segments: int = 0
    """Number of parts whose audio came from a cache."""
    num_retries: int = 0
    """Number of plans and steps repeated on another worker."""

    @property
    def moments(self) -> StreamMoments:
        """Times since the opening of the stream; before its end, the latest known time stands for the end."""

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
        """Time to the first packet without the wait for text, in seconds; None if there was no packet."""
        return self.moments.ttfp_s()

    @property
    def parts(self) -> Mapping[LatencyPart, float]:
        """Parts of the time to the first packet, in seconds; their sum is the time from the opening to
        ``taken_at_s``."""
        return self.moments.parts(self.front_end_s)


class TimelineRecorder:
    """Recorder of the timeline of one stream.

    Args:
        opened_at_s: Now.
    """

    def __init__(self, opened_at_s: float) -> None:
        self._line = Timeline(opened_at_s=opened_at_s)
        # Values that change with every chunk are kept apart: a new timeline for each chunk would cost 10 us.
        self._last_taken_at_s: float | None = None
        self._dry_at_s = 0.0  # time at which the player has played all that was taken
        self._underrun_s = self._longest_gap_s = 0.0

    @property
    def line(self) -> Timeline:
        """Current timeline."""
        return replace(
            self._line,
            last_taken_at_s=self._last_taken_at_s,
            underrun_s=self._underrun_s,
            longest_gap_s=self._longest_gap_s,
        )

    def admitted(self, now: float) -> None:
        """Record the admission."""
        self._line = replace(self._line, admitted_at_s=now)

    def text(self, now: float) -> None:
        """Record pushed text."""
        if self._line.first_text_at_s is None:
            self._line = replace(self._line, first_text_at_s=now)

    def segment(self, now: float) -> None:
        """Record a part that goes to an engine."""
        first = self._line.first_segment_at_s
        self._line = replace(
            self._line, first_segment_at_s=now if first is None else first, num_segments=self._line.num_segments + 1
        )

    def planned(self, at_s: float, took_s: float, front_end_s: float) -> None:
        """Record a plan."""
        if self._line.planned_at_s is None:
            began_s = at_s - took_s
            self._line = replace(self._line, plan_began_at_s=began_s, planned_at_s=at_s, front_end_s=front_end_s)

    def made(self, at_s: float, took_s: float) -> None:
        """Record audio that was made."""
        if self._line.made_at_s is None:
            self._line = replace(self._line, step_began_at_s=at_s - took_s, made_at_s=at_s)

    def segment_made(self, *, cached: bool, num_retries: int) -> None:
        """Record the completion of a segment."""
        self._line = replace(
            self._line,
            num_cached_segments=self._line.num_cached_segments + cached,
            num_retries=self._line.num_retries + num_retries,
        )

    def taken(
        self, now: float, length_s: float, *, there_at_s: float, text_at_s: float, sound: bool = True
    ) -> float | None:
        """Record a chunk that the reader has taken. The player starts with the first audio.

        Args:
            now: Current time, in seconds.
            length_s: Length of the chunk, in seconds.
            there_at_s: Time at which the chunk was ready; a late reader is no underrun.
            text_at_s: Time at which its text was complete; a late writer is no underrun either.
            sound: Whether it is audio of an engine, not a pause.

        Returns:
            Time since the previous audio, in seconds; None for the first audio and for a pause.
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
        """Record the end of the stream."""
        self._line = replace(self._line, ended_at_s=now)
