"""The native protocol for programs: as many streams on a connection as the server lets, and a drop is survived."""

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
"""How long closing a client waits for a connection that is being made."""
_GO_ON_AFTER = (Close.FAULT, Close.IDLE)
"""Codes after which a new connection is made for what is open: of what crossed an idle one's end the server knows
nothing."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How a connection that was lost, or cut while it was made, is made again."""

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
        retry: How a connection that was lost, or cut while it was made, is made again.

    Raises:
        InvalidRequest: The address is none.
    """

    def __init__(self, server: str | Transport, *, retry: Retry | None = None) -> None:
        self._transport = WebSocketTransport(server) if isinstance(server, str) else server
        self._retry = retry or Retry()
        self._line: Connection | None = None  # for new streams
        self._lines: dict[Connection, asyncio.Task[None]] = {}  # with those that retire, and who reads them
        self._moving: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._connecting = asyncio.Lock()
        self._opening: asyncio.Task[Socket] | None = None
        self._was_connected = self._closed = False
        self._names = itertools.count(1)

    async def __aenter__(self) -> AsyncClient:
        """Nothing is done yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As :meth:`close`."""
        await self.close()

    async def close(self) -> None:
        """Close all connections; streams that are open end."""
        self._closed = True
        self._line = None
        lines, self._lines = self._lines, {}
        for task in (tasks := [*lines.values(), *self._moving]):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._close_what_opens()
        for line in lines:
            line.lose(Closed("the client was closed"))
            await line.close()
        if self._closing:
            await asyncio.wait(self._closing)
        await self._transport.close()

    async def _close_what_opens(self) -> None:
        """Whoever asked for it may be ended before he can."""
        if (opening := self._opening) is None:
            return
        await asyncio.wait([opening], timeout=OPENING_S)
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            await opening.result().close()

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
        """How far the clock of the server that new streams go to is from ``time.monotonic`` here.

        Args:
            num_round_trips: At least 1; one after the other.

        Raises:
            ConnectionLost: The server does not answer.
        """
        async with self._connecting:
            line = await self._connect()
        try:  # all of them there: another server has another clock
            return clock_offset([await line.round_trip(next(self._names)) for _ in range(num_round_trips)])
        finally:
            self._hang_up_if_idle(line)

    # For its streams.

    async def enter(self, stream: ClientStream) -> None:
        """Connect if need be, and let a stream begin."""
        async with self._connecting:
            line = await self._connect()
            line.add([stream])
            await stream.connected(line)

    def leave(self, stream: ClientStream) -> None:
        """A stream is over."""
        for line in list(self._lines):
            line.remove(stream)
            self._hang_up_if_idle(line)

    # For its lines.

    def retire(self, line: Connection) -> None:
        """New streams go elsewhere; it ends with those that are on it."""
        line.is_retiring = True
        if self._line is line:
            self._line = None
        self._hang_up_if_idle(line)

    def turned_away(self, line: Connection, stream: ClientStream, error: YuliuError) -> None:
        """Begin a stream elsewhere, as often as is tried to connect."""
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
                stream.fail(ConnectionLost(f"{why}; there is no other: {error.message}"))

    def _hang_up_if_idle(self, line: Connection) -> None:
        if line.is_retiring and line.is_idle and line in self._lines and not self._closed:
            _keep(self._closing, _hang_up(line, self._lines.pop(line)))

    # Its connections.

    async def _connect(self) -> Connection:
        """The line for new streams. The caller holds the lock.

        Raises:
            YuliuError: There is none.
        """
        for attempt in itertools.count(1):
            if self._closed:
                raise Closed("the client was closed")
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
        """Whether the next attempt may succeed. Who was never connected had better look at the address."""
        if isinstance(error, ConnectionLost):
            return self._was_connected or error.is_passing
        return isinstance(error, Closed) or (self._was_connected and isinstance(error, Overloaded | VoiceNotReady))

    async def _carry(self, line: Connection) -> None:
        """Read a line to its end; what is open there then goes on elsewhere, if it can."""
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
        """A line has ended."""
        self._cut(line, why)
        try:
            if not self._retry.num_attempts:
                raise ConnectionLost("no further attempt is wanted")
            await self._move(line)
        except YuliuError as error:
            line.lose(ConnectionLost(f"{why}, and could not be made again: {error.message}"))

    async def _move(self, line: Connection) -> None:
        """Let what is stranded on a line go on on that for new streams."""
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
    """Do it beside; the loop itself holds its tasks only weakly."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _hang_up(line: Connection, reading: asyncio.Task[None]) -> None:
    reading.cancel()
    await asyncio.wait([reading])
    await line.close()
