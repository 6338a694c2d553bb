"""The stream itself.

A stream belongs to the event loop (asyncio) that made it. It is bounded on both sides: ``push`` waits while
``max_pending`` parts wait to be spoken, and the scheduler stops stepping while the reader does not read. It ends in
exactly one of ``Finished``, ``Failed`` or ``Cancelled``, set when the last chunk has been taken. Its only threads are
the scheduler's, it has one timer at most and no task. Nobody else holds it: one that is dropped is closed.
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
    from yuliu.stream.routes import Route
    from yuliu.stream.telemetry import StreamContext
    from yuliu.stream.text_pipeline import SilentSegment
    from yuliu.stream.timeline import Timeline
    from yuliu.types import Chunk, Ending, Heard


class Stream:
    """Text in, chunks out.

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

    def __init__(self, scheduler: Scheduler, route: Route, options: StreamOptions, around: StreamContext) -> None:
        self.sample_rate: int = options.sample_rate or route.sample_rate
        """Hz, of all chunks."""
        self.ending: Ending | None = None
        """How the stream ended; None while it has not."""
        self.degraded: bool = False
        """Whether it is spoken in whole sentences and larger steps, since much was waiting when it was admitted."""
        self.num_bytes: int = 0
        """Bytes sent of it as encoded; counted by whoever encodes, for the metrics."""
        self._scheduler, self._route, self._options = scheduler, route, options
        self._loop = asyncio.get_running_loop()
        self._ledger = Ledger()
        self._intake = TextPipeline(options, {**around.voices, "": route}, around.words, self._ledger)
        self._parts: deque[SegmentPart] = deque()
        self._ready: deque[QueuedChunk] = deque()
        self._joiner = Joiner(self.sample_rate)
        self._diary = StreamTelemetry(scheduler.clock, options.terms.stream_class, route.voice, around)
        self._patience = StreamTimeouts(options.limits, options.stall_s, self._loop.time())
        self._alarm = StreamTimer(self._loop, self._rung)
        self._text_ended = self._admitted = self._entered = False
        self._error: YuliuError | None = None
        self._changed = asyncio.Event()
        sink = _sink(self._loop, weakref.ref(self))
        self._stream_id = scheduler.open(sink, tuple(dict.fromkeys(route.engines.values())), options.terms)
        self._dropped = weakref.finalize(self, scheduler.abandon, self._stream_id)
        self._dropped.atexit = False
        self._watch()

    async def __aenter__(self) -> Self:
        """The stream itself, once it is admitted.

        Raises:
            Overloaded: The machine cannot carry it now.
        """
        self._entered = True
        try:
            await self.admitted()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Cancel whatever has not ended."""
        self._tell(self.cancel())

    async def admitted(self) -> None:
        """Wait until the stream is carried.

        Raises:
            Overloaded: The machine cannot carry it now.
            Closed: The synthesizer was closed, or the stream was cancelled.
        """
        while not self._admitted:
            if self._error is not None:
                raise self._error
            if self.ending is not None:
                raise Closed("the stream was cancelled before it was admitted")
            await self._changed.wait()

    async def push(self, delta: str) -> None:
        """Give more text, cut anywhere; one delta is always taken whole.

        Waits first until the stream is admitted, and while too much text waits to be spoken, so a writer of many
        deltas needs a reader in another task.

        Raises:
            Closed: The text was ended or the stream is over.
            Overloaded: The machine cannot carry it now.
        """
        self._diary.text()
        self._patience.text_done()  # a writer that is held back here is not stalled
        try:
            if self.ending is None:
                await self.admitted()
            while len(self._parts) > self._options.max_pending and self.ending is None and self._error is None:
                await self._changed.wait()
        finally:
            self._patience.text_came(self._loop.time())
            self._watch()
        if self._text_ended or self.ending is not None:
            raise Closed("the stream takes no more text; open a new one")
        self._give(self._intake.push(delta))

    def configure(
        self,
        *,
        chunking: Chunking | None = None,
        speed: float | None = None,
        lang: str | None = None,
        effects: Effects | None = None,
    ) -> None:
        """Cut or speak otherwise from now on: what has not been cut into a segment so far, and what follows.

        Args:
            chunking: Where the text is cut; None leaves it as it is, here as below.
            speed: 1 is the voice's own pace; from 0.25 to 4.
            lang: Reads the text as this language; ``auto`` decides by script.
            effects: All of what is done to the sound.

        Raises:
            InvalidRequest: The speed is out of its range, the voice does not speak the language, or an effect cannot be
                had.
        """
        self._intake.configure(chunking, speed, lang=lang, effects=effects)

    def flush(self) -> None:
        """Speak what has been pushed as it is, without waiting for what may follow."""
        self._patience.text_done()
        if self.ending is None:
            self._give(self._intake.flush())

    def writer_lost(self) -> None:
        """The connection of who writes is lost, and may come back: what might go on is not spoken meanwhile."""
        self._patience.writer_lost()

    def writer_back(self) -> None:
        """He is there again; pending text waits for more from now on."""
        self._patience.writer_back(self._loop.time())
        self._watch()

    async def end(self) -> None:
        """No more text will come. The chunks that are left can still be read."""
        if not self._text_ended:
            self.flush()
            self._text_ended = True
            self._scheduler.end_text(self._stream_id)
            self._settle()

    def played(self, position_s: float) -> None:
        """The listener has heard so much of the stream's audio, seconds; what was not taken does not count.

        Tell it now and then: the stream is then made just as far ahead as it has to be, and its ending knows what was
        heard. A listener never goes back.

        Raises:
            InvalidRequest: It is less than 0, or no number.
        """
        made_s = self._diary.hearing.played(position_s)
        if self.ending is None:
            self._scheduler.played(self._stream_id, made_s)

    def heard(self) -> Heard | None:
        """How far the listener has come by what :meth:`played` was told last, also after the end; None if nothing."""
        return self._diary.hearing.heard()

    def cancel(self, position_s: float | None = None) -> Ending:
        """Stop at once: nothing more is made, and chunks not yet taken are dropped. No chunk is given after it.

        Args:
            position_s: How much the listener has heard, seconds, if that is known; as :meth:`played`.

        Returns:
            The stream's ending, which is an earlier one if it had ended before. :meth:`heard` is right in any case.
        """
        if position_s is not None:
            self._diary.hearing.played(position_s)
        if self.ending is not None:
            return self.ending
        self._ready.clear()
        coverage, delivered_s = self._ledger.coverage(), self._diary.hearing.delivered_s
        return self._end(Cancelled(coverage, self._joiner.audio_s, delivered_s, self.heard(), self.degraded))

    @property
    def waits_for(self) -> Literal["text", "sound"]:
        """What the next chunk waits for: ``text`` where nothing that was pushed and is not spoken is certain enough to
        be; ``sound`` where it is the machine's turn, or a chunk is there to be taken. Means nothing after the end."""
        at_work = not self._admitted or self._parts or self._ready or self._text_ended
        return "sound" if at_work else "text"

    @property
    def timeline(self) -> Timeline:
        """What has happened when, so far."""
        return self._diary.trace.line

    def __aiter__(self) -> Self:
        """The chunks, in order."""
        return self

    async def __anext__(self) -> Chunk:
        """The next chunk.

        Raises:
            SynthesisFailed: An engine failed; what it had made before has been given.
            TimedOut: One of the stream's limits was met.
            Overloaded: The machine cannot carry it now.
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
        self._patience.taken()
        self._diary.taken(ready, waited=waited)
        self._scheduler.taken(self._stream_id, ready.made_s)
        if ready.spoken is not None:
            self._ledger.spoken(ready.spoken.segment.source, ready.spoken.skipped)
        self._settle()
        return ready.chunk

    def _give(self, found: Iterable[SpokenPart | SilentSegment]) -> None:
        """Take parts of the text to the scheduler, or on account."""
        for each in found:
            if isinstance(each, SpokenPart):
                each.part.ready_at_s = self._diary.segment()
                self._parts.append(each.part)
                after = After(each.part.pace, each.part.most_held_s(self.sample_rate))
                segment, stream_id = each.part.segment, self._stream_id
                each.part.job_id = self._scheduler.submit(stream_id, each.engine, segment, each.plan, after=after)
            else:
                segment = each.segment  # its pause and marks go with the part before it
                self._ledger.silent(segment.source, each.skipped)
                (self._parts[-1] if self._parts else self._joiner).pass_over(segment.pause_s, segment.marks)
        self._watch()

    def _receive(self, output: Output) -> None:
        """What the scheduler says, on the loop."""
        if self.ending is not None or self._error is not None:
            return
        match output:
            case Admitted():
                self._let_in(output)
            case Planned():
                part = next(part for part in self._parts if part.job_id == output.job_id)
                part.utterance = output.utterance
                self._diary.trace.planned(output.at_s, output.took_s, output.utterance.front_end_s)
            case Rendered():
                self._join(self._parts[0], output)
            case Broken():
                self._error = output.error
        self._drop_silent_parts()
        self._settle()

    def _let_in(self, admitted: Admitted) -> None:
        self._admitted, self.degraded = True, admitted.throughput
        now = self._diary.admitted()
        self._intake.admitted(first_weight_scale=admitted.first_weight_scale, throughput=admitted.throughput)
        if self._options.lead_in_ms:
            self._ready.append(QueuedChunk(self._joiner.lead_in(self._options.lead_in_ms / 1000), now, now))

    def _drop_silent_parts(self) -> None:
        """Parts at the head that turned out to have no sound are accounted for and forgotten."""
        while self._parts and (utterance := self._parts[0].utterance) and utterance.num_frames == 0:
            self._pass_silent(self._parts.popleft())

    def _join(self, part: SegmentPart, output: Rendered) -> None:
        pauses, sound = self._joiner.join(part, output.samples, output.utterance)
        now, done = self._diary.made(output), output.utterance.done
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
        """A part turned out to have no sound."""
        self._ledger.silent(part.segment.source, part.utterance.skipped if part.utterance else ())
        self._joiner.pass_over(part.asked_s, part.segment.marks + part.marks_after)

    def _close_with_silence(self) -> None:
        """What was asked for after the last sound: a pause, marks."""
        if chunk := self._joiner.end(Span(self._ledger.num_chars, self._ledger.num_chars)):
            now = self._scheduler.clock()
            self._ready.append(QueuedChunk(chunk, now, now))

    def _settle(self) -> None:
        """End the stream if nothing is left to come or to be taken; wake whoever waits for a change."""
        if self._text_ended and not self._parts and self.ending is None and self._error is None:
            self._close_with_silence()
        if self.ending is None and not self._ready:
            if self._error is not None:
                self._fail(self._error)
            elif self._text_ended and not self._parts:
                coverage, audio_s = self._ledger.coverage(), self._joiner.audio_s
                self._end(Finished(coverage, audio_s, self._intake.warnings, self.degraded))
        self._changed.set()
        self._changed = asyncio.Event()
        self._watch()

    def _watch(self) -> None:
        """Set the timer for what will have been waited for too long first."""
        if self.ending is not None:
            return
        idle = self._admitted and not (self._text_ended or self._parts or self._ready)
        self._alarm.set(self._patience.look(self._loop.time(), idle=idle, offered=bool(self._ready)))

    def _rung(self) -> None:
        now = self._loop.time()
        if self.ending is not None:
            return
        if self._patience.stalled(now):
            self.flush()
        if (error := self._patience.late(now)) is not None:
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
            self._alarm.stop()
            self._diary.ended()
            self._changed.set()
            if not self._entered:
                self._tell(ending)
        return self.ending

    def _tell(self, ending: Ending) -> None:
        """When its block is left, so that its door has counted all bytes; without a block when it ends."""
        self._diary.tell(ending, num_characters=self._ledger.num_chars, num_bytes=self.num_bytes)


def _sink(loop: asyncio.AbstractEventLoop, stream: weakref.ref[Stream]) -> Callable[[Output], None]:
    """Takes the scheduler's outputs, on a worker's thread, to a stream that it does not keep alive."""

    def receive(output: Output) -> None:
        if (receiver := stream()) is not None:
            receiver._receive(output)

    def sink(output: Output) -> None:
        with suppress(RuntimeError):  # the loop was closed under an abandoned stream: nobody is left to listen
            loop.call_soon_threadsafe(receive, output)

    return sink
