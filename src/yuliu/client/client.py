"""Asynchronous client of the native protocol: several streams on one connection, resumed after a lost connection."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from yuliu.client.clock import clock_offset
from yuliu.client.connection import ClientConnection
from yuliu.client.errors import ConnectionLost
from yuliu.client.fields import StreamFields, wire_fields
from yuliu.client.network import WebSocketTransport
from yuliu.client.stream import ClientStream
from yuliu.client.transport import ClosedByServer, Dropped
from yuliu.errors import Closed, Overloaded, VoiceNotReady, YuliuError
from yuliu.synthesizer import Audio
from yuliu.types import Finished
from yuliu.wire.native.messages import Close

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

    from yuliu.client.clock import ClockOffset
    from yuliu.client.transport import Socket, Transport

NUM_ROUND_TRIPS = 8
OPENING_S = 1.0
"""Maximum time that closing a client waits for a connection attempt, seconds."""
_RECONNECT_AFTER = (Close.FAULT, Close.IDLE)
"""Close codes after which open streams continue on a new connection. A message that crossed the close of an idle
connection never reached the server."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Policy for reconnecting after a connection was lost, or cut during its handshake."""

    num_attempts: int = 6
    """Number of consecutive failed attempts after which the streams fail with ``ConnectionLost``."""
    first_wait_s: float = 0.1
    """Wait before the second attempt, seconds; it doubles before each further one."""
    max_wait_s: float = 2.0
    """Maximum wait before an attempt, seconds."""

    def wait_s(self, attempt: int) -> float:
        """Return the wait before an attempt, counted from 0, in seconds."""
        return 0.0 if attempt == 0 else min(self.max_wait_s, self.first_wait_s * 2.0 ** (attempt - 1))


