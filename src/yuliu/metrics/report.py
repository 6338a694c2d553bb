"""Report of a finished stream, and current gauges. Plain values without any user text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.types import StreamClass

StreamOutcome = Literal["finished", "failed", "cancelled", "rejected"]
"""Outcome of a stream; a ``rejected`` stream was never admitted."""

LatencyPart = Literal["wait_for_text", "queue", "front_end", "plan", "first_step", "transport"]
"""Part of the time to the first packet."""

FeedbackKind = Literal["wrong_word", "click", "gap", "late", "cut_off", "voice", "other"]
"""Complaint of a listener: a misread word, a noise, a silence inside, late audio, a missing end, a bad voice, or
another one."""

Loss = Literal["crashed", "hung"]
"""Reason for the loss of a worker: its engine crashed or took far too long."""

UNDERRUN_S = 0.01
"""Total silence of a player below which a listener hears no gap, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMoments:
    """Times of the stages of a stream, in seconds since it was opened, by one monotonic clock.

    None stands for a stage that did not happen: a first segment from the cache was not planned.
    """

    first_text_s: float | None = None
    """The first text was received."""
    admitted_s: float | None = None
    """The stream was admitted."""
    segment_s: float | None = None
    """The text of the first segment was complete."""
    plan_began_s: float | None = None
    """A worker began to plan the first segment."""
    planned_s: float | None = None
    """The first segment was planned."""
    made_s: float | None = None
    """The first audio was made, or found in a cache."""
    sent_s: float | None = None
    """The first audio was handed to the transport; a header does not count."""
    last_sent_s: float | None = None
    """The last audio was handed to the transport."""
    ended_s: float
    """The stream ended."""

    def parts(self, front_end_s: float = 0.0) -> dict[LatencyPart, float]:
        """Return the parts of the time to the first packet, in seconds; none is negative, and their sum is ``sent_s``.

        Each part ends with its stage. The time before a stage that did not happen belongs to the next part. Before its
        admission a stream is queued, unless its text is still awaited.

        Args:
            front_end_s: Duration of the text front end within the first plan, in seconds.
        """
        if self.sent_s is None:
            return {}
        durations = _Durations(self.sent_s)
        if self.admitted_s is not None and (self.segment_s is None or self.admitted_s < self.segment_s):
            durations.until("queue", self.admitted_s)
        durations.until("wait_for_text", self.segment_s)
        durations.until("queue", self.plan_began_s)
        durations.until("plan", self.planned_s)
        durations.until("first_step" if self.planned_s is not None else "queue", self.made_s)
        durations.until("transport", self.sent_s)
        parts = durations.parts
        parts["front_end"] = min(max(front_end_s, 0.0), parts["plan"])
        parts["plan"] -= parts["front_end"]
        return parts

    def ttfp_s(self) -> float | None:
        """Return the time to the first packet without the wait for text, in seconds; None if there was no packet."""
        return None if self.sent_s is None else self.sent_s - self.parts()["wait_for_text"]


class _Durations:
    """Interval that is divided into parts from its start."""

    def __init__(self, end_s: float) -> None:
        self._end_s = end_s
        self._at_s = 0.0
        self.parts: dict[LatencyPart, float] = dict.fromkeys(
            ("wait_for_text", "queue", "front_end", "plan", "first_step", "transport"), 0.0
        )

    def until(self, part: LatencyPart, moment_s: float | None) -> None:
        """Assign the time up to a moment to a part."""
        if moment_s is not None:
            at_s = min(max(moment_s, self._at_s), self._end_s)
            self.parts[part] += at_s - self._at_s
            self._at_s = at_s


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReport:
    """Report of a finished stream.

    ``voice``, ``door`` and ``code`` become labels, so they are names of the server, never input of a client.
    """

    stream_id: str
    """Id that the client knows; for traces and logs, never a label."""
    stream_class: StreamClass
    voice: str
    """Name of a loaded voice."""
    door: str
    """Endpoint: ``speech`` is ``POST /v1/audio/speech``, ``library`` a stream without a server."""
    outcome: StreamOutcome
    code: str = ""
    """Code of the error that failed or rejected it; empty otherwise."""
    degraded: bool = False
    """True if the stream was spoken in throughput mode."""
    began_at_s: float
    """Unix time of its opening, in seconds."""
    moments: StreamMoments
    front_end_s: float = 0.0
    """Duration of the text front end within the plan of the first segment, in seconds."""
    audio_s: float = 0.0
    """Audio handed to the transport, in seconds."""
    num_characters: int = 0
    """Number of characters received."""
    num_bytes: int = 0
    """Number of encoded bytes handed to the transport."""
    underrun_s: float = 0.0
    """Silence of a player that started with the first packet, in seconds."""
    longest_gap_s: float = 0.0
    """Longest time between two chunks, in seconds."""
    num_segments: int = 0
    num_cached_segments: int = 0
    """Segments whose audio came from a cache."""
    num_retries: int = 0
    """Steps and plans repeated on another worker."""
    trace_parent: str = field(default="", repr=False)
    """``traceparent`` header of the request (W3C Trace Context), if any; for its trace only."""

    @property
    def had_underrun(self) -> bool:
        """True if the listener heard a gap."""
        return self.underrun_s >= UNDERRUN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class GaugeValues:
    """Current gauges, as far as their source knows. Those of several sources are added up."""

    streams: Mapping[tuple[StreamClass, str], int] = field(default_factory=dict)
    """Open streams by class and state; a state is a fixed word such as ``waiting`` or ``speaking``."""
    queue_depth: Mapping[StreamClass, int] = field(default_factory=dict)
    """Streams waiting for admission, by class."""
    num_workers: int | None = None
    num_workers_busy: int | None = None
    throughput_mode: bool | None = None
    """True while new streams are spoken in whole sentences and larger steps."""
    cache_bytes: Mapping[str, int] = field(default_factory=dict)
    """Memory held by each cache."""
    num_connections: int | None = None
    """Open connections, idle ones included."""
    num_tasks: int | None = None
    """Tasks of the event loop."""
