"""One stream: text deltas -> segmenter -> scheduler -> joined chunks. The only place where the parts are composed.

A stream belongs to the event loop (asyncio) that made it. It is bounded on both sides: ``push`` waits while
``MAX_PENDING_PARTS`` wait to be spoken, and the scheduler stops stepping while the reader does not read. It ends in
exactly one of ``Finished``, ``Failed`` or ``Cancelled``, set when the last chunk has been taken. Its only threads are
the scheduler's, its only timer is the one that flushes stalled text.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from yuliu.audio.join import fade_edges, padding, silences
from yuliu.coverage import Ledger
from yuliu.engines.api import PlanOptions
from yuliu.errors import Closed, InvalidRequest
from yuliu.scheduler.worker import Broken, Planned, Rendered
from yuliu.segmenter import Segmenter, SegmenterOptions, split_segment
from yuliu.types import Cancelled, Chunk, Failed, Finished, Skipped, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from yuliu.engines.api import Utterance
    from yuliu.errors import SynthesisFailed
    from yuliu.scheduler.worker import Output, Scheduler
    from yuliu.types import Ending, Lang, Samples, Segment, Timing

MAX_PENDING_PARTS = 16
"""Parts of text that may wait to be spoken before ``push`` waits."""
MIN_SPEED, MAX_SPEED = 0.25, 4.0


@dataclass(frozen=True, slots=True)
class Route:
    """Which lane of the scheduler speaks which language, for one voice."""

    lanes: Mapping[Lang, str]
    sample_rate: int
    """Hz, the same on all lanes."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is cut and spoken."""

    speak: SpeakOptions = field(default_factory=SpeakOptions)
    segmenter: SegmenterOptions = field(default_factory=SegmenterOptions)
    stall_s: float = 0.5
    """Text that might go on is spoken as it is when nothing came for so long, seconds."""

    def __post_init__(self) -> None:
        """Reject what no engine can do, before anything is opened."""
        if not MIN_SPEED <= self.speak.speed <= MAX_SPEED:
            raise InvalidRequest(
                f"speed must be from {MIN_SPEED} to {MAX_SPEED}, not {self.speak.speed}", param="speed"
            )


@dataclass(slots=True)
class _Part:
    """One language's part of a segment on its way through the scheduler."""

    segment: Segment
    pause_s: float
    utterance: Utterance | None = None


@dataclass(frozen=True, slots=True)
class _Ready:
    """A chunk that waits to be taken."""

    chunk: Chunk
    made_s: float
    """How much of it the scheduler made; 0 for a pause."""
    spoken: Utterance | None
    """The utterance that it completes."""


