"""What a stream came to, told once at its end, and what is so at this moment. Plain values without any user text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.types import StreamClass

StreamOutcome = Literal["finished", "failed", "cancelled", "rejected"]
"""How a stream ended; ``rejected`` is one that was never admitted."""

LatencyPart = Literal["wait_for_text", "queue", "front_end", "plan", "first_step", "transport"]
"""A part of the time to the first packet."""

FeedbackKind = Literal["wrong_word", "click", "gap", "late", "cut_off", "voice", "other"]
"""What a listener may complain of: a word read wrong, a noise, silence within, sound that came late, an end that is
missing, a voice that sounds bad, and the rest."""

Loss = Literal["crashed", "hung"]
"""Why a worker was given up: its engine raised what no engine may, or took far too long."""

UNDERRUN_S = 0.01
"""A listener who stands silent for less than this in a whole stream hears no gap, seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMoments:
    """When what happened, seconds since the stream was opened, by one monotonic clock.

    None is what did not happen: a first segment that was served from a cache was not planned.
    """

    first_text_s: float | None = None
    """The first text was received."""
    admitted_s: float | None = None
    """The scheduler took the stream in."""
    segment_s: float | None = None
    """Enough text for the first segment was there."""
    plan_began_s: float | None = None
    """A worker began to plan the first segment."""
    planned_s: float | None = None
    """The first segment was planned."""
    made_s: float | None = None
    """The first sound was made, or taken from a cache."""
    sent_s: float | None = None
    """The first sound was handed to the transport; a header does not count."""
    last_sent_s: float | None = None
    """The last sound was handed to the transport."""
    ended_s: float
    """The stream was over."""

    def parts(self, front_end_s: float = 0.0) -> dict[LatencyPart, float]:
        """The time to the first packet in parts, seconds: none is negative, and their sum is ``sent_s``.

        Each part ends with its moment. What comes before a moment that did not happen belongs to the next part. Until
        a stream is admitted it queues, unless its text is still awaited.

        Args:
            front_end_s: How long reading took within the first plan, seconds.
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
        """The time to the first packet: all until then but the wait for text, seconds. None if there was none."""
        return None if self.sent_s is None else self.sent_s - self.parts()["wait_for_text"]


class _Durations:
    """A stretch of time that is divided from its start on."""

    def __init__(self, end_s: float) -> None:
        self._end_s = end_s
        self._at_s = 0.0
        self.parts: dict[LatencyPart, float] = dict.fromkeys(
            ("wait_for_text", "queue", "front_end", "plan", "first_step", "transport"), 0.0
        )

    def until(self, part: LatencyPart, moment_s: float | None) -> None:
        """What is left until a moment belongs to a part."""
        if moment_s is not None:
            at_s = min(max(moment_s, self._at_s), self._end_s)
            self.parts[part] += at_s - self._at_s
            self._at_s = at_s


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReport:
    """A stream that is over.

    ``voice``, ``door`` and ``code`` become labels, so they are names of ours, never what a caller sent.
    """

    stream_id: str
    """As told to the client; for traces and logs, never a label."""
    stream_class: StreamClass
    voice: str
    """A loaded voice."""
    door: str
    """Which way in: ``speech`` is ``POST /v1/audio/speech``, ``library`` a stream without a server."""
    outcome: StreamOutcome
    code: str = ""
    """The code of the error that failed or rejected it; empty otherwise."""
    degraded: bool = False
    """Whether it was spoken in throughput mode."""
    began_at_s: float
    """When it was opened, Unix time in seconds."""
    moments: StreamMoments
    front_end_s: float = 0.0
    """How long reading took within the plan of the first segment, seconds."""
    audio_s: float = 0.0
    """Sound handed to the transport, seconds."""
    num_characters: int = 0
    """Characters received."""
    num_bytes: int = 0
    """Bytes of sound handed to the transport, as encoded."""
    underrun_s: float = 0.0
    """How long a listener who began with the first packet stood silent, seconds."""
    longest_gap_s: float = 0.0
    """The longest time between two chunks, seconds."""
    num_segments: int = 0
    num_cached_segments: int = 0
    """Segments whose sound came from a cache."""
    num_retries: int = 0
    """Steps and plans that were repeated on another worker."""
    trace_parent: str = field(default="", repr=False)
    """The caller's ``traceparent`` header (W3C Trace Context), if it sent one; for its trace only."""

    @property
    def had_underrun(self) -> bool:
        """Whether the listener heard a gap."""
        return self.underrun_s >= UNDERRUN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class GaugeValues:
    """What is so at this moment, as far as its source knows. Those of several sources are added up."""

    streams: Mapping[tuple[StreamClass, str], int] = field(default_factory=dict)
    """Open streams by class and state; a state is a word of ours, such as ``waiting`` or ``speaking``."""
    queue_depth: Mapping[StreamClass, int] = field(default_factory=dict)
    """Streams that wait to be admitted, by class."""
    num_workers: int | None = None
    num_workers_busy: int | None = None
    throughput_mode: bool | None = None
    """Whether new streams are spoken in whole sentences and larger steps."""
    cache_bytes: Mapping[str, int] = field(default_factory=dict)
    """Memory held by each cache."""
    num_connections: int | None = None
    """Open connections, idle ones counted."""
    num_tasks: int | None = None
    """Tasks of the event loop."""
