"""The stream: text in, chunks of audio out.

A stream belongs to the asyncio event loop in which it was created. It is bounded on both sides: ``push`` waits while
``max_pending`` parts wait to be spoken, and the scheduler stops stepping while the reader does not read. It ends in
exactly one of ``Finished``, ``Failed`` or ``Cancelled``, set when the last chunk has been taken. It has at most one
timer, no task, and no threads but those of the scheduler. Nothing else keeps it alive: a dropped stream is closed.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Self

from yuliu.errors import Closed
from yuliu.scheduler.outputs import Admitted, Broken, Planned, Rendered
from yuliu.scheduler.requests import After
from yuliu.stream.coverage import Ledger
from yuliu.stream.joiner import Joiner
from yuliu.stream.telemetry import QueuedChunk, StreamTelemetry
from yuliu.stream.text_pipeline import SpokenPart, TextPipeline
from yuliu.stream.timeouts import StreamTimeouts
from yuliu.stream.timer import StreamTimer
from yuliu.types import Cancelled, Failed, Finished, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from yuliu.audio.chain import Effects
    from yuliu.errors import YuliuError
    from yuliu.scheduler.outputs import Output
    from yuliu.scheduler.scheduler import Scheduler
    from yuliu.segmenter import Chunking
    from yuliu.stream.joiner import SegmentPart
    from yuliu.stream.options import StreamOptions
    from yuliu.stream.routes import VoiceRoute
    from yuliu.stream.telemetry import StreamContext
    from yuliu.stream.text_pipeline import SilentSegment
    from yuliu.stream.timeline import Timeline
    from yuliu.types import Chunk, Ending, Heard


class Stream:
    """Stream of text in and chunks out.

    Iterate over it for the chunks, in one task, while the same or another task pushes text::

        async with synthesizer.stream() as stream:
            await stream.push("你好，")
            await stream.push("world.")
            await stream.end()
            async for chunk in stream:
                play(chunk.samples)
        print(stream.ending)

    Leaving the block early cancels the stream.
    """

    def __init__(self, scheduler: Scheduler, route: VoiceRoute, options: StreamOptions, context: StreamContext) -> None:
        self.sample_rate: int = options.sample_rate or route.sample_rate
        """Sample rate of all chunks, in Hz: that of the voice, unless the options ask for another."""
        self.ending: Ending | None = None
        """Ending of the stream; None while it is open."""
        self.degraded: bool = False
        """True if the stream is spoken in whole sentences and larger steps, because of the backlog at its admission."""
        self.num_bytes: int = 0
        """Number of encoded bytes sent, counted by the encoder for the metrics."""
        self._scheduler, self._route, self._options = scheduler, route, options
        self._loop = asyncio.get_running_loop()
        self._ledger = Ledger()
        self._pipeline = TextPipeline(options, {**context.voices, "": route}, context.words, self._ledger)
        self._parts: deque[SegmentPart] = deque()
        self._ready: deque[QueuedChunk] = deque()
        self._joiner = Joiner(self.sample_rate)
        self._telemetry = StreamTelemetry(scheduler.clock, options.terms.stream_class, route.voice, context)
        self._timeouts = StreamTimeouts(options.limits, options.stall_s, self._loop.time())
        self._timer = StreamTimer(self._loop, self._time_out)
        self._text_ended = self._admitted = self._entered = False
        self._error: YuliuError | None = None
        self._changed = asyncio.Event()
        sink = _sink(self._loop, weakref.ref(self))
        self._stream_id = scheduler.open(sink, tuple(dict.fromkeys(route.engines.values())), options.terms)
        self._dropped = weakref.finalize(self, scheduler.abandon, self._stream_id)
        self._dropped.atexit = False
        self._watch()

    async def __aenter__(self) -> Self:
        """Return the stream once it is admitted.

        Raises:
            Overloaded: The stream exceeds the capacity of the machine.
        """
        self._entered = True
        try:
            await self.admitted()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Cancel the stream unless it has ended."""
        self._report(self.cancel())

    async def admitted(self) -> None:
        """Wait until the stream is admitted.

        Raises:
            Overloaded: The stream exceeds the capacity of the machine.
            Closed: The synthesizer was closed, or the stream was cancelled.
        """
        while not self._admitted:
            if self._error is not None:
                raise self._error
            if self.ending is not None:
                raise Closed("the stream was cancelled before it was admitted")
            await self._changed.wait()

    async def push(self, delta: str) -> None:
        """Push more text, cut anywhere; a delta is always accepted as a whole.

        Waits until the stream is admitted, and while too much text is pending, so a writer of many deltas needs a
        reader in another task.

        Raises:
            Closed: The text has ended, or the stream is over.
            Overloaded: The stream exceeds the capacity of the machine.
        """
        self._telemetry.text()
        self._timeouts.text_done()  # a writer that waits here is not stalled
        try:
            if self.ending is None:
                await self.admitted()
            while len(self._parts) > self._options.max_pending and self.ending is None and self._error is None:
                await self._changed.wait()
        finally:
            self._timeouts.text_came(self._loop.time())
            self._watch()
        if self._text_ended or self.ending is not None:
            raise Closed("the stream takes no more text; open a new one")
        self._give(self._pipeline.push(delta))

    def configure(
        self,
        *,
        chunking: Chunking | None = None,
        speed: float | None = None,
        lang: str | None = None,
        effects: Effects | None = None,
    ) -> None:
        """Change options for text that has not been cut into a segment yet, and for all later text.

        Args:
            chunking: Places to cut the text at; None keeps the option, as for all others.
            speed: 1 is the pace of the voice; from 0.25 to 4.
            lang: Reads the text as this language; ``auto`` decides by script.
            effects: Effects on the audio, which replace all earlier ones.

        Raises:
            InvalidRequest: The speed is out of its range, the voice does not speak the language, or an effect cannot be
                had.
        """
        self._pipeline.configure(chunking, speed, lang=lang, effects=effects)

    def flush(self) -> None:
        """Speak the pending text without waiting for more."""
        self._timeouts.text_done()
        if self.ending is None:
            self._give(self._pipeline.flush())

    def writer_lost(self) -> None:
        """Stop the stall timer, because the writer has lost its connection and may reconnect."""
        self._timeouts.writer_lost()

    def writer_back(self) -> None:
        """Restart the stall timer, because the writer has reconnected."""
        self._timeouts.writer_back(self._loop.time())
        self._watch()

    async def end(self) -> None:
        """End the text. The remaining chunks can still be read."""
        if not self._text_ended:
            self.flush()
            self._text_ended = True
            self._scheduler.end_text(self._stream_id)
            self._settle()

    def played(self, position_s: float) -> None:
        """Report the position of the listener in the audio of the stream, in seconds, at most what was taken.

        With regular reports the stream is made only as far ahead as necessary, and its ending knows what was heard. A
        position never goes back.

        Raises:
            InvalidRequest: The position is negative or not a number.
        """
        made_s = self._telemetry.playback.played(position_s)
        if self.ending is None:
            self._scheduler.played(self._stream_id, made_s)

    def heard(self) -> Heard | None:
        """Return the position that :meth:`played` reported last, also after the end; None without a report."""
        return self._telemetry.playback.heard()

    def cancel(self, position_s: float | None = None) -> Ending:
        """Cancel the stream at once: no more audio is made, and chunks that were not taken are dropped.

        Args:
            position_s: Position of the listener, in seconds, if known; as in :meth:`played`.

        Returns:
            The ending of the stream, an earlier one if it had ended before. :meth:`heard` is right in any case.
        """
        if position_s is not None:
            self._telemetry.playback.played(position_s)
        if self.ending is not None:
            return self.ending
        self._ready.clear()
        coverage, delivered_s = self._ledger.coverage(), self._telemetry.playback.delivered_s
        return self._end(Cancelled(coverage, self._joiner.audio_s, delivered_s, self.heard(), self.degraded))

    @property
    def waits_for(self) -> Literal["text", "sound"]:
        """Reason why the next chunk is not there, without meaning after the end.

        ``text``: no unspoken text is certain enough to be spoken. ``sound``: audio is being made, or a chunk is ready.
        """
        at_work = not self._admitted or self._parts or self._ready or self._text_ended
        return "sound" if at_work else "text"

    @property
    def timeline(self) -> Timeline:
        """Timeline of the stream so far."""
        return self._telemetry.recorder.line

    def __aiter__(self) -> Self:
        """Return the iterator over the chunks, in order."""
        return self

    async def __anext__(self) -> Chunk:
        """Return the next chunk.

        Raises:
            SynthesisFailed: An engine failed; all audio made before has been returned.
            TimedOut: The stream reached one of its limits.
            Overloaded: The stream exceeds the capacity of the machine.
            Closed: The synthesizer was closed.
            StopAsyncIteration: The stream has finished or was cancelled.
        """
        waited = not self._ready
        while not self._ready:
            if isinstance(self.ending, Failed) and self._error is not None:
                raise self._error
            if self.ending is not None:
                raise StopAsyncIteration
            await self._changed.wait()
        ready = self._ready.popleft()
        self._timeouts.taken()
        self._telemetry.taken(ready, waited=waited)
        self._scheduler.taken(self._stream_id, ready.made_s)
        if ready.spoken is not None:
            self._ledger.spoken(ready.spoken.segment.source, ready.spoken.skipped)
        self._settle()
        return ready.chunk

    def _give(self, found: Iterable[SpokenPart | SilentSegment]) -> None:
        """Submit spoken parts to the scheduler and record silent ones."""
        for each in found:
            if isinstance(each, SpokenPart):
                each.part.ready_at_s = self._telemetry.segment()
                self._parts.append(each.part)
                after = After(each.part.pace, each.part.most_held_s(self.sample_rate))
                segment, stream_id = each.part.segment, self._stream_id
                each.part.job_id = self._scheduler.submit(stream_id, each.engine, segment, each.plan, after=after)
            else:
                segment = each.segment  # its pause and marks follow the part before it
                self._ledger.silent(segment.source, each.skipped)
                (self._parts[-1] if self._parts else self._joiner).pass_over(segment.pause_s, segment.marks)
        self._watch()

    def _receive(self, output: Output) -> None:
        """Handle an output of the scheduler, in the event loop."""
        if self.ending is not None or self._error is not None:
            return
        match output:
            case Admitted():
                self._let_in(output)
            case Planned():
                part = next(part for part in self._parts if part.job_id == output.job_id)
                part.utterance = output.utterance
                self._telemetry.recorder.planned(output.at_s, output.took_s, output.utterance.front_end_s)
            case Rendered():
                self._join(self._parts[0], output)
            case Broken():
                self._error = output.error
        self._drop_silent_parts()
        self._settle()

    def _let_in(self, admitted: Admitted) -> None:
        self._admitted, self.degraded = True, admitted.throughput
        now = self._telemetry.admitted()
        self._pipeline.admitted(first_weight_scale=admitted.first_weight_scale, throughput=admitted.throughput)
        if self._options.lead_in_ms:
            self._ready.append(QueuedChunk(self._joiner.lead_in(self._options.lead_in_ms / 1000), now, now))

    def _drop_silent_parts(self) -> None:
        """Record and remove planned parts at the head that have no audio."""
        while self._parts and (utterance := self._parts[0].utterance) and utterance.num_frames == 0:
            self._pass_silent(self._parts.popleft())

    def _join(self, part: SegmentPart, output: Rendered) -> None:
        pauses, sound = self._joiner.join(part, output.samples, output.utterance)
        now, done = self._telemetry.made(output), output.utterance.done
        self._ready += [QueuedChunk(pause, now, part.ready_at_s) for pause in pauses]
        if sound is not None:
            spoken = output.utterance if done else None
            sound_s = len(sound.samples) / self.sample_rate
            self._ready.append(QueuedChunk(sound, now, part.ready_at_s, sound_s, spoken))
        if done:
            self._parts.popleft()
            if sound is None:
                self._pass_silent(part)

    def _pass_silent(self, part: SegmentPart) -> None:
        """Record a part without audio."""
        self._ledger.silent(part.segment.source, part.utterance.skipped if part.utterance else ())
        self._joiner.pass_over(part.asked_s, part.segment.marks + part.marks_after)

    def _close_with_silence(self) -> None:
        """Append the pause and the marks after the last sound."""
        if chunk := self._joiner.end(Span(self._ledger.num_chars, self._ledger.num_chars)):
            now = self._scheduler.clock()
            self._ready.append(QueuedChunk(chunk, now, now))

    def _settle(self) -> None:
        """End the stream if it is complete, and wake all tasks that wait for a change."""
        if self._text_ended and not self._parts and self.ending is None and self._error is None:
            self._close_with_silence()
        if self.ending is None and not self._ready:
            if self._error is not None:
                self._fail(self._error)
            elif self._text_ended and not self._parts:
                coverage, audio_s = self._ledger.coverage(), self._joiner.audio_s
                self._end(Finished(coverage, audio_s, self._pipeline.warnings, self.degraded))
        self._changed.set()
        self._changed = asyncio.Event()
        self._watch()

    def _watch(self) -> None:
        """Set the timer to the earliest timeout."""
        if self.ending is not None:
            return
        idle = self._admitted and not (self._text_ended or self._parts or self._ready)
        self._timer.set(self._timeouts.look(self._loop.time(), idle=idle, offered=bool(self._ready)))

    def _time_out(self) -> None:
        now = self._loop.time()
        if self.ending is not None:
            return
        if self._timeouts.stalled(now):
            self.flush()
        if (error := self._timeouts.late(now)) is not None:
            self._error = error
            self._ready.clear()
            self._fail(error)
        self._settle()

    def _fail(self, error: YuliuError) -> None:
        coverage, audio_s = self._ledger.coverage(), self._joiner.audio_s
        self._end(Failed(error.code, error.message, coverage, audio_s, self.degraded))

    def _end(self, ending: Ending) -> Ending:
        if self.ending is None:
            self.ending = ending
            self._scheduler.close_stream(self._stream_id, cancelled=isinstance(ending, Cancelled))
            self._dropped.detach()
            self._timer.stop()
            self._telemetry.ended()
            self._changed.set()
            if not self._entered:
                self._report(ending)
        return self.ending

    def _report(self, ending: Ending) -> None:
        """Report the stream: at the exit of its block, when all bytes are counted, or at its end without a block."""
        self._telemetry.report(ending, num_characters=self._ledger.num_chars, num_bytes=self.num_bytes)


def _sink(loop: asyncio.AbstractEventLoop, stream: weakref.ref[Stream]) -> Callable[[Output], None]:
    """Return a callback that passes outputs from a worker thread to a stream, without keeping the stream alive."""

    def receive(output: Output) -> None:
        if (receiver := stream()) is not None:
            receiver._receive(output)

    def sink(output: Output) -> None:
        with suppress(RuntimeError):  # the loop was closed before an abandoned stream
            loop.call_soon_threadsafe(receive, output)

    return sink
