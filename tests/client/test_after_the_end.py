"""A stream that is over may still be heard: what comes of its ``cancel`` when the connection has gone, or goes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from in_process import AT_ONCE, InProcess
from native import PATIENCE_S, TEXT
from serving import Gate

from yuliu.client import AsyncClient, ConnectionLost, ServerRefused
from yuliu.errors import Closed
from yuliu.types import Finished
from yuliu.wire.native.messages import Close

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from yuliu.client import ClientStream


@pytest.fixture
async def transport() -> InProcess:
    return InProcess(Gate())


@pytest.fixture
async def client(transport: InProcess) -> AsyncIterator[AsyncClient]:
    async with asyncio.timeout(PATIENCE_S), AsyncClient(transport, retry=AT_ONCE) as client:
        yield client


async def finish(stream: ClientStream) -> None:
    await stream.push(TEXT)
    await stream.end()
    async for _ in stream:
        pass


async def until_lost(client: AsyncClient) -> None:
    while client._line is not None:  # noqa: ASYNC110 - nobody is told
        await asyncio.sleep(0.001)


async def test_what_was_heard_is_told_after_a_drop(client: AsyncClient, transport: InProcess) -> None:
    """A new connection is made to ask."""
    async with client.stream() as stream:
        await finish(stream)
        await transport.sockets[-1].drop()
        await until_lost(client)
        told = await stream.cancel(0.1)
        assert told.heard is not None
        assert told.heard.heard_s == pytest.approx(0.1)
        assert isinstance(stream.ending, Finished)
    assert len(transport.sockets) == 2


async def test_beside_another_stream_that_goes_on(client: AsyncClient, transport: InProcess) -> None:
    """The connection that was made for that one is taken."""
    async with client.stream() as stream, client.stream() as other:
        await finish(stream)
        await transport.sockets[-1].drop()
        await finish(other)
        assert (await stream.cancel(0.1)).heard is not None
    assert len(transport.sockets) == 2


async def test_a_drop_while_the_answer_is_awaited(client: AsyncClient, transport: InProcess) -> None:
    """The server has forgotten the stream when it answered: that is told."""
    async with client.stream() as stream:
        await finish(stream)
        asking = asyncio.create_task(stream.cancel(0.1))
        await asyncio.sleep(0)
        await transport.sockets[-1].drop()
        with pytest.raises(ServerRefused) as refused:
            await asking
    assert refused.value.server_code == "not_resumable"


async def test_a_server_that_stays_away(client: AsyncClient, transport: InProcess) -> None:
    async with client.stream() as stream:
        await finish(stream)
        await transport.sockets[-1].drop()
        await until_lost(client)
        transport.num_failing = AT_ONCE.num_attempts
        with pytest.raises(ConnectionLost):
            await stream.cancel(0.1)


async def test_a_server_that_closes_before_it_answers(
    client: AsyncClient, transport: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with client.stream() as stream:
        await finish(stream)
        socket = transport.sockets[-1]
        monkeypatch.setattr(socket, "send", _swallow)
        asking = asyncio.create_task(stream.cancel(0.1))
        await asyncio.sleep(0)
        await socket._from_app.put({"type": "websocket.close", "code": Close.GOING_AWAY, "reason": "draining"})
        with pytest.raises(ConnectionLost, match="draining"):
            await asking


async def test_a_stream_that_was_left(client: AsyncClient) -> None:
    """Its name may be another's by now: it is not asked for."""
    async with client.stream() as stream:
        await finish(stream)
    with pytest.raises(Closed):
        await stream.cancel(0.1)


async def test_a_stream_that_crosses_the_end_of_an_idle_connection(
    client: AsyncClient, transport: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has not seen it: it begins on a new connection."""
    await client.clock(1)
    socket = transport.sockets[-1]
    monkeypatch.setattr(socket, "send", _swallow)
    async with client.stream() as stream:
        await socket._from_app.put({"type": "websocket.close", "code": Close.IDLE, "reason": "idle"})
        await finish(stream)
        assert isinstance(stream.ending, Finished)
    assert len(transport.sockets) == 2


async def test_a_client_that_is_closed_while_it_connects(transport: InProcess) -> None:
    """No connection is left behind."""
    client = AsyncClient(transport)
    opening = asyncio.create_task(client.clock(1))
    while not transport.num_asked:  # noqa: ASYNC110 - nobody is told
        await asyncio.sleep(0)
    await client.close()
    with pytest.raises((Closed, ConnectionLost)):
        await opening
    assert all(socket._gone.is_set() for socket in transport.sockets)


async def _swallow(_: str) -> None:
    """What is sent does not arrive."""
