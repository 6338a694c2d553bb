"""One stream: deltas -> reader -> segmenter -> scheduler -> joined chunks. The only place where the parts are composed.

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

from yuliu.audio.join import silences
from yuliu.coverage import Ledger
from yuliu.engines.api import PlanOptions
from yuliu.errors import Closed, InvalidRequest, Overloaded
from yuliu.joiner import Joiner, Part
from yuliu.scheduler.events import Terms
from yuliu.scheduler.worker import Admitted, Broken, Planned, Rendered
from yuliu.segmenter import Segmenter, SegmenterOptions, split_segment
from yuliu.text.lexicon import Words
from yuliu.text.reader import Reader, ReaderOptions
from yuliu.types import Cancelled, Failed, Finished, Skipped, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from yuliu.engines.api import Utterance
    from yuliu.errors import SynthesisFailed
    from yuliu.scheduler.worker import Output, Scheduler
    from yuliu.text.lexicon import Entry
    from yuliu.text.reader import Event
    from yuliu.types import Chunk, Ending, Lang, Segment

MAX_PENDING_PARTS = 16
"""Parts of text that may wait to be spoken before ``push`` waits."""
MIN_SPEED, MAX_SPEED = 0.25, 4.0
NO_WORDS = Words()
NO_VOICE = "a voice that is not loaded was asked for; the stream's own voice spoke instead"
NO_PITCH = "pitch was asked for; no voice can change it"


@dataclass(frozen=True, slots=True)
class Route:
    """Which engine of the scheduler speaks which language, for one voice."""

    engines: Mapping[Lang, str]
    sample_rate: int
    """Hz, the same for all engines."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is cut and spoken."""

    speak: SpeakOptions = field(default_factory=SpeakOptions)
    segmenter: SegmenterOptions = field(default_factory=SegmenterOptions)
    reader: ReaderOptions = field(default_factory=ReaderOptions)
    stall_s: float = 0.5
    """Text that might go on is spoken as it is when nothing came for so long, seconds."""
    terms: Terms = field(default_factory=Terms)
    """How urgent it is, and how far ahead of its listener it is made."""
    lexicon: tuple[str, ...] = ()
    """Names of lexicons, the strongest last; they are stronger than ``default``, which always holds."""
    lexicon_entries: tuple[Entry, ...] = ()
    """Entries that hold for this stream only, stronger than all lexicons."""

    def __post_init__(self) -> None:
        """Reject what no engine can do, before anything is opened."""
        if not MIN_SPEED <= self.speak.speed <= MAX_SPEED:
            raise InvalidRequest(
                f"speed must be from {MIN_SPEED} to {MAX_SPEED}, not {self.speak.speed}", param="speed"
            )


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

    def __init__(
        self,
        scheduler: Scheduler,
        route: Route,
        options: StreamOptions,
        voices: Mapping[str, Route] | None = None,
        words: Words = NO_WORDS,
    ) -> None:
        """``voices``: those that the text may switch to, at the same sample rate. ``words``: how to say its words."""
        self.sample_rate: int = route.sample_rate
        """Hz, of all chunks."""
        self.ending: Ending | None = None
        """How the stream ended; None while it has not."""
        self._scheduler = scheduler
        self._route = route
        self._voices = voices or {}
        self._words = words
        self._options = options
        self._reader = Reader(options.reader, languages=tuple(route.engines))
        self._segmenter = Segmenter(options.segmenter)
        self._loop = asyncio.get_running_loop()
        self._parts: deque[Part] = deque()
        self._ready: deque[_Ready] = deque()
        self._ledger = Ledger()
        self._joiner = Joiner(route.sample_rate)
        self._warnings: dict[str, None] = {}
        self._text_ended = False
        self._error: SynthesisFailed | Closed | Overloaded | None = None
        self._admitted = False
        self._changed = asyncio.Event()
        self._stall: asyncio.TimerHandle | None = None
        engines = tuple(dict.fromkeys(route.engines.values()))
        self._stream_id = scheduler.open(self._from_lane, engines, options.terms)

    async def __aenter__(self) -> Self:
        """The stream itself, once it is admitted.

        Raises:
            Overloaded: The machine cannot carry it now.
        """
        try:
            await self.admitted()
        except BaseException:
            self.cancel()
            raise
        return self

    async def admitted(self) -> None:
        """Wait until the stream is carried.

        Raises:
            Overloaded: The machine cannot carry it now.
            Closed: The speaker was closed.
        """
        while not self._admitted:
            if self._error is not None:
                raise self._error
            if self.ending is not None:
                raise Closed("the stream was cancelled before it was admitted")
            await self._changed.wait()

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
        try:
            while len(self._parts) > MAX_PENDING_PARTS and self.ending is None and self._error is None:
                await self._changed.wait()
        finally:
            self._stall = self._loop.call_later(self._options.stall_s, self.flush)
        if self._text_ended or self.ending is not None:
            raise Closed("the stream takes no more text; open a new one")
        self._ledger.received(len(delta))
        self._read(self._reader.push(delta))

    def flush(self) -> None:
        """Speak what has been pushed as it is, without waiting for what may follow."""
        if self.ending is None:
            self._read(self._reader.flush())
            self._submit(self._segmenter.flush())

    async def end(self) -> None:
        """No more text will come. The chunks that are left can still be read."""
        if not self._text_ended:
            self.flush()
            self._text_ended = True
            self._scheduler.end_text(self._stream_id)
            self._settle()

    def cancel(self) -> Ending:
        """Stop at once: nothing more is made, and chunks not yet taken are dropped.

        Returns:
            The stream's ending, which is an earlier one if it had ended before.
        """
        self._ready.clear()
        return self._end(Cancelled(self._ledger.coverage(), self._joiner.audio_s))

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

    def _stop_watching(self) -> None:
        if self._stall is not None:
            self._stall.cancel()

    def _read(self, events: Iterable[Event]) -> None:
        """Take what the reader made of the text to the segmenter."""
        for event in events:
            if isinstance(event, Skipped):
                self._ledger.left_out(event)
            self._submit(self._segmenter.take(event))

    def _submit(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            if not segment.text or (segment.text.isspace() and segment.pause_s is not None):
                self._pass(segment, [])
                continue
            route = self._route_of(segment)
            languages = tuple(route.engines)
            for part in split_segment(self._words.apply(segment, languages), languages):
                if part.lang is None:
                    self._pass(part, [Skipped(part.source, "language_not_spoken")])
                else:
                    self._submit_part(part, route.engines[part.lang])

    def _route_of(self, segment: Segment) -> Route:
        style = segment.style
        if style.pitch_semitones:
            self._warnings[NO_PITCH] = None
        if style.voice is None or style.voice in self._voices:
            return self._voices.get(style.voice or "", self._route)
        self._warnings[NO_VOICE] = None
        return self._route

    def _submit_part(self, segment: Segment, engine: str) -> None:
        speed = min(max(self._options.speak.speed * segment.style.rate, MIN_SPEED), MAX_SPEED)
        wanted = silences(segment.boundary, speed)
        tail_s = wanted.tail_s if segment.pause_s is None else min(wanted.tail_s, segment.pause_s)
        self._parts.append(Part(segment, wanted.pause_s, segment.pause_s))
        plan = PlanOptions(replace(self._options.speak, speed=speed), lead_s=wanted.lead_s, tail_s=tail_s)
        self._scheduler.submit(self._stream_id, engine, segment, plan)

    def _pass(self, segment: Segment, skipped: Sequence[Skipped]) -> None:
        """A segment without sound: its pause and marks go with the part before it."""
        self._ledger.silent(segment.source, skipped)
        (self._parts[-1] if self._parts else self._joiner).pass_over(segment.pause_s, segment.marks)

    def _from_lane(self, output: Output) -> None:
        """The scheduler's sink: called on a lane's thread."""
        with suppress(RuntimeError):  # the loop was closed under an abandoned stream: nobody is left to listen
            self._loop.call_soon_threadsafe(self._receive, output)

    def _receive(self, output: Output) -> None:
        if self.ending is not None or self._error is not None:
            return
        match output:
            case Admitted():
                self._admitted = True
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
            part = self._parts.popleft()
            self._joiner.pass_over(part.asked_s, part.segment.marks + part.marks_after)

    def _join(self, part: Part, output: Rendered) -> None:
        pauses, sound = self._joiner.join(part, output.samples, output.utterance)
        self._ready += [_Ready(pause, 0.0, None) for pause in pauses]
        made_s = len(output.samples) / self.sample_rate
        self._ready.append(_Ready(sound, made_s, output.utterance if output.utterance.done else None))
        if output.utterance.done:
            self._parts.popleft()

    def _close_with_silence(self) -> None:
        """What was asked for after the last sound: a pause, marks."""
        if chunk := self._joiner.end(Span(self._ledger.num_chars, self._ledger.num_chars)):
            self._ready.append(_Ready(chunk, 0.0, None))

    def _settle(self) -> None:
        """End the stream if nothing is left to come or to be taken; wake whoever waits for a change."""
        if self._text_ended and not self._parts and self.ending is None and self._error is None:
            self._close_with_silence()
        if self.ending is None and not self._ready:
            if self._error is not None:
                self._end(Failed(self._error.code, self._error.message, self._ledger.coverage(), self._joiner.audio_s))
            elif self._text_ended and not self._parts:
                warnings = (*self._reader.warnings, *self._warnings)
                self._end(Finished(self._ledger.coverage(), self._joiner.audio_s, warnings))
        self._changed.set()
        self._changed = asyncio.Event()

    def _end(self, ending: Ending) -> Ending:
        if self.ending is None:
            self.ending = ending
            self._scheduler.close_stream(self._stream_id)
            self._stop_watching()
            self._changed.set()
        return self.ending
