"""One stream of a client: text in, chunks and events out, like a stream of the library."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, Unpack

from yuliu.client.decode import ChunkDecoder, EncodedSound, cancelled_of, failed_of, finished_of
from yuliu.client.errors import ConnectionLost, error_of
from yuliu.client.event_queue import EventQueue
from yuliu.client.resend_buffer import ResendBuffer
from yuliu.errors import Closed, YuliuError
from yuliu.types import Cancelled, Failed, Finished
from yuliu.wire.native import messages
from yuliu.wire.native.client_codec import request_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from yuliu.client.decode import Event
    from yuliu.client.fields import ConfigureFields
    from yuliu.types import Chunk, Ending


class StreamConnection(Protocol):
    """Connection as a stream sees it."""

    async def send(self, text: str) -> bool:
        """Send a frame. Return whether the connection was open."""
        ...


class StreamOwner(Protocol):
    """Client as a stream sees it."""

    async def enter(self, stream: ClientStream) -> None:
        """Connect, and start the stream."""
        ...

    def leave(self, stream: ClientStream) -> None:
        """Remove a stream that is over."""
        ...


class ClientStream:
    """One stream of :class:`AsyncClient`. Enter it with ``async with``; one task may read.

    Args:
        client: Client of the stream.
        context: Name of the stream on its connection.
        start: Fields of the ``start`` message.
    """

    def __init__(self, client: StreamOwner, context: str, start: dict[str, object]) -> None:
        self.context: str = context
        self.started: messages.Started | None = None
        """The server's ``started`` message, once it has arrived."""
        self.ending: Ending | None = None
        """Terminal event, once the stream has ended."""
        self.done: messages.Done | None = None
        """The server's ``done`` message of a finished stream."""
        self.num_bytes: int = 0
        """Bytes of audio received."""
        self.num_resumed: int = 0
        """Number of times the stream was resumed after a lost connection."""
        self.entered_at_s: float | None = None
        """Time of the request, seconds of ``time.monotonic``."""
        self.first_sound_at_s: float | None = None
        """Time of arrival of the first audio, seconds of ``time.monotonic``."""
        self._client = client
        self._connection: StreamConnection | None = None
        self._start = request_text("start", context, **start)
        self._buffer = ResendBuffer()
        self._sending = asyncio.Lock()
        self._attached = False  # whether the server accepts messages about the stream there
        self._num_turned_away = 0
        self._next_seq = 0
        self._cancel_text: str | None = None  # until it is sent
        self._cancel_again = ""
        self._answer: asyncio.Future[Cancelled] | None = None
        self._queue = EventQueue()
        self._refused: YuliuError | None = None
        self._over = self._left = False

    async def __aenter__(self) -> ClientStream:
        """Connect if necessary, and start the stream; its audio may be read immediately."""
        self.entered_at_s = time.monotonic()
        await self._client.enter(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel the stream if it is not over."""
        try:
            if self.ending is None:
                with suppress(YuliuError):
                    await self.cancel()
        finally:
            self._left = True
            self._close(ConnectionLost("the stream is closed"))
            self._client.leave(self)

    # Called by the writer.

    async def push(self, text: str) -> None:
        """Push more text, cut anywhere.

        Raises:
            Closed: The text has ended, or the stream is over.
            InvalidRequest: The server refused an earlier call. Neither that call nor this one has any effect.
            YuliuError: The error that ended the stream.
        """
        self._check_open()
        self._buffer.text(text)
        await self._pump()

    async def flush(self) -> None:
        """Speak the pending text without waiting for more. Raises what :meth:`push` raises."""
        await self._say("flush")

    async def configure(self, **fields: Unpack[ConfigureFields]) -> None:
        """Change options for the text that follows. Raises what :meth:`push` raises."""
        await self._say("config", **{name: value for name, value in fields.items() if value is not None})

    async def end(self) -> None:
        """End the text. Raises what :meth:`push` raises."""
        await self._say("end")

    async def played(self, position_s: float) -> None:
        """Report the playback position, seconds of the stream's audio."""
        if self._attached and self._connection is not None and not self._over:
            await self._connection.send(request_text("playback", self.context, position_ms=1000 * position_s))

    async def cancel(self, position_s: float | None = None) -> Cancelled:
        """Stop immediately; the reader receives nothing further. A finished stream can be cancelled, too.

        Args:
            position_s: Playback position, seconds, if it is known.

        Raises:
            Closed: The stream was left.
            YuliuError: The error that ended the stream, or the answer was lost with the connection.
        """
        if self._queue.error is not None:
            raise self._queue.error
        if self._answer is None:
            if self._left:
                raise Closed("the stream was left, so the server can no longer report what was heard")
            self._answer = asyncio.get_running_loop().create_future()
            position_ms = None if position_s is None else 1000 * position_s
            self._cancel_again = request_text("cancel", self.context, position_ms=position_ms)
            self._cancel_text = self._cancel_again
            self._queue.discard()
            await self._pump()
            if self._over and not self._attached:
                await self._reattach()
        return await asyncio.shield(self._answer)

    async def _reattach(self) -> None:
        """Enter again: the stream was over when its connection was lost, so it was not moved to another one."""
        try:
            await self._client.enter(self)
        except YuliuError as error:
            self._close(error)

    async def _say(self, kind: str, **values: object) -> None:
        self._check_open()
        request_text(kind, self.context, **values)  # raises before the message is stored
        self._buffer.say(kind, **values)
        await self._pump()

    def _check_open(self) -> None:
        if self._queue.error is not None:
            raise self._queue.error
        if self._buffer.ended or self._over or self._answer is not None:
            raise Closed("the text of this stream has ended")
        refused, self._refused = self._refused, None
        if refused is not None:
            raise refused

    async def _pump(self) -> None:
        """Send pending messages in order while the connection is open."""
        async with self._sending:
            while self._attached and (connection := self._connection) is not None:
                text = self._next_text()
                if text is None:
                    return
                if (
                    not await connection.send(text) and self._connection is connection
                ):  # otherwise another connection has taken over
                    self._attached = False

    def _next_text(self) -> str | None:
        if self._answer is not None:
            text, self._cancel_text = self._cancel_text, None
            return text
        item = self._buffer.next()
        return None if item is None else request_text(item.kind, self.context, **item.fields)

    # Called by the reader.

    def events(self) -> AsyncIterator[Event]:
        """Iterate over the events of the stream, in order, until it is over.

        Raises:
            YuliuError: The error that ended the stream early.
        """
        return self._queue.events()

    async def chunks(self) -> AsyncIterator[Chunk]:
        """Iterate over the audio as chunks, like ``async for chunk in stream``. Raises what :meth:`events` raises."""
        made = ChunkDecoder()
        async for event in self.events():
            chunk = made.receive(event)
            if chunk is not None:
                yield chunk
        last = made.finish()
        if last is not None and self._answer is None:
            yield last

    def __aiter__(self) -> AsyncIterator[Chunk]:
        """Iterate over the audio as chunks."""
        return self.chunks()

    # Called by the client and its connections.

    @property
    def is_over(self) -> bool:
        """True if the stream is over."""
        return self._over

    @property
    def is_waiting(self) -> bool:
        """True if the stream may still receive something, such as the answer to a ``cancel``."""
        return not self._over or (self._answer is not None and not self._answer.done())

    @property
    def has_connection(self) -> bool:
        """True if the stream is on a connection that is not known to be lost."""
        return self._connection is not None

    async def connected(self, connection: StreamConnection) -> None:
        """Start on a new connection, or resume there."""
        if not self.is_waiting:
            return
        self._connection = connection
        self._ask_again()
        if self.started is None:
            self._buffer.rewind()
            was_sent = await connection.send(self._start)
            self._attached = was_sent and self._connection is connection
            await self._pump()
        else:
            place = {"stream": self.started.stream, "offset": self.num_bytes, "seq": self._next_seq}
            await connection.send(request_text("resume", self.context, **place))

    def dropped(self) -> None:
        """Detach from a connection that was lost."""
        self._connection = None
        self._attached = False

    def turned_away(self) -> int:
        """Count a stopping server that did not start the stream; return how many there have been."""
        self._num_turned_away += 1
        return self._num_turned_away

    async def room(self) -> None:
        """Wait until the reader has caught up."""
        await self._queue.room()

    async def continued(self, message: messages.Continued) -> None:
        """Continue a resumed stream: send again what did not arrive."""
        if message.offset != self.num_bytes:
            self.lost("the server resumed at another position of the audio")
            return
        self.num_resumed += 1
        self._buffer.rewind(message.num_characters, text_ended=message.text_ended)
        self._attached = True
        await self._pump()

    def _ask_again(self) -> None:
        """Send a ``cancel`` again if its answer was lost."""
        if self._answer is not None and not self._answer.done():
            self._cancel_text = self._cancel_again

    def receive_sound(self, offset: int, data: bytes) -> None:
        """Receive audio."""
        if offset != self.num_bytes:
            self.lost("audio is missing")
        if self._over:
            return
        if self.first_sound_at_s is None:
            self.first_sound_at_s = time.monotonic()
        self.num_bytes += len(data)
        self._queue.put(EncodedSound(offset, data))

    def receive(self, message: messages.Told | messages.CancelAck) -> None:
        """Receive a message."""
        if not isinstance(message, messages.CancelAck) and message.seq is not None:
            self._next_seq = message.seq + 1
        match message:
            case messages.Started():
                self.started = message
            case messages.Done():
                self.done = message
                self.ending = finished_of(message)
            case messages.CancelAck():
                self._cancelled(message)
                return
            case messages.Failure():
                self._fail(message)
                return
        self._queue.put(message)
        if isinstance(message, messages.Done):
            self._over = True
            self._queue.close()

    def lost(self, why: str) -> None:
        """Fail, since the stream cannot be resumed."""
        self.fail(ConnectionLost(why))

    def fail(self, error: YuliuError) -> None:
        """End the stream with an error."""
        if self.ending is None:
            self.ending = Failed(error.code, error.message)
        self._close(error)

    def _fail(self, message: messages.Failure) -> None:
        error = error_of(message.code, message.message, param=message.param, retry_after_s=message.retry_after_s)
        if message.ends == "nothing":
            self._refused = error
            return
        if self.ending is None:
            self.ending = failed_of(message)
        self._close(error)

    def _cancelled(self, message: messages.CancelAck) -> None:
        cancelled = cancelled_of(message)
        if not isinstance(self.ending, Finished):
            self.ending = cancelled
        self._over = True
        self._queue.close()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(cancelled)

    def _close(self, error: YuliuError) -> None:
        """End the stream and wake all waiting tasks."""
        if not self._over:
            self._over = True
            self._queue.close(error)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
            self._answer.exception()  # retrieved, in case no task waits