class AsyncClient:
    """Client of one server. Enter it with ``async with``; it connects when the first stream is opened.

    Args:
        server: Address of the server, or a transport to it.
        retry: Policy for reconnecting.

    Raises:
        InvalidRequest: The address is invalid.
    """

    def __init__(self, server: str | Transport, *, retry: Retry | None = None) -> None:
        self._transport = WebSocketTransport(server) if isinstance(server, str) else server
        self._retry = retry or Retry()
        self._connection: ClientConnection | None = None  # for new streams
        self._connections: dict[ClientConnection, asyncio.Task[None]] = {}  # with retiring ones, and their readers
        self._moving: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._connecting = asyncio.Lock()
        self._opening: asyncio.Task[Socket] | None = None
        self._was_connected = self._closed = False
        self._names = itertools.count(1)

    async def __aenter__(self) -> AsyncClient:
        """Return the client; it connects when it has to."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client."""
        await self.close()

    async def close(self) -> None:
        """Close all connections; open streams end."""
        self._closed = True
        self._connection = None
        connections, self._connections = self._connections, {}
        for task in (tasks := [*connections.values(), *self._moving]):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._close_opening()
        for connection in connections:
            connection.fail_streams(Closed("the client is closed"))
            await connection.close()
        if self._closing:
            await asyncio.wait(self._closing)
        await self._transport.close()

    async def _close_opening(self) -> None:
        """Close a connection that is being opened; the task that opens it may be cancelled before it could do so."""
        if (opening := self._opening) is None:
            return
        await asyncio.wait([opening], timeout=OPENING_S)
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            await opening.result().close()

    def stream(self, **fields: Unpack[StreamFields]) -> ClientStream:
        """Return a new stream, to be entered with ``async with``.

        Raises:
            InvalidRequest: A value cannot be sent.
        """
        return ClientStream(self, f"c{next(self._names)}", wire_fields(fields))

    async def speak(self, text: str, **fields: Unpack[StreamFields]) -> Audio:
        """Synthesize a whole text.

        Raises:
            YuliuError: The server refused the request or failed.
        """
        chunks = []
        async with self.stream(**fields) as stream:
            await stream.push(text)
            await stream.end()
            async for chunk in stream:
                chunks.append(chunk)  # noqa: PERF401 - a comprehension would hide the await
            ending, started = stream.ending, stream.started
        assert isinstance(ending, Finished) and started is not None  # noqa: PT018, S101 - any other ending has raised
        timings = tuple(timing for chunk in chunks for timing in chunk.timings)
        samples = np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])
        return Audio(samples, started.sample_rate, timings, ending.coverage)

    async def clock(self, num_round_trips: int = NUM_ROUND_TRIPS) -> ClockOffset:
        """Measure the offset between the server's clock and ``time.monotonic`` here.

        The server is the one that takes new streams.

        Args:
            num_round_trips: Number of round trips, at least 1; they are made one after the other.

        Raises:
            ConnectionLost: The server does not answer.
        """
        async with self._connecting:
            connection = await self._connect()
        try:  # all on one connection, since another server has another clock
            return clock_offset([await connection.round_trip(next(self._names)) for _ in range(num_round_trips)])
        finally:
            self._close_if_idle(connection)

    # Called by streams.

    async def enter(self, stream: ClientStream) -> None:
        """Connect if necessary, and start a stream."""
        async with self._connecting:
            connection = await self._connect()
            connection.add([stream])
            await stream.connected(connection)

    def leave(self, stream: ClientStream) -> None:
        """Remove a stream that is over."""
        for connection in list(self._connections):
            connection.remove(stream)
            self._close_if_idle(connection)

    # Called by connections.

    def retire(self, connection: ClientConnection) -> None:
        """Send new streams elsewhere, and close the connection when its last stream has left."""
        connection.is_retiring = True
        if self._connection is connection:
            self._connection = None
        self._close_if_idle(connection)

    def turned_away(self, connection: ClientConnection, stream: ClientStream, error: YuliuError) -> None:
        """Start a stream on another connection, within the number of attempts of :class:`Retry`."""
        self.retire(connection)
        attempt = stream.turned_away()
        if attempt > self._retry.num_attempts:
            stream.fail(error)
        else:
            wait_s = self._retry.wait_s(attempt - 1)
            _run_in_background(self._moving, self._start_elsewhere(connection, stream, wait_s, error.message))

    async def _start_elsewhere(
        self, connection: ClientConnection, stream: ClientStream, wait_s: float, why: str
    ) -> None:
        await asyncio.sleep(wait_s)
        try:
            await self._move(connection)
        except YuliuError as error:
            if stream in connection.stranded():
                stream.fail(ConnectionLost(f"{why}; no other server is available: {error.message}"))

    def _close_if_idle(self, connection: ClientConnection) -> None:
        if connection.is_retiring and connection.is_idle and connection in self._connections and not self._closed:
            _run_in_background(self._closing, _close_connection(connection, self._connections.pop(connection)))

    # Connections.

    async def _connect(self) -> ClientConnection:
        """Return the connection for new streams. The caller holds the lock.

        Raises:
            YuliuError: No connection could be made.
        """
        for attempt in itertools.count(1):
            if self._closed:
                raise Closed("the client is closed")
            if self._connection is not None:
                return self._connection
            try:
                socket = await self._open()
            except YuliuError as error:
                if attempt >= self._retry.num_attempts or not self._may_retry(error):
                    raise
                await asyncio.sleep(self._retry.wait_s(attempt))
                continue
            if self._closed:
                await socket.close()
                continue
            self._was_connected = True
            self._connection = connection = ClientConnection(socket, self)
            self._connections[connection] = asyncio.create_task(self._read_to_end(connection))
        raise AssertionError("unreachable")

    async def _open(self) -> Socket:
        self._opening = asyncio.create_task(_opened(self._transport))
        try:
            return await self._opening
        finally:
            self._opening = None

    def _may_retry(self, error: YuliuError) -> bool:
        """Return True if the next attempt may succeed. A client that has never connected may have the wrong address."""
        if isinstance(error, ConnectionLost):
            return self._was_connected or error.is_passing
        return isinstance(error, Closed) or (self._was_connected and isinstance(error, Overloaded | VoiceNotReady))

    async def _read_to_end(self, connection: ClientConnection) -> None:
        """Read a connection to its end, then continue its open streams on another one if possible."""
        try:
            await connection.read()
        except Dropped:
            await self._move_streams(connection, "the connection was lost")
        except ClosedByServer as closed:
            why = f"the server closed the connection ({closed})"
            self._cut(connection, why)
            if closed.code not in _RECONNECT_AFTER:
                connection.fail_streams(ConnectionLost(why), only_started=closed.code == Close.GOING_AWAY)
            await self._move_streams(connection, why)
        self._connections.pop(connection, None)

    def _cut(self, connection: ClientConnection, why: str) -> None:
        if self._connection is connection:
            self._connection = None
        connection.end(ConnectionLost(why))

    async def _move_streams(self, connection: ClientConnection, why: str) -> None:
        """Move the streams of a connection that has ended to another one."""
        self._cut(connection, why)
        try:
            if not self._retry.num_attempts:
                raise ConnectionLost("reconnecting is disabled")
            await self._move(connection)
        except YuliuError as error:
            connection.fail_streams(ConnectionLost(f"{why}, and reconnecting failed: {error.message}"))

    async def _move(self, connection: ClientConnection) -> None:
        """Move the stranded streams of a connection to the one for new streams."""
        async with self._connecting:
            if not connection.stranded():
                return
            new = await self._connect()
            streams = connection.stranded()
            for stream in streams:
                connection.remove(stream)
            new.add(streams)
            self._close_if_idle(connection)
            for stream in streams:
                await stream.connected(new)


async def _opened(transport: Transport) -> Socket:
    return await transport.connect()


def _run_in_background(tasks: set[asyncio.Task[None]], work: Coroutine[None, None, None]) -> None:
    """Run a task in the background; the event loop itself holds only weak references to tasks."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _close_connection(connection: ClientConnection, reading: asyncio.Task[None]) -> None:
    reading.cancel()
    await asyncio.wait([reading])
    await connection.close()
