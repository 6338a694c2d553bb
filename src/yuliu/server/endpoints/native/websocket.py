"""One connection of the native stream: frames in, frames out, and the streams of its contexts.

One task reads and acts at once, another sends, so that a ``cancel`` never waits behind audio. Answers go out first,
then the contexts take turns.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import structs

from yuliu.delivery import Delivery
from yuliu.errors import Closed, InvalidRequest, YuliuError
from yuliu.server.endpoints.native.orders import order_of
from yuliu.server.endpoints.native.resumable import ResumableStream
from yuliu.server.routing import caller_of, principal_of, route_of
from yuliu.server.websocket_delivery import accept, carrier_of
from yuliu.wire.native import messages as said
from yuliu.wire.native.messages import Close
from yuliu.wire.native.protocol import ContextState, Refused, ServerProtocol
from yuliu.wire.native.replay_buffer import EncodedPiece, NotKept

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Send

    from yuliu.server.context import ServerContext
    from yuliu.server.routing import Exchange
    from yuliu.wire.native.messages import ClientMessage, ForText, ServerMessage

LAST_WORDS_S = 0.5
"""Time that a client has to read that its time is up."""
MAX_ANSWERS = 64
"""Maximum number of answers that wait to be sent before reading stops."""
REASONS = {Close.GOING_AWAY: "draining", Close.POLICY: "too many wrong messages", Close.IDLE: "idle"}
"""Reasons that are sent beside close codes."""


async def stream_over_websocket(context: ServerContext, exchange: Exchange) -> None:
    """Serve one WebSocket, from its handshake on."""
    if await accept(context, exchange):
        await StreamSocket(context, exchange).run()


class StreamSocket:
    """A connection that was accepted.

    Args:
        context: Shared parts of all endpoints.
        exchange: The connection.
    """

    def __init__(self, context: ServerContext, exchange: Exchange) -> None:
        self._context, self._exchange = context, exchange
        self._streams, self._limits = context.streams, context.limits.native
        carrier = carrier_of(exchange)
        self._draining, self._receipts, self._awake = carrier.draining, carrier.receipts, carrier.awake
        self._principal = principal_of(exchange.scope)
        self._loop = asyncio.get_running_loop()
        self._conversation = ServerProtocol()
        self._contexts: dict[str, ResumableStream] = {}
        self._answers: deque[str | said.Pong] = deque()
        self._room, self._all_over = asyncio.Event(), asyncio.Event()
        self._close: Close | None = None
        self._dropped = self._is_unread = False

    async def run(self) -> None:
        """Serve the connection until one side closes it, or it is lost."""
        receive, send = self._exchange.receive, self._exchange.send
        tasks = [asyncio.create_task(each) for each in (self._read(receive), self._write(send), self._drain())]
        try:
            await asyncio.wait(tasks[:2], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            failures = [error for task in tasks if not task.cancelled() and (error := task.exception()) is not None]
            self._dropped |= bool(failures)  # streams survive a fault of their connection
            self._leave()
        if failures:
            with suppress(OSError):
                await send({"type": "websocket.close", "code": Close.FAULT, "reason": "internal_error"})
            raise failures[0]

    # As the connection of its streams.

    def wake(self) -> None:
        """Send what is in the replay buffers."""
        self._awake.set()

    def lost(self, stream: ResumableStream) -> None:
        """Send a stream no longer: another connection has resumed it."""
        for name, each in list(self._contexts.items()):
            if each is stream:
                del self._contexts[name]
                reason = "the stream was resumed, and goes on there"
                self._refuse(said.Failure("moved", reason, "context", name))
                self._look_if_all_over()

    # Reading.

    async def _read(self, receive: Receive) -> None:
        while True:
            message = await self._next(receive)
            if message is None:
                if not self._conversation.num_open:
                    self._end(Close.IDLE)
            elif message["type"] == "websocket.disconnect":
                # There is a reason, maybe empty, only if a close frame came.
                self._dropped = message.get("reason") is None and self._close is None
                return
            elif self._close is None:
                text, data = message.get("text"), message.get("bytes")
                self._act(self._conversation.receive(text if text is not None else data or b""))
                await self._until_room()

    async def _until_room(self) -> None:
        """Stop reading while many answers wait; if the client takes none, go on, to learn that it is gone."""
        while len(self._answers) > MAX_ANSWERS and not self._is_unread:
            self._room.clear()
            await self._room.wait()

    async def _next(self, receive: Receive) -> Message | None:
        """Return the next message; None if none came for too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.idle_s):
                return await receive()
        return None

    def _act(self, message: ClientMessage | Refused | None) -> None:
        match message:
            case None:
                return
            case Refused(failure=failure, close=close):
                self._refuse(failure)
                if close is not None:
                    self._end(close)
            case said.Ping(id=given):
                self._answers.append(said.Pong(given, 1000 * time.monotonic(), 0.0))
                self.wake()
            case said.Start() | said.Resume():
                self._enter(message)
            case said.Cancel(context=name, position_ms=position_ms):
                self._cancel(name, position_ms)
            case said.PlaybackPosition(context=name, position_ms=position_ms):
                if (stream := self._contexts.get(name)) is not None:
                    stream.played(position_ms)
            case _:
                self._pass_on(message)

    def _pass_on(self, message: ForText) -> None:
        """Pass a message about the text to its stream."""
        stream = self._contexts.get(message.context)
        if stream is None:
            return
        try:
            stream.take(message)
        except InvalidRequest as error:
            self._refuse(said.failure_of(error, context=message.context))

    def _enter(self, message: said.Start | said.Resume) -> None:
        """Open a stream, or resume one."""
        name = message.context
        self._contexts.pop(name, None)
        try:
            stream = self._resumed(message) if isinstance(message, said.Resume) else self._opened(message)
        except YuliuError as error:
            self._answer(said.failure_of(error, ends="context", context=name))
            return
        stream.attach(self)
        self._contexts[name] = stream
        if stream.task.done() and not stream.buffer.has_unsent:
            self._conversation.all_was_sent(name)
            self._streams.keep(stream)
        self.wake()

    def _opened(self, start: said.Start) -> ResumableStream:
        delivery = Delivery(self._context.gateway, caller_of(self._exchange, uuid.uuid4().hex))
        try:
            if self._draining.is_set():
                raise Closed("the server is shutting down; go to another one")
            order = order_of(start, self._context.limits, must_sound=False, progress=True)
            delivery.open(order, self._principal)
        except YuliuError as error:
            delivery.fail(error)
            delivery.close()
            raise
        stream = ResumableStream(start, delivery, self._streams.replay_buffer(start))
        self._streams.add(stream)
        return stream

    def _resumed(self, resume: said.Resume) -> ResumableStream:
        stream = self._streams.find(resume.stream)
        try:
            if stream is None or not self._principal.is_same(stream.principal):
                raise NotKept("no such stream is kept: it is over, was cancelled, or waited long enough")
            self._streams.resume(stream, resume.offset, resume.seq)
        except YuliuError as error:
            self._count(error.code)
            raise
        going_on = said.Continued(
            context=resume.context,
            stream=stream.stream_id,
            offset=resume.offset,
            num_characters=stream.delivery.num_characters,
            text_ended=stream.delivery.text_ended,
        )
        self._answer(going_on)
        return stream

    def _cancel(self, name: str, position_ms: float | None) -> None:
        stream = self._contexts.pop(name, None)
        told = said.CancelAck() if stream is None else stream.cancel(position_ms)
        if stream is not None:
            stream.detach(self)
            self._streams.drop(stream)
        self._answer(structs.replace(told, context=name))
        self._look_if_all_over()

    # Sending.

    def _refuse(self, failure: said.Failure) -> None:
        """Answer with an error that no delivery has counted."""
        self._count(failure.code)
        self._answer(failure)

    def _count(self, code: str) -> None:
        self._context.gateway.metrics.error_told(route_of(self._exchange.scope).name, code)

    def _answer(self, message: ServerMessage) -> None:
        self._answers.append(self._conversation.send(message))
        self.wake()

    def _end(self, close: Close) -> None:
        """Close the connection, once all answers were sent."""
        self._close = self._close or close
        self.wake()

    async def _write(self, send: Send) -> None:
        with suppress(OSError):  # the client is gone, as the reader learns
            while True:
                self._awake.clear()
                await self._send_answers(send)
                if self._close is not None:
                    reason = REASONS.get(self._close, "")
                    await send({"type": "websocket.close", "code": int(self._close), "reason": reason})
                    return
                if not await self._send_records(send):
                    await self._awake.wait()
        self._is_unread = True
        self._room.set()
        await asyncio.Event().wait()

    async def _send_answers(self, send: Send) -> None:
        while self._answers:
            answer = self._answers.popleft()
            self._room.set()
            if isinstance(answer, said.Pong):
                answer = self._conversation.send(structs.replace(answer, t_send_ms=1000 * time.monotonic()))
            await send({"type": "websocket.send", "text": answer})

    async def _send_records(self, send: Send) -> bool:
        """Send one record of each context. Return whether there was any."""
        sent = False
        for name, stream in list(self._contexts.items()):
            if self._answers or self._close is not None:
                return True  # answers go first
            if self._contexts.get(name) is not stream:
                continue  # it was cancelled meanwhile
            if self._receipts.is_full:
                return False  # more would be in flight than is kept
            record = stream.buffer.next(self._loop.time())
            if record is None:
                continue
            sent = True
            self._streams.trim()
            if isinstance(record, EncodedPiece):
                frame = self._conversation.send_sound(name, record.offset, record.data)
                await send({"type": "websocket.send", "bytes": frame})
            else:
                await send({"type": "websocket.send", "text": self._message(name, stream, record)})
            if not stream.buffer.has_unsent:
                stream.all_sent()
        return sent

    def _message(self, name: str, stream: ResumableStream, record: said.Told) -> str:
        text = self._conversation.send(structs.replace(record, context=name))
        if self._conversation.state(name) is ContextState.OVER:
            self._streams.keep(stream)
            for known in [each for each in self._contexts if self._conversation.state(each) is ContextState.UNKNOWN]:
                self._contexts.pop(known).detach(self)
            self._look_if_all_over()
        return text

    # Ending.

    async def _drain(self) -> None:
        """Report that the server stops, let streams finish, then close."""
        await self._draining.wait()
        self._answer(said.Draining(self._limits.drain_s))
        await self._until_all_over(self._limits.drain_s)
        for stream in self._contexts.values():
            stream.delivery.fail(Closed("the server is shutting down; its time for streams is up"))
        await self._until_all_over(LAST_WORDS_S)
        self._end(Close.GOING_AWAY)

    async def _until_all_over(self, limit_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self._conversation.num_open:
                    self._all_over.clear()
                    await self._all_over.wait()

    def _look_if_all_over(self) -> None:
        if not self._conversation.num_open:
            self._all_over.set()

    def _leave(self) -> None:
        """Detach all streams: those that can be resumed wait for their client, the others end."""
        for stream in self._contexts.values():
            stream.detach(self)
            if self._dropped:
                self._streams.keep(stream)
            else:
                self._streams.drop(stream)
        self._contexts.clear()