class Stream:
    """Text in, chunks out.

    Iterate over it for the chunks, in one task, while the same or another task pushes text::

        async with speaker.stream() as stream:
            await stream.push("你好，")
            await stream.push("world.")
            await stream.end()
            async for chunk in stream:
                play(chunk.samples)
        print(stream.ending)

    Leaving the block early cancels the stream.
    """

    def __init__(self, scheduler: Scheduler, route: Route, options: StreamOptions) -> None:
        self.sample_rate: int = route.sample_rate
        """Hz, of all chunks."""
        self.ending: Ending | None = None
        """How the stream ended; None while it has not."""
        self._scheduler = scheduler
        self._route = route
        self._options = options
        self._segmenter = Segmenter(options.segmenter)
        self._loop = asyncio.get_running_loop()
        self._parts: deque[_Part] = deque()
        self._ready: deque[_Ready] = deque()
        self._ledger = Ledger()
        self._last: _Part | None = None
        self._num_samples = 0
        self._text_ended = False
        self._error: SynthesisFailed | Closed | None = None
        self._changed = asyncio.Event()
        self._stall: asyncio.TimerHandle | None = None
        self._stream_id = scheduler.open(self._from_lane)

    async def __aenter__(self) -> Self:
        """The stream itself."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Cancel whatever has not ended."""
        self.cancel()

    async def push(self, delta: str) -> None:
        """Give more text, cut anywhere; one delta is always taken whole.

        Waits first while too much text waits to be spoken, so a writer of many deltas needs a reader in
        another task.

        Raises:
            Closed: The text was ended or the stream is over.
        """
        self._stop_watching()  # a writer that is held back here is not stalled
        while len(self._parts) > MAX_PENDING_PARTS and self.ending is None and self._error is None:
            await self._changed.wait()
        if self._text_ended or self.ending is not None:
            raise Closed("the stream takes no more text; open a new one")
        self._ledger.received(len(delta))
        self._submit(self._segmenter.push(delta))
        self._stall = self._loop.call_later(self._options.stall_s, self.flush)

    def flush(self) -> None:
        """Speak what has been pushed as it is, without waiting for what may follow."""
        if self.ending is None:
            self._submit(self._segmenter.flush())

    async def end(self) -> None:
        """No more text will come. The chunks that are left can still be read."""
        if not self._text_ended:
            self.flush()
            self._text_ended = True
            self._settle()

    def cancel(self) -> Ending:
        """Stop at once: nothing more is made, and chunks not yet taken are dropped.

        Returns:
            The stream's ending, which is an earlier one if it had ended before.
        """
        self._ready.clear()
        return self._end(Cancelled(self._ledger.coverage(), self._audio_s))

    def __aiter__(self) -> Self:
        """The chunks, in order."""
        return self

    async def __anext__(self) -> Chunk:
        """The next chunk.

        Raises:
            SynthesisFailed: An engine failed; what it had made before has been given.
            Closed: The speaker was closed.
            StopAsyncIteration: The stream has finished or was cancelled.
        """
        while not self._ready:
            if isinstance(self.ending, Failed) and self._error is not None:
                raise self._error
            if self.ending is not None:
                raise StopAsyncIteration
            await self._changed.wait()
        ready = self._ready.popleft()
        self._scheduler.taken(self._stream_id, ready.made_s)
        if ready.spoken is not None:
            self._ledger.spoken(ready.spoken.segment.source, ready.spoken.skipped)
        self._settle()
        return ready.chunk

    @property
    def _audio_s(self) -> float:
        return self._num_samples / self.sample_rate

    def _stop_watching(self) -> None:
        if self._stall is not None:
            self._stall.cancel()

    def _submit(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            for part in split_segment(segment, tuple(self._route.lanes)):
                if part.lang is None:
                    self._ledger.silent(part.source, [Skipped(part.source, "language_not_spoken")])
                else:
                    self._submit_part(part, self._route.lanes[part.lang])

    def _submit_part(self, segment: Segment, lane: str) -> None:
        wanted = silences(segment.boundary, self._options.speak.speed)
        self._parts.append(_Part(segment, wanted.pause_s))
        plan = PlanOptions(self._options.speak, lead_s=wanted.lead_s, tail_s=wanted.tail_s)
        self._scheduler.submit(self._stream_id, lane, segment, plan)

    def _from_lane(self, output: Output) -> None:
        """The scheduler's sink: called on a lane's thread."""
        with suppress(RuntimeError):  # the loop was closed under an abandoned stream: nobody is left to listen
            self._loop.call_soon_threadsafe(self._receive, output)

    def _receive(self, output: Output) -> None:
        if self.ending is not None or self._error is not None:
            return
        match output:
            case Planned():
                part = next(p for p in self._parts if p.segment is output.utterance.segment)
                part.utterance = output.utterance
            case Rendered():
                self._join(self._parts[0], output)
            case Broken():
                self._error = output.error
        self._drop_silent_parts()
        self._settle()

    def _drop_silent_parts(self) -> None:
        """Parts at the head that turned out to have no sound are accounted for and forgotten."""
        while self._parts and (utterance := self._parts[0].utterance) and utterance.num_frames == 0:
            self._ledger.silent(utterance.segment.source, utterance.skipped)
            self._parts.popleft()

    def _join(self, part: _Part, output: Rendered) -> None:
        utterance, before = output.utterance, part.utterance
        first = before is None or before.next_frame == 0
        if first:
            self._pause_before(part, utterance)
        samples = fade_edges(output.samples, self.sample_rate, first=first, last=utterance.done)
        timings = tuple(_shifted(timing, self._audio_s) for timing in utterance.timings) if first else ()
        self._emit(samples, part.segment, timings, utterance if utterance.done else None)
        part.utterance = utterance
        if utterance.done:
            self._last = self._parts.popleft()

    def _pause_before(self, part: _Part, utterance: Utterance) -> None:
        """Fill the pause since the utterance before with what model silence lacks of it."""
        if self._last is None or self._last.utterance is None:
            return
        silence = padding(self._last.pause_s, self._last.utterance.tail_s, utterance.lead_s, self.sample_rate)
        if len(silence):
            chunk = Chunk(silence, self.sample_rate, self._audio_s, part.segment.source)
            self._num_samples += len(silence)
            self._ready.append(_Ready(chunk, 0.0, None))

    def _emit(self, samples: Samples, segment: Segment, timings: tuple[Timing, ...], spoken: Utterance | None) -> None:
        chunk = Chunk(samples, self.sample_rate, self._audio_s, segment.source, timings)
        self._num_samples += len(samples)
        self._ready.append(_Ready(chunk, len(samples) / self.sample_rate, spoken))

    def _settle(self) -> None:
        """End the stream if nothing is left to come or to be taken; wake whoever waits for a change."""
        if self.ending is None and not self._ready:
            if self._error is not None:
                self._end(Failed(self._error.code, self._error.message, self._ledger.coverage(), self._audio_s))
            elif self._text_ended and not self._parts:
                self._end(Finished(self._ledger.coverage(), self._audio_s))
        self._changed.set()
        self._changed = asyncio.Event()

    def _end(self, ending: Ending) -> Ending:
        if self.ending is None:
            self.ending = ending
            self._scheduler.close_stream(self._stream_id)
            self._stop_watching()
            self._changed.set()
        return self.ending


def _shifted(timing: Timing, by_s: float) -> Timing:
    return replace(timing, start_s=timing.start_s + by_s, end_s=timing.end_s + by_s)
