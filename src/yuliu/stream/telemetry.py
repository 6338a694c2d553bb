"""What a stream remembers of itself: what happened when, what was heard, and who is told."""

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
    from yuliu.stream.routes import Route
    from yuliu.stream.timeline import StreamMetrics
    from yuliu.types import Chunk, Ending, StreamClass

NO_WORDS = Words()
NOBODY = Caller()


@dataclass(frozen=True, slots=True)
class StreamContext:
    """What a stream knows of the world beside its text."""

    voices: Mapping[str, Route]
    """Those that the text may switch to, at the same sample rate."""
    words: Words = NO_WORDS
    """How to say the words of the text."""
    caller: Caller = NOBODY
    metrics: StreamMetrics | None = None
    """Who is told what the stream came to."""


@dataclass(frozen=True, slots=True)
class QueuedChunk:
    """A chunk that waits to be taken."""

    chunk: Chunk
    at_s: float
    """Since when."""
    text_at_s: float
    """When its text was there."""
    made_s: float = 0.0
    """How much of it is sound of a voice, seconds; 0 for a pause."""
    spoken: Utterance | None = None
    """The utterance that it completes."""


class StreamTelemetry:
    """Notes of one stream.

    Args:
        clock: The scheduler's, seconds.
        stream_class: How urgent the stream is.
        voice: Which voice speaks.
        around: Who asked for it, and who is told.
    """

    def __init__(
        self, clock: Callable[[], float], stream_class: StreamClass, voice: str, around: StreamContext
    ) -> None:
        self.hearing = PlaybackTracker()
        self._clock = clock
        self.trace = TimelineRecorder(clock())
        self._stream_class, self._voice = stream_class, voice
        self._caller, self._metrics = around.caller, around.metrics
        self._began_at_s = time.time()
        self._told = False
        if self._metrics is not None:
            self._metrics.stream_started(stream_class)

    def admitted(self) -> float:
        """The stream is carried from now on; returns the time."""
        now = self._clock()
        self.trace.admitted(now)
        return now

    def text(self) -> None:
        """Text comes."""
        self.trace.text(self._clock())

    def segment(self) -> float:
        """A part of the text goes to an engine; returns the time."""
        now = self._clock()
        self.trace.segment(now)
        return now

    def made(self, output: Rendered) -> float:
        """A step made sound; returns the time."""
        if len(output.samples):
            self.trace.made(output.at_s, output.took_s)
        if output.utterance.done:
            self.trace.segment_made(cached=output.cached, num_retries=output.num_retries)
        return self._clock()

    def taken(self, ready: QueuedChunk, *, waited: bool) -> None:
        """A chunk was taken by the reader.

        Args:
            ready: The chunk.
            waited: Whether the reader had waited for it.
        """
        self.hearing.deliver(ready.chunk, made=ready.made_s > 0)
        now = self._clock()
        gap_s = self.trace.taken(
            now,
            len(ready.chunk.samples) / ready.chunk.sample_rate,
            there_at_s=now if waited else ready.at_s,
            text_at_s=ready.text_at_s,
            sound=ready.made_s > 0,
        )
        if gap_s is not None and self._metrics is not None:
            self._metrics.chunk_gap(gap_s)

    def ended(self) -> None:
        """The stream is over."""
        self.trace.ended(self._clock())

    def tell(self, ending: Ending, *, num_characters: int, num_bytes: int) -> None:
        """Tell the metrics what the stream came to, the first time that this is called."""
        if self._metrics is None or self._told:
            return
        self._told = True
        facts = ReportFacts(
            stream_class=self._stream_class,
            voice=self._voice,
            began_at_s=self._began_at_s,
            delivered_s=self.hearing.delivered_s,
            num_characters=num_characters,
            num_bytes=num_bytes,
        )
        self._metrics.stream_ended(report_of(self.trace.line, ending, self._caller, facts))
