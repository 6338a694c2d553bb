"""One connection of a client: the streams on it, what is sent there, and what comes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol

from yuliu.client.clock import RoundTrip
from yuliu.client.errors import ConnectionLost, error_of
from yuliu.client.transport import Dropped
from yuliu.errors import Closed, YuliuError
from yuliu.wire.native import messages as said
from yuliu.wire.native.client_codec import parse_reply, request_text
from yuliu.wire.native.encode import parse_sound_frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.client.stream import ClientStream
    from yuliu.client.transport import Socket
    from yuliu.wire.native.messages import ServerMessage

ANSWER_S = 5.0
"""How long the server may take to tell its clock."""


class ConnectionOwner(Protocol):
    """What a line tells its client."""

    def retire(self, line: Connection) -> None:
        """The server takes no new stream there any more."""
        ...

    def turned_away(self, line: Connection, stream: ClientStream, error: YuliuError) -> None:
        """The server stops and did not begin a stream: another may."""
        ...


class Connection:
    """A connection, once only: what is open when it is lost is taken over by another one.

    Args:
        socket: The connection itself.
        holder: Its client.
    """

    def __init__(self, socket: Socket, holder: ConnectionOwner) -> None:
        self.streams: dict[str, ClientStream] = {}
        """Those that were not left, by their names."""
        self.is_retiring: bool = False
        """Whether it is for the streams that are on it, and no others."""
        self._socket = socket
        self._holder = holder
        self._is_open = True
        self._tags: dict[int, ClientStream] = {}
        self._pings: dict[int, asyncio.Future[tuple[said.Pong, float]]] = {}

    @property
    def is_idle(self) -> bool:
        """Whether there is a connection that nobody needs."""
        return self._is_open and not self.streams and not self._pings

    async def read(self) -> None:
        """Take what comes, until the connection ends.

        Raises:
            Dropped: It was lost.
            ClosedByServer: It was closed.
        """
        while True:
            await self._take(await self._socket.receive())

    async def send(self, text: str) -> bool:
        """Send a frame; whether there was a connection."""
        if not self._is_open:
            return False
        try:
            await self._socket.send(text)
        except Dropped:
            return False
        return True

    async def close(self) -> None:
        """Say good-bye; its streams end."""
        self._is_open = False
        await self._socket.close()

    def add(self, streams: Iterable[ClientStream]) -> None:
        """They are on it."""
        self.streams.update((stream.context, stream) for stream in streams)

    def remove(self, stream: ClientStream) -> None:
        """It is not, or no longer."""
        if self.streams.get(stream.context) is stream:
            del self.streams[stream.context]
            self._tags = {tag: each for tag, each in self._tags.items() if each is not stream}

    def waiting(self) -> list[ClientStream]:
        """Those on it of which anything more may come."""
        return [stream for stream in self.streams.values() if stream.is_waiting]

    def stranded(self) -> list[ClientStream]:
        """Those of them that another line is to take over."""
        return [stream for stream in self.waiting() if not (self._is_open and stream.has_line)]

    def cut(self, error: ConnectionLost) -> None:
        """The connection has ended: its streams wait, its pings fail."""
        self._is_open = False
        self._tags.clear()
        self._fail_pings(error)
        for stream in self.streams.values():
            stream.dropped()

    def lose(self, error: YuliuError, *, only_started: bool = False) -> None:
        """What is open on it cannot go on, or only what has not begun can."""
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
        """Ask the server for its clock.

        Raises:
            ConnectionLost: It does not answer.
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

    # What comes.

    async def _take(self, frame: str | bytes) -> None:
        """What the server sent; what is not of this protocol ends the streams."""
        try:
            if isinstance(frame, str):
                message = parse_reply(frame)
                if message is not None:
                    await self._hear(message)
            else:
                tag, offset, data = parse_sound_frame(frame)
                await self._take_sound(tag, offset, data)
        except ValueError as error:
            self.lose(ConnectionLost(f"the server does not speak the protocol: {error}"))

    async def _take_sound(self, tag: int, offset: int, data: bytes) -> None:
        stream = self._tags.get(tag)
        if stream is not None:
            stream.receive_sound(offset, data)
            await stream.room()

    async def _hear(self, message: ServerMessage) -> None:
        match message:
            case said.Pong(id=number):
                answer = self._pings.get(number) if isinstance(number, int) else None
                if answer is not None and not answer.done():
                    answer.set_result((message, time.monotonic()))
                return
            case said.Draining():
                self._holder.retire(self)
                return
        stream = self.streams.get(message.context or "")
        if stream is not None:
            await self._tell(stream, message)

    async def _tell(self, stream: ClientStream, message: said.Told | said.Continued | said.CancelAck) -> None:
        match message:
            case said.Continued(tag=tag):
                self._tags[tag] = stream
                await stream.continued(message)
            case said.Started(tag=tag):
                self._tags[tag] = stream
                stream.receive(message)
            case said.Failure(code=Closed.code, ends="context") if stream.started is None:
                # Its ``start`` crossed the word that the server stops, which may come behind this one.
                stream.dropped()
                self._holder.turned_away(self, stream, error_of(message.code, message.message))
            case _:
                stream.receive(message)
