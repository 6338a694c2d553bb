"""A stream that outlives its connection: text in, encoded sound and messages into a window, sent by whoever is there.

It has a task of its own. Sound is taken from the session only when all before was sent, so that a reader that does not
read, or is gone, stops its own stream and nothing else.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

from yuliu.errors import Closed, YuliuError
from yuliu.logger import Fixed, event_logger
from yuliu.server.native.commands import CommandQueue
from yuliu.server.native.first_sound import FirstSound
from yuliu.server.native.underrun import UnderrunWatch
from yuliu.server.native.words import spoken_words
from yuliu.stream import check_lang
from yuliu.types import Cancelled, Failed, Finished, Span
from yuliu.wire.encoding import encoding_asked_for
from yuliu.wire.native import messages as said

if TYPE_CHECKING:
    from yuliu.server.capacity import Capacity
    from yuliu.server.encoder_pool import EncoderPool, StreamEncoder
    from yuliu.server.principal import Principal
    from yuliu.stream import Caller, Stream, StreamOptions
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Chunk, Ending
    from yuliu.wire.native.messages import ForText
    from yuliu.wire.native.replay_buffer import ReplayBuffer

_log = event_logger(__name__)


class MessageSink(Protocol):
    """Where the stream is sent."""

    def wake(self) -> None:
        """There is something to be sent."""
        ...

    def lost(self, stream: ResumableStream) -> None:
        """Another connection has taken the stream over."""
        ...


class _Fault(YuliuError):
    """A fault of ours that no error class describes."""

    code = "internal_error"


class ResumableStream:
    """One stream of the native protocol.

    Args:
        start: What was asked for.
        synthesizer: Speaks.
        voice: Who.
        options: How.
        caller: Who asked; the id is what the client resumes with.
        max_characters: Of its text.
        window: Where it keeps what is to be sent, and was.
        rooms: Bounds that all share.
        threads: Where sound is encoded.
        guest: Whose it is.

    Raises:
        InvalidRequest: The sound cannot be had as asked for.
        Overloaded: There are too many streams.
    """

    def __init__(  # noqa: PLR0913 - what it is made of
        self,
        start: said.Start,
        *,
        synthesizer: Synthesizer,
        voice: str,
        options: StreamOptions,
        caller: Caller,
        max_characters: int,
        window: ReplayBuffer,
        rooms: Capacity,
        threads: EncoderPool,
        guest: Principal,
    ) -> None:
        self.start = start
        self.stream_id = caller.stream_id
        self.guest = guest
        """Whose it is."""
        self.window = window
        """What is to be sent, and what is kept of what was."""
        self.has_sound = False  # a lead-in alone is none
        self.ending: Ending | None = None
        self._synthesizer, self._voice, self._options, self._caller = synthesizer, voice, options, caller
        languages = synthesizer.languages(voice)
        check_lang(options.lang, languages)
        sound = start.sound
        self._encoding = encoding_asked_for(
            sound.format,
            synthesizer.sample_rate,
            field="format",
            sample_rate=sound.sample_rate,
            channels=sound.channels,
            kbps=sound.kbps,
        )
        self._threads = threads
        self._stream: Stream | None = None
        self._outlet: MessageSink | None = None
        self._sent, self._cancelled = asyncio.Event(), False
        self._source, self._made_s = Span(0, 0), 0.0
        self._first_sound = FirstSound() if start.times else None
        self._dryness, self._stalled = UnderrunWatch(asyncio.get_running_loop(), self._dry), False
        self._failure: said.Failure | None = None
        with ExitStack() as held:
            held.enter_context(guest.stream())
            held.enter_context(rooms.stream(options.terms.stream_class))
            room = held.enter_context(rooms.body(options.terms.stream_class))
            self._held = held.pop_all()
        self._inbox = CommandQueue(max_characters, options.effects, languages, guest=guest, room=room)
        self.task = asyncio.create_task(self._run())
        self.task.add_done_callback(self._over)

    # What the connection asks for.

    def attach(self, outlet: MessageSink) -> None:
        """From now on it is sent there."""
        before, self._outlet = self._outlet, outlet
        if before is not None:
            before.lost(self)
        if self._stream is not None:
            self._stream.writer_back()

    def detach(self, outlet: MessageSink) -> None:
        """It is not sent there any more."""
        if self._outlet is outlet:
            self._outlet = None
            if self._stream is not None:
                self._stream.writer_lost()

    @property
    def attached(self) -> bool:
        """Whether it is sent anywhere."""
        return self._outlet is not None

    @property
    def num_characters(self) -> int:
        """Of the text, as it arrived."""
        return self._inbox.num_characters

    @property
    def text_ended(self) -> bool:
        """Whether no more text may come."""
        return self._inbox.text_ended

    def take(self, message: ForText) -> None:
        """What is to be done with the text, in order.

        Raises:
            InvalidRequest: What is to be changed is wrong; nothing is changed.
        """
        if isinstance(message, said.Config):
            self._inbox.check(message)
        try:
            self._inbox.put(message)
        except YuliuError as error:
            self.fail(error)

    def played(self, position_ms: float) -> None:
        """The listener has heard so much."""
        if self._stream is None:
            return
        position_s = min(position_ms, self.window.sent_ms) / 1000
        self._stream.played(position_s)
        self._dryness.left(self.window.sent_ms / 1000 - position_s)

    def cancel(self, position_ms: float | None = None) -> said.CancelAck:
        """Stop at once; nothing more is to be sent."""
        self._cancelled = True
        self._dryness.quiet()
        self.window.drop_unsent()
        position_s = None if position_ms is None else min(position_ms, self.window.sent_ms) / 1000
        ending: Ending = self.ending or Cancelled()
        heard = None
        if self._stream is not None:
            ending, heard = self._stream.cancel(position_s), self._stream.heard()
        else:
            self.task.cancel()
        self._sent.set()
        return said.CancelAck(
            seq=self.window.num_messages,
            spoken=ending.coverage.spoken,
            skipped=said.skipped_rows(ending.coverage),
            failed=ending.coverage.failed,
            audio_ms=1000 * ending.audio_s,
            delivered_ms=self.window.sent_ms,
            num_bytes=self.window.num_sent_bytes,
            heard_ms=None if heard is None else 1000 * heard.heard_s,
            heard_source_end=None if heard is None else heard.source_end,
        )

    def fail(self, error: YuliuError) -> None:
        """End it with an error, after what is sent so far."""
        if self._failure is not None or self._cancelled:
            return
        ending = self._stream.cancel() if self._stream is not None else Cancelled()
        self._tell_failure(error, ending)
        if self._stream is None:
            self.task.cancel()
        self._sent.set()

    def all_sent(self) -> None:
        """The window holds nothing more that is to be sent."""
        self._sent.set()

    # Its own task.

    async def _run(self) -> None:
        try:
            words = await asyncio.to_thread(self._synthesizer.words, self._options)
            with self._threads.sound(self._encoding, self._synthesizer.sample_rate) as sound:
                self._stream = self._synthesizer.stream(
                    voice=self._voice, options=self._options, words=words, caller=self._caller
                )
                if not self.attached:
                    self._stream.writer_lost()
                await self._speak(self._stream, sound)
        except YuliuError as error:
            self._tell_failure(error, self._stream.ending if self._stream else None)
        finally:
            self._dryness.quiet()
            self._finish_account()

    async def _speak(self, stream: Stream, sound: StreamEncoder) -> None:
        async with stream:
            self._tell(self._started(stream))
            writing = asyncio.create_task(self._write(stream))
            try:
                await self._make(stream, sound)
            finally:
                writing.cancel()
                await asyncio.wait([writing])
        if isinstance(stream.ending, Finished) and not self._cancelled and self._failure is None:
            if stream.ending.audio_s:  # a container without sound would be taken for an answer
                self._add(await sound.finish(), stream)
            self._tell(self._done(stream.ending))

    async def _write(self, stream: Stream) -> None:
        """Do with the text what was asked for, in order."""
        try:
            await self._inbox.empty_into(stream)
        except Closed:
            return  # it is over, and said so
        except YuliuError as error:
            self.fail(error)

    async def _make(self, stream: Stream, sound: StreamEncoder) -> None:
        """Take sound, say what it is, encode it, and wait until it is sent."""
        async for chunk in stream:
            self._announce(chunk)
            data = b"".join([await sound.write(piece) for piece in sound.pieces(chunk.samples)])
            if self._cancelled or self._failure is not None:
                return
            self._add(data, stream)
            await self._until_sent()
            self._dryness.sent(len(chunk.samples) / chunk.sample_rate)

    def _add(self, data: bytes, stream: Stream) -> None:
        stream.num_bytes += len(data)
        self._sent.clear()
        if self._first_sound and data:
            self._first_sound.encoded(stream.timeline)
        until_ms = 1000 * (stream.ending.audio_s if stream.ending else self._made_s)
        self.window.add_sound(data, until_ms)
        self._wake()

    async def _until_sent(self) -> None:
        while self.window.has_unsent and not self._cancelled and self._failure is None:
            self._sent.clear()
            await self._sent.wait()

    def _announce(self, chunk: Chunk) -> None:
        """Say which part of the text a chunk begins to speak, if it begins one."""
        self._dryness.quiet()
        self._made_s = chunk.start_s + len(chunk.samples) / chunk.sample_rate
        self.has_sound |= len(chunk.samples) > 0 and not chunk.lead_in
        if self._stalled:
            self._stalled = False
            self._tell(said.Resumed(audio_ms=1000 * chunk.start_s))
        is_sound = bool(chunk.timings) or (len(chunk.samples) > 0 and bool(chunk.samples.any()))
        if is_sound and chunk.source != self._source:
            self._source = chunk.source
            words, (start, end) = spoken_words(chunk.timings), chunk.source
            self._tell(said.SegmentBegun(start=start, end=end, at_ms=1000 * chunk.start_s, spoken=words))
            if chunk.timings and self.start.timings:
                self._tell(said.Timings(rows=said.timing_rows(chunk.timings)))
        if chunk.marks:
            self._tell(said.Marks(rows=said.mark_rows(chunk.marks)))

    def _dry(self) -> None:
        if self._stream is None or self._stream.ending is not None:
            return
        if self.attached and not (self._stalled or self.window.has_unsent or self._cancelled):
            self._stalled = True
            self._tell(said.Stalled(audio_ms=self.window.sent_ms, waits_for=self._stream.waits_for))

    def _tell(self, message: said.Told) -> None:
        if not self._cancelled:
            self.window.tell(message)
            self._wake()

    def _tell_failure(self, error: YuliuError, ending: Ending | None) -> None:
        """What the client is told of an error that ends the stream, once."""
        if self._failure is not None or self._cancelled:
            return
        self._failure = said.failure_of(error, ends="context", ending=ending)
        self._tell(self._failure)

    def _started(self, stream: Stream) -> said.Started:
        return said.Started(
            stream=self.stream_id,
            voice=self._voice,
            format=self._encoding.name,
            media_type=self._encoding.media_type,
            sample_rate=self._encoding.sample_rate,
            channels=self._encoding.num_channels,
            mode="throughput" if stream.degraded else "normal",
            resume_s=self.start.resume_s,
        )

    def _done(self, ending: Finished) -> said.Done:
        return said.Done(
            spoken=ending.coverage.spoken,
            skipped=said.skipped_rows(ending.coverage),
            failed=ending.coverage.failed,
            audio_ms=1000 * ending.audio_s,
            num_bytes=self.window.num_bytes,
            num_characters=self.num_characters,
            degraded=ending.degraded,
            warnings=ending.warnings,
            times=self._first_sound.times if self._first_sound else None,
        )

    def _finish_account(self) -> None:
        """The stream is over: one line in the log, never the text."""
        found = self._stream.ending if self._stream is not None else None
        self.ending = found or (Failed(self._failure.code, "") if self._failure else Cancelled())
        _log.info(
            "stream",
            id=self.stream_id,
            voice=self._voice,
            format=self._encoding.name,
            characters=self.num_characters,
            **{"class": self._options.terms.stream_class.value},
            audio_s=Fixed(self.ending.audio_s, 3),
            bytes=self.window.num_sent_bytes,
            ending=self._failure.code if self._failure else type(self.ending).__name__.lower(),
        )

    def _over(self, task: asyncio.Task[None]) -> None:
        self._held.close()
        if self.ending is None:
            self.ending = Cancelled()  # its task was cancelled before it ran
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("stream_failed", id=self.stream_id, exc_info=error)
            self._tell_failure(_Fault("the server failed; its log says where, under the id of the stream"), self.ending)

    def _wake(self) -> None:
        if self._outlet is not None:
            self._outlet.wake()
