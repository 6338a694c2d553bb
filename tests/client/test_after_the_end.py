"""``cancel`` of a finished stream that is still being played, while the connection is lost."""

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
    while client._connection is not None:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.001)


async def test_cancel_reconnects_to_report_what_was_heard(client: AsyncClient, transport: InProcess) -> None:
    """A new connection is made for the question."""
    async with client.stream() as stream:
        await finish(stream)
        await transport.sockets[-1].drop()
        await until_lost(client)
        told = await stream.cancel(0.1)
        assert told.heard is not None
        assert told.heard.heard_s == pytest.approx(0.1)
        assert isinstance(stream.ending, Finished)
    assert len(transport.sockets) == 2


async def test_cancel_uses_the_connection_of_another_stream(client: AsyncClient, transport: InProcess) -> None:
    """The new connection of a stream that continues is shared."""
    async with client.stream() as stream, client.stream() as other:
        await finish(stream)
        await transport.sockets[-1].drop()
        await finish(other)
        assert (await stream.cancel(0.1)).heard is not None
    assert len(transport.sockets) == 2


async def test_lost_answer_to_cancel_is_an_error(client: AsyncClient, transport: InProcess) -> None:
    """The server forgets the stream when it answers, so the answer cannot be repeated."""
    async with client.stream() as stream:
        await finish(stream)
        asking = asyncio.create_task(stream.cancel(0.1))
        await asyncio.sleep(0)
        await transport.sockets[-1].drop()
        with pytest.raises(ServerRefused) as refused:
            await asking
    assert refused.value.server_code == "not_resumable"


async def test_cancel_fails_if_the_server_stays_away(client: AsyncClient, transport: InProcess) -> None:
    async with client.stream() as stream:
        await finish(stream)
        await transport.sockets[-1].drop()
        await until_lost(client)
        transport.num_failing = AT_ONCE.num_attempts
        with pytest.raises(ConnectionLost):
            await stream.cancel(0.1)


async def test_cancel_fails_if_the_server_closes_the_connection(
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


async def test_cancel_is_refused_after_leaving_the_stream(client: AsyncClient) -> None:
    """Another stream may have the name by then."""
    async with client.stream() as stream:
        await finish(stream)
    with pytest.raises(Closed):
        await stream.cancel(0.1)


async def test_start_that_crosses_the_close_of_an_idle_connection_is_repeated(
    client: AsyncClient, transport: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has not seen the stream, so it starts on a new connection."""
    await client.clock(1)
    socket = transport.sockets[-1]
    monkeypatch.setattr(socket, "send", _swallow)
    async with client.stream() as stream:
        await socket._from_app.put({"type": "websocket.close", "code": Close.IDLE, "reason": "idle"})
        await finish(stream)
        assert isinstance(stream.ending, Finished)
    assert len(transport.sockets) == 2


async def test_closing_during_connecting_leaves_no_connection(transport: InProcess) -> None:
    """The connection that is being made is closed, too."""
    client = AsyncClient(transport)
    opening = asyncio.create_task(client.clock(1))
    while not transport.num_asked:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0)
    await client.close()
    with pytest.raises((Closed, ConnectionLost)):
        await opening
    assert all(socket._gone.is_set() for socket in transport.sockets)


async def _swallow(_: str) -> None:
    """Lose the message."""
