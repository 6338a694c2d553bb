"""What is told of a stream once it is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from yuliu.metrics.report import StreamReport
from yuliu.types import Cancelled, Failed

if TYPE_CHECKING:
    from yuliu.metrics.report import Outcome
    from yuliu.session.timeline import Timeline
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
class Facts:
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


def report_of(timeline: Timeline, ending: Ending, caller: Caller, facts: Facts) -> StreamReport:
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


def _outcome(timeline: Timeline, ending: Ending) -> Outcome:
    if isinstance(ending, Cancelled):
        return "cancelled"
    if isinstance(ending, Failed):
        return "rejected" if timeline.admitted_at_s is None and ending.code == "overloaded" else "failed"
    return "finished"
