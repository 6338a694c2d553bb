"""Asynchronous client of the native protocol: several streams on one connection, resumed after a lost connection."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from yuliu.client.clock import clock_offset
from yuliu.client.connection import Connection
from yuliu.client.errors import ConnectionLost
from yuliu.client.fields import StartFields, wire_fields
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
_GO_ON_AFTER = (Close.FAULT, Close.IDLE)
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
        self._line: Connection | None = None  # for new streams
        self._lines: dict[Connection, asyncio.Task[None]] = {}  # including retiring ones, with their reading tasks
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
        self._line = None
        lines, self._lines = self._lines, {}
        for task in (tasks := [*lines.values(), *self._moving]):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._close_what_opens()
        for line in lines:
            line.lose(Closed("the client is closed"))
            await line.close()
        if self._closing:
            await asyncio.wait(self._closing)
        await self._transport.close()

    async def _close_what_opens(self) -> None:
        """Close a connection that is being opened; the task that opens it may be cancelled before it could do so."""
        if (opening := self._opening) is None:
            return
        await asyncio.wait([opening], timeout=OPENING_S)
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            await opening.result().close()

    def stream(self, **fields: Unpack[StartFields]) -> ClientStream:
        """Return a new stream, to be entered with ``async with``.

        Raises:
            InvalidRequest: A value cannot be sent.
        """
        return ClientStream(self, f"c{next(self._names)}", wire_fields(fields))

    async def speak(self, text: str, **fields: Unpack[StartFields]) -> Audio:
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
            line = await self._connect()
        try:  # all on one connection, since another server has another clock
            return clock_offset([await line.round_trip(next(self._names)) for _ in range(num_round_trips)])
        finally:
            self._hang_up_if_idle(line)

    # Called by streams.

    async def enter(self, stream: ClientStream) -> None:
        """Connect if necessary, and start a stream."""
        async with self._connecting:
            line = await self._connect()
            line.add([stream])
            await stream.connected(line)

    def leave(self, stream: ClientStream) -> None:
        """Remove a stream that is over."""
        for line in list(self._lines):
            line.remove(stream)
            self._hang_up_if_idle(line)

    # Called by connections.

    def retire(self, line: Connection) -> None:
        """Send new streams elsewhere, and close the connection when its last stream has left."""
        line.is_retiring = True
        if self._line is line:
            self._line = None
        self._hang_up_if_idle(line)

    def turned_away(self, line: Connection, stream: ClientStream, error: YuliuError) -> None:
        """Start a stream on another connection, within the number of attempts of :class:`Retry`."""
        self.retire(line)
        attempt = stream.turned_away()
        if attempt > self._retry.num_attempts:
            stream.fail(error)
        else:
            wait_s = self._retry.wait_s(attempt - 1)
            _keep(self._moving, self._begin_elsewhere(line, stream, wait_s, error.message))

    async def _begin_elsewhere(self, line: Connection, stream: ClientStream, wait_s: float, why: str) -> None:
        await asyncio.sleep(wait_s)
        try:
            await self._move(line)
        except YuliuError as error:
            if stream in line.stranded():
                stream.fail(ConnectionLost(f"{why}; no other server is available: {error.message}"))

    def _hang_up_if_idle(self, line: Connection) -> None:
        if line.is_retiring and line.is_idle and line in self._lines and not self._closed:
            _keep(self._closing, _hang_up(line, self._lines.pop(line)))

    # Connections.

    async def _connect(self) -> Connection:
        """Return the connection for new streams. The caller holds the lock.

        Raises:
            YuliuError: No connection could be made.
        """
        for attempt in itertools.count(1):
            if self._closed:
                raise Closed("the client is closed")
            if self._line is not None:
                return self._line
            try:
                socket = await self._open()
            except YuliuError as error:
                if attempt >= self._retry.num_attempts or not self._may_pass(error):
                    raise
                await asyncio.sleep(self._retry.wait_s(attempt))
                continue
            if self._closed:
                await socket.close()
                continue
            self._was_connected = True
            self._line = line = Connection(socket, self)
            self._lines[line] = asyncio.create_task(self._carry(line))
        raise AssertionError("unreachable")

    async def _open(self) -> Socket:
        self._opening = asyncio.create_task(_opened(self._transport))
        try:
            return await self._opening
        finally:
            self._opening = None

    def _may_pass(self, error: YuliuError) -> bool:
        """Return True if the next attempt may succeed. A client that has never connected may have the wrong address."""
        if isinstance(error, ConnectionLost):
            return self._was_connected or error.is_passing
        return isinstance(error, Closed) or (self._was_connected and isinstance(error, Overloaded | VoiceNotReady))

    async def _carry(self, line: Connection) -> None:
        """Read a connection to its end, then continue its open streams on another one if possible."""
        try:
            await line.read()
        except Dropped:
            await self._go_on(line, "the connection was lost")
        except ClosedByServer as closed:
            why = f"the server closed the connection ({closed})"
            self._cut(line, why)
            if closed.code not in _GO_ON_AFTER:
                line.lose(ConnectionLost(why), only_started=closed.code == Close.GOING_AWAY)
            await self._go_on(line, why)
        self._lines.pop(line, None)

    def _cut(self, line: Connection, why: str) -> None:
        if self._line is line:
            self._line = None
        line.cut(ConnectionLost(why))

    async def _go_on(self, line: Connection, why: str) -> None:
        """Move the streams of a connection that has ended to another one."""
        self._cut(line, why)
        try:
            if not self._retry.num_attempts:
                raise ConnectionLost("reconnecting is disabled")
            await self._move(line)
        except YuliuError as error:
            line.lose(ConnectionLost(f"{why}, and reconnecting failed: {error.message}"))

    async def _move(self, line: Connection) -> None:
        """Move the stranded streams of a connection to the one for new streams."""
        async with self._connecting:
            if not line.stranded():
                return
            new = await self._connect()
            streams = line.stranded()
            for stream in streams:
                line.remove(stream)
            new.add(streams)
            self._hang_up_if_idle(line)
            for stream in streams:
                await stream.connected(new)


async def _opened(transport: Transport) -> Socket:
    return await transport.connect()


def _keep(tasks: set[asyncio.Task[None]], work: Coroutine[None, None, None]) -> None:
    """Run a task in the background; the event loop itself holds only weak references to tasks."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _hang_up(line: Connection, reading: asyncio.Task[None]) -> None:
    reading.cancel()
    await asyncio.wait([reading])
    await line.close()
