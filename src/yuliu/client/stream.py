"""One conversation of a client: text in, chunks and events out, as the library's own streams have it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, Unpack

from yuliu.client.decode import ChunkDecoder, EncodedSound
from yuliu.client.errors import ConnectionLost, error_of
from yuliu.client.resend_buffer import ResendBuffer
from yuliu.errors import Closed, YuliuError
from yuliu.types import Cancelled, Coverage, Failed, Finished, Heard
from yuliu.wire.native import messages as said
from yuliu.wire.native.client_codec import request_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from yuliu.client.decode import Event
    from yuliu.client.fields import ConfigFields
    from yuliu.types import Chunk, Ending

MAX_UNREAD_BYTES = 4 * 1024 * 1024
"""Sound that a stream may leave unread before its connection is not read: 87 s at 24 kHz."""


class Wire(Protocol):
    """What a stream needs of its connection."""

    async def send(self, text: str) -> bool:
        """Send a frame; whether there was a connection."""
        ...


class Opener(Protocol):
    """What a stream needs of its client."""

    async def enter(self, stream: ClientStream) -> None:
        """Connect, and begin to send what it says."""
        ...

    def leave(self, stream: ClientStream) -> None:
        """It is over."""
        ...


class ClientStream:
    """One stream of :class:`AsyncClient`: enter it with ``async with``; one task reads.

    Args:
        client: Its client.
        context: Its name on the connection.
        start: The fields of its ``start``.
    """

    def __init__(self, client: Opener, context: str, start: dict[str, object]) -> None:
        self.context: str = context
        self.started: said.Started | None = None
        """What the server says of it, once it is carried."""
        self.ending: Ending | None = None
        """How it ended, once it has."""
        self.done: said.Done | None = None
        """The server's account of a stream that was finished."""
        self.num_bytes: int = 0
        """Of sound, that were received."""
        self.num_resumed: int = 0
        """How often it went on after a drop."""
        self.entered_at_s: float | None = None
        """When it was asked for, seconds of ``time.monotonic``."""
        self.first_sound_at_s: float | None = None
        """When the first sound was received."""
        self._client = client
        self._line: Wire | None = None
        self._start = request_text("start", context, **start)
        self._outbox = ResendBuffer()
        self._sending = asyncio.Lock()
        self._attached = False  # whether the server listens to what is said of it there
        self._num_turned_away = 0
        self._next_seq = 0
        self._cancel_text: str | None = None  # as long as it is not sent
        self._cancel_again = ""
        self._answer: asyncio.Future[Cancelled] | None = None
        self._events: deque[Event] = deque()
        self._num_unread = 0
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._error: YuliuError | None = None
        self._refused: YuliuError | None = None
        self._over = self._left = False

    async def __aenter__(self) -> ClientStream:
        """Connect if need be, and ask for the stream; its sound may be read at once."""
        self.entered_at_s = time.monotonic()
        await self._client.enter(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel it if it is not over."""
        try:
            if self.ending is None:
                with suppress(YuliuError):
                    await self.cancel()
        finally:
            self._left = True
            self._close(ConnectionLost("the stream was left"))
            self._client.leave(self)

    # What the caller says.

    async def push(self, text: str) -> None:
        """More text, cut anywhere.

        Raises:
            Closed: Its text was ended, or the stream is over.
            InvalidRequest: What was said before was refused, and not done; nor is this.
            YuliuError: What ended it.
        """
        self._check_open()
        self._outbox.text(text)
        await self._pump()

    async def flush(self) -> None:
        """Speak what was pushed as it is, without waiting for what may follow. Raises as :meth:`push` does."""
        await self._say("flush")

    async def configure(self, **fields: Unpack[ConfigFields]) -> None:
        """Cut or speak otherwise from now on. Raises as :meth:`push` does."""
        await self._say("config", **{name: value for name, value in fields.items() if value is not None})

    async def end(self) -> None:
        """No more text will come. Raises as :meth:`push` does."""
        await self._say("end")

    async def played(self, position_s: float) -> None:
        """Tell how much the listener has heard, seconds of the stream's sound."""
        if self._attached and self._line is not None and not self._over:
            await self._line.send(request_text("playback", self.context, position_ms=1000 * position_s))

    async def cancel(self, position_s: float | None = None) -> Cancelled:
        """Stop at once, also after it was finished; nothing is given to its reader any more.

        Args:
            position_s: How much the listener has heard, seconds, if that is known.

        Raises:
            Closed: The stream was left.
            YuliuError: What has ended the stream before; or the answer was lost, with the connection.
        """
        if self._error is not None:
            raise self._error
        if self._answer is None:
            if self._left:
                raise Closed("the stream was left: what was heard of it cannot be told any more")
            self._answer = asyncio.get_running_loop().create_future()
            position_ms = None if position_s is None else 1000 * position_s
            self._cancel_again = request_text("cancel", self.context, position_ms=position_ms)
            self._cancel_text = self._cancel_again
            self._events.clear()
            self._read(0)
            self._news.set()
            await self._pump()
            if self._over and not self._attached:
                await self._reattach()
        return await asyncio.shield(self._answer)

    async def _reattach(self) -> None:
        """It was over when the connection was lost, so that nobody has made another for it."""
        try:
            await self._client.enter(self)
        except YuliuError as error:
            self._close(error)

    async def _say(self, kind: str, **values: object) -> None:
        self._check_open()
        request_text(kind, self.context, **values)  # before it is kept
        self._outbox.say(kind, **values)
        await self._pump()

    def _check_open(self) -> None:
        if self._error is not None:
            raise self._error
        if self._outbox.ended or self._over or self._answer is not None:
            raise Closed("the text of this stream was ended")
        refused, self._refused = self._refused, None
        if refused is not None:
            raise refused

    async def _pump(self) -> None:
        """Send what is to be sent, in order, as long as there is a connection."""
        async with self._sending:
            while self._attached and (line := self._line) is not None:
                text = self._next_text()
                if text is None:
                    return
                if not await line.send(text) and self._line is line:  # else it goes on on another meanwhile
                    self._attached = False

    def _next_text(self) -> str | None:
        if self._answer is not None:
            text, self._cancel_text = self._cancel_text, None
            return text
        item = self._outbox.next()
        return None if item is None else request_text(item.kind, self.context, **item.fields)

    # What its reader gets.

    async def events(self) -> AsyncIterator[Event]:
        """All that is told of it, in order, until it is over.

        Raises:
            YuliuError: What ended it before its time.
        """
        while True:
            while self._events:
                event = self._events.popleft()
                if isinstance(event, EncodedSound):
                    self._read(self._num_unread - len(event.data))
                yield event
            if self._error is not None:
                raise self._error
            if self._over or self._answer is not None:
                return
            self._news.clear()
            await self._news.wait()

    async def chunks(self) -> AsyncIterator[Chunk]:
        """Its sound as chunks; what ``async for chunk in stream`` gives. Raises as :meth:`events` does."""
        made = ChunkDecoder()
        async for event in self.events():
            chunk = made.receive(event)
            if chunk is not None:
                yield chunk
        last = made.finish()
        if last is not None and self._answer is None:
            yield last

    def __aiter__(self) -> AsyncIterator[Chunk]:
        """As :meth:`chunks`."""
        return self.chunks()

    def _read(self, num_unread: int) -> None:
        self._num_unread = num_unread
        if num_unread <= MAX_UNREAD_BYTES:
            self._room.set()

    # What its client tells it.

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self._over

    @property
    def is_waiting(self) -> bool:
        """Whether anything more may come of it, be it the answer to a ``cancel``."""
        return not self._over or (self._answer is not None and not self._answer.done())

    @property
    def has_line(self) -> bool:
        """Whether it is carried by a connection that is not known to be lost."""
        return self._line is not None

    async def connected(self, line: Wire) -> None:
        """There is a new connection: start, or go on where it was."""
        if not self.is_waiting:
            return
        self._line = line
        self._ask_again()
        if self.started is None:
            self._outbox.rewind()
            was_sent = await line.send(self._start)
            self._attached = was_sent and self._line is line
            await self._pump()
        else:
            place = {"stream": self.started.stream, "offset": self.num_bytes, "seq": self._next_seq}
            await line.send(request_text("resume", self.context, **place))

    def dropped(self) -> None:
        """Its connection does not carry it any more."""
        self._line = None
        self._attached = False

    def turned_away(self) -> int:
        """A server that stops did not begin it; how often that was so."""
        self._num_turned_away += 1
        return self._num_turned_away

    async def room(self) -> None:
        """Wait until its reader has read."""
        while self._num_unread > MAX_UNREAD_BYTES and not self._over and self._answer is None:
            self._room.clear()
            await self._room.wait()

    async def continued(self, message: said.Continued) -> None:
        """It goes on; say again what did not arrive."""
        if message.offset != self.num_bytes:
            self.lost("the server goes on at another place of the sound")
            return
        self.num_resumed += 1
        self._outbox.rewind(message.num_characters, text_ended=message.text_ended)
        self._attached = True
        await self._pump()

    def _ask_again(self) -> None:
        """For what was cancelled, if the answer was lost."""
        if self._answer is not None and not self._answer.done():
            self._cancel_text = self._cancel_again

    def receive_sound(self, offset: int, data: bytes) -> None:
        """More sound."""
        if offset != self.num_bytes:
            self.lost("sound is missing")
        if self._over:
            return
        if self.first_sound_at_s is None:
            self.first_sound_at_s = time.monotonic()
        self.num_bytes += len(data)
        self._num_unread += len(data)
        self._tell(EncodedSound(offset, data))

    def receive(self, message: said.Told | said.CancelAck) -> None:
        """Something was said of it."""
        if not isinstance(message, said.CancelAck) and message.seq is not None:
            self._next_seq = message.seq + 1
        match message:
            case said.Started():
                self.started = message
            case said.Done():
                self.done = message
                self.ending = Finished(
                    message.coverage, message.audio_ms / 1000, message.warnings, degraded=message.degraded
                )
            case said.CancelAck():
                self._cancelled(message)
                return
            case said.Failure():
                self._fail(message)
                return
        self._tell(message)
        if isinstance(message, said.Done):
            self._over = True

    def lost(self, why: str) -> None:
        """It cannot go on."""
        self.fail(ConnectionLost(why))

    def fail(self, error: YuliuError) -> None:
        """It is over, for this reason."""
        if self.ending is None:
            self.ending = Failed(error.code, error.message)
        self._close(error)

    def _fail(self, message: said.Failure) -> None:
        error = error_of(message.code, message.message, param=message.param, retry_after_s=message.retry_after_s)
        if message.ends == "nothing":
            self._refused = error
            return
        if self.ending is None:
            coverage = message.coverage or Coverage()
            self.ending = Failed(message.code, message.message, coverage, (message.audio_ms or 0.0) / 1000)
        self._close(error)

    def _cancelled(self, message: said.CancelAck) -> None:
        heard = None
        if message.heard_ms is not None and message.heard_source_end is not None:
            heard = Heard(message.heard_ms / 1000, message.heard_source_end)
        told = Cancelled(message.coverage, message.audio_ms / 1000, message.delivered_ms / 1000, heard)
        if not isinstance(self.ending, Finished):
            self.ending = told
        self._over = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(told)

    def _tell(self, event: Event) -> None:
        if self._answer is None:
            self._events.append(event)
        self._news.set()

    def _close(self, error: YuliuError) -> None:
        """Nothing more will come; whoever waits learns why."""
        if not self._over:
            self._over = True
            self._error = error
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
            self._answer.exception()  # seen, if nobody waits
        self._news.set()
        self._room.set()
