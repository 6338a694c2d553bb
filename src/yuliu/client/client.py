"""The native protocol for programs: one connection, as many streams on it as the server lets, a drop is survived."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from yuliu.client.clock import RoundTrip, clock_offset
from yuliu.client.errors import ConnectionLost
from yuliu.client.fields import StartFields, wire_fields
from yuliu.client.network import WebSocketTransport
from yuliu.client.stream import ClientStream
from yuliu.client.transport import ClosedByServer, Dropped
from yuliu.errors import Closed, YuliuError
from yuliu.speaker import Audio
from yuliu.types import Finished
from yuliu.wire.native import messages as said
from yuliu.wire.native.messages import Close
from yuliu.wire.native.requests import parse_reply, request_text
from yuliu.wire.native.writing import parse_sound_frame

if TYPE_CHECKING:
    from types import TracebackType

    from yuliu.client.clock import ClockOffset
    from yuliu.client.transport import Socket, Transport
    from yuliu.wire.native.messages import ServerMessage

ANSWER_S = 5.0
"""How long the server may take to tell its clock."""
NUM_ROUND_TRIPS = 8
_GO_ON_AFTER = (Close.FAULT, Close.IDLE)
"""Codes after which a new connection is made for what is open: of what crossed an idle one's end the server knows
nothing."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How a lost connection is made again."""

    num_attempts: int = 6
    """After so many that failed in a row, the streams fail with ``ConnectionLost``."""
    first_wait_s: float = 0.1
    """Before the second attempt; doubled before each further one."""
    max_wait_s: float = 2.0

    def wait_s(self, attempt: int) -> float:
        """How long to wait before an attempt, counted from 0, seconds."""
        return 0.0 if attempt == 0 else min(self.max_wait_s, self.first_wait_s * 2.0 ** (attempt - 1))


class AsyncClient:
    """A server's streams. Enter it with ``async with``; it connects when the first stream is opened.

    Args:
        server: The server's address, or how to reach it.
        retry: How a lost connection is made again.

    Raises:
        InvalidRequest: The address is none.
    """

    def __init__(self, server: str | Transport, *, retry: Retry | None = None) -> None:
        self._transport = WebSocketTransport(server) if isinstance(server, str) else server
        self._retry = retry or Retry()
        self._socket: Socket | None = None
        self._reading: asyncio.Task[None] | None = None
        self._connecting = asyncio.Lock()
        self._streams: dict[str, ClientStream] = {}
        self._tags: dict[int, ClientStream] = {}
        self._names = itertools.count(1)
        self._pings: dict[int, asyncio.Future[tuple[said.Pong, float]]] = {}
        self._closed = False

    async def __aenter__(self) -> AsyncClient:
        """Nothing is done yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As :meth:`close`."""
        await self.close()

    async def close(self) -> None:
        """Close the connection; streams that are open end."""
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        self._lose(Closed("the client was closed"))
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()
        await self._transport.close()

    def stream(self, **fields: Unpack[StartFields]) -> ClientStream:
        """A new stream; enter it with ``async with``.

        Raises:
            InvalidRequest: A value cannot be sent.
        """
        return ClientStream(self, f"c{next(self._names)}", wire_fields(fields))

    async def speak(self, text: str, **fields: Unpack[StartFields]) -> Audio:
        """A whole text, spoken.

        Raises:
            YuliuError: What the server could not do.
        """
        chunks = []
        async with self.stream(**fields) as stream:
            await stream.push(text)
            await stream.end()
            async for chunk in stream:
                chunks.append(chunk)  # noqa: PERF401 - a comprehension would hide what is awaited
            ending, started = stream.ending, stream.started
        assert isinstance(ending, Finished) and started is not None  # noqa: PT018, S101 - all else has raised
        timings = tuple(timing for chunk in chunks for timing in chunk.timings)
        samples = np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])
        return Audio(samples, started.sample_rate, timings, ending.coverage)

    async def clock(self, num_round_trips: int = NUM_ROUND_TRIPS) -> ClockOffset:
        """How far the server's clock is from ``time.monotonic`` here.

        Args:
            num_round_trips: At least 1; one after the other.

        Raises:
            ConnectionLost: The server does not answer.
        """
        async with self._connecting:
            await self._connect()
        return clock_offset([await self._round_trip() for _ in range(num_round_trips)])

    async def _round_trip(self) -> RoundTrip:
        number = next(self._names)
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

    # For its streams.

    async def enter(self, stream: ClientStream) -> None:
        """Connect if need be, and let a stream begin."""
        async with self._connecting:
            await self._connect()
            self._streams[stream.context] = stream
            await stream.connected()

    async def send(self, text: str) -> bool:
        """Send a frame; whether there was a connection."""
        if self._socket is None:
            return False
        try:
            await self._socket.send(text)
        except Dropped:
            return False
        return True

    def leave(self, stream: ClientStream) -> None:
        """A stream is over."""
        self._streams.pop(stream.context, None)
        self._tags = {tag: each for tag, each in self._tags.items() if each is not stream}

    # Its connection.

    async def _connect(self) -> None:
        if self._closed:
            raise Closed("the client was closed")
        if self._socket is None:
            socket = await self._transport.connect()
            if self._closed:
                await socket.close()
                raise Closed("the client was closed")
            self._socket = socket
            self._reading = asyncio.create_task(self._read(socket))

    async def _read(self, socket: Socket) -> None:
        """Until the connection is closed, or cannot be made again."""
        found: Socket | None = socket
        while found is not None:
            try:
                await self._take(await found.receive())
            except Dropped:
                found = await self._again("the connection was lost")
            except ClosedByServer as closed:
                why = f"the server closed the connection ({closed})"
                if closed.code in _GO_ON_AFTER:
                    found = await self._again(why)
                else:
                    found = None
                    self._cut()
                    self._lose(ConnectionLost(why))

    async def _again(self, why: str) -> Socket | None:
        """A new connection for those that are open; None if there are none, or if it cannot be had."""
        self._cut()
        self._fail_pings(ConnectionLost(why))
        async with self._connecting:
            if not any(stream.is_waiting for stream in self._streams.values()):
                return None
            for attempt in range(self._retry.num_attempts):
                await asyncio.sleep(self._retry.wait_s(attempt))
                try:
                    self._socket = await self._transport.connect()
                except YuliuError:
                    continue
                for stream in list(self._streams.values()):
                    await stream.connected()
                return self._socket
        self._lose(ConnectionLost(f"{why}, and could not be made again"))
        return None

    def _cut(self) -> None:
        """There is no connection any more."""
        self._socket = None
        self._tags.clear()
        for stream in self._streams.values():
            stream.dropped()

    def _lose(self, error: YuliuError) -> None:
        """Nothing that is open can go on."""
        self._tags.clear()
        self._fail_pings(error)
        for stream in list(self._streams.values()):
            if stream.is_waiting:
                stream.fail(error)

    def _fail_pings(self, error: YuliuError) -> None:
        for answer in self._pings.values():
            if not answer.done():
                answer.set_exception(error)

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
            self._lose(ConnectionLost(f"the server does not speak the protocol: {error}"))

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
                return  # streams go on; a new one is refused with its reason, and the connection is closed at the end
        stream = self._streams.get(message.context or "")
        if stream is None:
            return
        match message:
            case said.Continued(tag=tag):
                self._tags[tag] = stream
                await stream.continued(message)
            case said.Started(tag=tag):
                self._tags[tag] = stream
                stream.receive(message)
            case _:
                stream.receive(message)
