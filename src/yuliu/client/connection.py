"""One connection of a client: its streams, and the messages sent and received."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol

from yuliu.client.clock import RoundTrip
from yuliu.client.errors import ConnectionLost, error_of
from yuliu.client.transport import Dropped
from yuliu.errors import Closed, YuliuError
from yuliu.wire.native import messages
from yuliu.wire.native.client_codec import parse_reply, request_text
from yuliu.wire.native.encode import parse_sound_frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.client.stream import ClientStream
    from yuliu.client.transport import Socket
    from yuliu.wire.native.messages import ServerMessage

ANSWER_S = 5.0
"""Maximum wait for the answer to a ``ping``, seconds."""


class ConnectionOwner(Protocol):
    """Interface of the client that a connection reports to."""

    def retire(self, line: ClientConnection) -> None:
        """Handle a server that accepts no new streams on the connection."""
        ...

    def turned_away(self, line: ClientConnection, stream: ClientStream, error: YuliuError) -> None:
        """Handle a stream that a stopping server did not start; another server may."""
        ...


class ClientConnection:
    """A connection, which never reconnects: streams that are open when it is lost move to another one.

    Args:
        socket: Socket of the connection.
        holder: Client of the connection.
    """

    def __init__(self, socket: Socket, holder: ConnectionOwner) -> None:
        self.streams: dict[str, ClientStream] = {}
        """Streams that have not been left, by context."""
        self.is_retiring: bool = False
        """True if the connection takes no new streams."""
        self._socket = socket
        self._holder = holder
        self._is_open = True
        self._tags: dict[int, ClientStream] = {}
        self._pings: dict[int, asyncio.Future[tuple[messages.Pong, float]]] = {}

    @property
    def is_idle(self) -> bool:
        """True if the connection is open and unused."""
        return self._is_open and not self.streams and not self._pings

    async def read(self) -> None:
        """Receive and dispatch messages until the connection ends.

        Raises:
            Dropped: The connection was lost.
            ClosedByServer: The server closed the connection.
        """
        while True:
            await self._receive(await self._socket.receive())

    async def send(self, text: str) -> bool:
        """Send a frame. Return whether the connection was open."""
        if not self._is_open:
            return False
        try:
            await self._socket.send(text)
        except Dropped:
            return False
        return True

    async def close(self) -> None:
        """Close the connection; its streams end."""
        self._is_open = False
        await self._socket.close()

    def add(self, streams: Iterable[ClientStream]) -> None:
        """Add streams to the connection."""
        self.streams.update((stream.context, stream) for stream in streams)

    def remove(self, stream: ClientStream) -> None:
        """Remove a stream if it is on the connection."""
        if self.streams.get(stream.context) is stream:
            del self.streams[stream.context]
            self._tags = {tag: each for tag, each in self._tags.items() if each is not stream}

    def waiting(self) -> list[ClientStream]:
        """Return the streams that may still receive something."""
        return [stream for stream in self.streams.values() if stream.is_waiting]

    def stranded(self) -> list[ClientStream]:
        """Return the waiting streams that another connection has to take over."""
        return [stream for stream in self.waiting() if not (self._is_open and stream.has_connection)]

    def end(self, error: ConnectionLost) -> None:
        """Mark the connection as ended: its streams wait, its pings fail."""
        self._is_open = False
        self._tags.clear()
        self._fail_pings(error)
        for stream in self.streams.values():
            stream.dropped()

    def fail_streams(self, error: YuliuError, *, only_started: bool = False) -> None:
        """Fail the waiting streams; with ``only_started``, spare those that the server has not started."""
        self._tags.clear()
        self._fail_pings(error)
        for stream in self.waiting():
            if stream.started is not None or not only_started:
                stream.fail(error)

    def _fail_pings(self, error: YuliuError) -> None:
        for answer in self._pings.values():
            if not answer.done():
                answer.set_exception(error)

    async def round_trip(self, number: int) -> RoundTrip:
        """Measure one round trip to the server.

        Raises:
            ConnectionLost: The server does not answer.
        """
        answer = self._pings[number] = asyncio.get_running_loop().create_future()
        sent_s = time.monotonic()
        try:
            async with asyncio.timeout(ANSWER_S):
                if not await self.send(request_text("ping", id=number)):
                    raise ConnectionLost("there is no connection")
                pong, received_s = await answer
        except TimeoutError:
            raise ConnectionLost("the server does not answer") from None
        finally:
            self._pings.pop(number, None)
        return RoundTrip(sent_s, pong.t_receive_ms / 1000, pong.t_send_ms / 1000, received_s)

    # Received messages.

    async def _receive(self, frame: str | bytes) -> None:
        """Dispatch a frame from the server; one that violates the protocol fails the streams."""
        try:
            if isinstance(frame, str):
                message = parse_reply(frame)
                if message is not None:
                    await self._dispatch(message)
            else:
                tag, offset, data = parse_sound_frame(frame)
                await self._receive_sound(tag, offset, data)
        except ValueError as error:
            self.fail_streams(ConnectionLost(f"the server violates the protocol: {error}"))

    async def _receive_sound(self, tag: int, offset: int, data: bytes) -> None:
        stream = self._tags.get(tag)
        if stream is not None:
            stream.receive_sound(offset, data)
            await stream.room()

    async def _dispatch(self, message: ServerMessage) -> None:
        match message:
            case messages.Pong(id=number):
                answer = self._pings.get(number) if isinstance(number, int) else None
                if answer is not None and not answer.done():
                    answer.set_result((message, time.monotonic()))
                return
            case messages.Draining():
                self._holder.retire(self)
                return
        stream = self.streams.get(message.context or "")
        if stream is not None:
            await self._dispatch_to(stream, message)

    async def _dispatch_to(
        self, stream: ClientStream, message: messages.Told | messages.Continued | messages.CancelAck
    ) -> None:
        match message:
            case messages.Continued(tag=tag):
                self._tags[tag] = stream
                await stream.continued(message)
            case messages.Started(tag=tag):
                self._tags[tag] = stream
                stream.receive(message)
            case messages.Failure(code=Closed.code, ends="context") if stream.started is None:
                # Its ``start`` crossed the server's ``draining``, which may arrive after this message.
                stream.dropped()
                self._holder.turned_away(self, stream, error_of(message.code, message.message))
            case _:
                stream.receive(message)
