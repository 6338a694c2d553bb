"""Telemetry of a stream: its timeline, the position of its listener, and its report to the metrics."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.stream.playback import PlaybackTracker
from yuliu.stream.timeline import Caller, ReportFacts, TimelineRecorder, report_of
from yuliu.text.lexicon import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.engines.api import Utterance
    from yuliu.scheduler.outputs import Rendered
    from yuliu.stream.routes import VoiceRoute
    from yuliu.stream.timeline import StreamMetrics
    from yuliu.types import Chunk, Ending, StreamClass

NO_WORDS = Words()
LIBRARY = Caller()


@dataclass(frozen=True, slots=True)
class StreamContext:
    """Context of a stream: the loaded voices, the lexicons, the caller and the metrics."""

    voices: Mapping[str, VoiceRoute]
    """Routes of the voices that the text may switch to; their audio is resampled to the rate of the stream."""
    words: Words = NO_WORDS
    """Lexicon entries for the words of the text."""
    caller: Caller = LIBRARY
    metrics: StreamMetrics | None = None
    """Receiver of the report of the stream."""


@dataclass(frozen=True, slots=True)
class QueuedChunk:
    """Chunk that waits for the reader."""

    chunk: Chunk
    at_s: float
    """Time at which it was made."""
    text_at_s: float
    """Time at which its text was complete."""
    made_s: float = 0.0
    """Length of the audio that an engine made, in seconds; 0 for a pause."""
    spoken: Utterance | None = None
    """Utterance that it completes."""


class StreamTelemetry:
    """Telemetry of one stream.

    Args:
        clock: Clock of the scheduler, in seconds.
        stream_class: Urgency of the stream.
        voice: Name of its voice.
        context: Its caller and metrics.
    """

    def __init__(
        self, clock: Callable[[], float], stream_class: StreamClass, voice: str, context: StreamContext
    ) -> None:
        self.playback = PlaybackTracker()
        self._clock = clock
        self.recorder = TimelineRecorder(clock())
        self._stream_class, self._voice = stream_class, voice
        self._caller, self._metrics = context.caller, context.metrics
        self._began_at_s = time.time()
        self._reported = False
        if self._metrics is not None:
            self._metrics.stream_started(stream_class)

    def admitted(self) -> float:
        """Record the admission; return the time."""
        now = self._clock()
        self.recorder.admitted(now)
        return now

    def text(self) -> None:
        """Record pushed text."""
        self.recorder.text(self._clock())

    def segment(self) -> float:
        """Record a part that goes to an engine; return the time."""
        now = self._clock()
        self.recorder.segment(now)
        return now

    def made(self, output: Rendered) -> float:
        """Record a step; return the time."""
        if len(output.samples):
            self.recorder.made(output.at_s, output.took_s)
        if output.utterance.done:
            self.recorder.segment_made(cached=output.cached, num_retries=output.num_retries)
        return self._clock()

    def taken(self, ready: QueuedChunk, *, waited: bool) -> None:
        """Record a chunk that the reader has taken.

        Args:
            ready: The chunk.
            waited: Whether the reader had waited for it.
        """
        self.playback.deliver(ready.chunk, made=ready.made_s > 0)
        now = self._clock()
        gap_s = self.recorder.taken(
            now,
            len(ready.chunk.samples) / ready.chunk.sample_rate,
            there_at_s=now if waited else ready.at_s,
            text_at_s=ready.text_at_s,
            sound=ready.made_s > 0,
        )
        if gap_s is not None and self._metrics is not None:
            self._metrics.chunk_gap(gap_s)

    def ended(self) -> None:
        """Record the end of the stream."""
        self.recorder.ended(self._clock())

    def report(self, ending: Ending, *, num_characters: int, num_bytes: int) -> None:
        """Report the stream to the metrics, at the first call only."""
        if self._metrics is None or self._reported:
            return
        self._reported = True
        facts = ReportFacts(
            stream_class=self._stream_class,
            voice=self._voice,
            began_at_s=self._began_at_s,
            delivered_s=self.playback.delivered_s,
            num_characters=num_characters,
            num_bytes=num_bytes,
        )
        self._metrics.stream_ended(report_of(self.recorder.line, ending, self._caller, facts))
