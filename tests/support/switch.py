"""A TCP load balancer and its in-process counterpart; a test chooses the server of new connections."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from in_process import InProcess

from yuliu.client import ConnectionLost
from yuliu.client.asgi import AsgiTransport
from yuliu.server.transport.websocket import CARRIER, Carrier

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from serving import Gate

    from yuliu.client.asgi import App, AsgiSocket


class Switch:
    """Forwards each new connection to the current target; open connections stay on theirs."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.num_to_cut = 0
        """Number of next connections that are closed before a byte is forwarded."""
        self.last_words = b""
        """Response that those receive before."""
        self.num_connections = 0
        self.port = 0
        self.open: set[asyncio.Task[None]] = set()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection."""
        self.num_connections += 1
        if self.num_to_cut:
            self.num_to_cut -= 1
            if self.last_words:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(self.last_words)
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self.open.add(task)
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.target)
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, server_writer))
                group.create_task(_copy(server_reader, writer))
        except ConnectionError:
            writer.close()
        finally:
            self.open.discard(task)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def switched(target: int) -> AsyncIterator[Switch]:
    """Run a switch on its own port."""
    switch = Switch(target)
    async with await asyncio.start_server(switch.pass_on, "127.0.0.1", 0) as server:
        switch.port = server.sockets[0].getsockname()[1]
        yield switch
        if switch.open:
            await asyncio.wait(switch.open)


class Draining(InProcess):
    """An in-process server that can be drained."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(gate)
        self._carriers: list[Carrier] = []
        self._app = _carried(self._app, self._carriers)

    def drain(self) -> None:
        """Drain as on SIGTERM: all connections are notified."""
        for carrier in self._carriers:
            carrier.draining.set()


def _carried(app: App, carriers: list[Carrier]) -> App:
    """Add the extension that uvicorn's connection adds."""

    async def carried(scope, receive, send):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        if scope["type"] == "websocket":
            carriers.append(Carrier())
            scope["extensions"][CARRIER] = {"carrier": carriers[-1]}
        await app(scope, receive, send)

    return carried


class InProcessSwitch:
    """A transport to the current server."""

    def __init__(self, *servers: Draining) -> None:
        self.servers = servers
        self.place = 0
        self.is_refusing = False
        self.num_refused = 0

    @property
    def server(self) -> Draining:
        """Server of new connections."""
        return self.servers[self.place]

    async def connect(self) -> AsgiSocket:
        """Connect to the current server."""
        if self.is_refusing:
            self.num_refused += 1
            raise ConnectionLost("nobody listens", is_passing=False)
        return await self.server.connect()

    async def close(self) -> None:
        """Close all servers."""
        for server in self.servers:
            await AsgiTransport.close(server)
