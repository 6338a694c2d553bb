"""Rolling restarts: open streams end on the old server, and new ones start on the next."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import AT_ONCE
from native import LONG, PATIENCE_S, TEXT, pcm_of
from serving import Gate, running_server, tone_synthesizer
from switch import Draining, InProcessSwitch, switched

from yuliu.audio.pcm import to_s16le
from yuliu.client import AsyncClient, ConnectionLost, Retry, ServerRefused
from yuliu.engines.tone import ToneEngine
from yuliu.errors import Closed
from yuliu.types import Finished
from yuliu.wire.native.messages import Close

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from serving import Running

    from yuliu.client import ClientStream

SHORT = LONG[:400]
PIECES = ("Hello there. ", "How are you? ", "你好。")
"""Pieces that are sentences, so that a stall changes no segment."""


@pytest.fixture(scope="module")
def staying() -> Iterator[Running]:
    with running_server() as server:
        yield server


@pytest.fixture
def leaving() -> Iterator[Running]:
    with running_server() as server:
        yield server


@pytest.fixture
def gates() -> Iterator[list[Gate]]:
    gates = [Gate(), Gate()]
    yield gates
    for gate in gates:
        gate.open()


@pytest.fixture
async def switch(gates: list[Gate]) -> InProcessSwitch:
    return InProcessSwitch(*map(Draining, gates))


@pytest.fixture
async def client(switch: InProcessSwitch, gates: list[Gate]) -> AsyncIterator[AsyncClient]:
    async with asyncio.timeout(PATIENCE_S), AsyncClient(switch, retry=AT_ONCE) as client:
        yield client
        for gate in gates:
            gate.open()


async def pcm(stream: ClientStream) -> bytes:
    return b"".join([to_s16le(chunk.samples) async for chunk in stream])


async def spoken(client: AsyncClient, text: str) -> bytes:
    return to_s16le((await client.speak(text)).samples)


async def until_retired(client: AsyncClient) -> None:
    while client._connection is not None:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.001)


async def until_started(stream: ClientStream) -> None:
    while stream.started is None:  # noqa: ASYNC110 - an event would be consumed
        await asyncio.sleep(0.001)


async def until_closed(client: AsyncClient, num_connections: int = 1) -> None:
    while len(client._connections) > num_connections or client._closing:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.001)


def drain(switch: InProcessSwitch) -> Draining:
    """Stop the current server, switch to the next one, and return the one that stops."""
    leaving = switch.server
    switch.place += 1
    leaving.drain()
    return leaving


async def test_restart_over_real_sockets(leaving: Running, staying: Running) -> None:
    """The old stream finishes on the first server while a new one runs on the second; no connection is left open."""
    async with (
        asyncio.timeout(PATIENCE_S),
        switched(leaving.port) as switch,
        AsyncClient(f"http://127.0.0.1:{switch.port}") as client,
    ):
        async with client.stream() as old:
            await old.push(SHORT)
            chunks = old.chunks()
            first = await anext(chunks)
            leaving.gate.close()
            switch.target = staying.port
            leaving.server.stop()
            await until_retired(client)
            assert await spoken(client, TEXT) == pcm_of(staying, TEXT)
            leaving.gate.open()
            await old.end()
            rest = [chunk async for chunk in chunks]
        assert isinstance(old.ending, Finished)
        assert b"".join(to_s16le(each.samples) for each in (first, *rest)) == pcm_of(staying, SHORT)
        assert old.num_resumed == 0
        await until_closed(client)
        assert switch.num_connections == 2
        assert len(switch.open) == 1
    assert staying.synthesizer.num_streams == leaving.synthesizer.num_streams == 0


async def test_old_connection_ends_with_its_last_stream(
    client: AsyncClient, switch: InProcessSwitch, gates: list[Gate], staying: Running
) -> None:
    """Later text of an open stream still goes to the old server."""
    async with client.stream() as old:
        await old.push(SHORT[:200])
        await until_started(old)
        gates[0].close()
        left = drain(switch)
        await until_retired(client)
        assert await spoken(client, TEXT) == pcm_of(staying, TEXT)
        assert not left.sockets[0]._gone.is_set()
        await old.push(SHORT[200:])
        await old.end()
        gates[0].open()
        assert await pcm(old) == pcm_of(staying, SHORT)
    await until_closed(client)
    assert left.sockets[0]._gone.is_set()
    assert [len(each.sockets) for each in switch.servers] == [1, 1]


async def test_idle_connection_is_closed_immediately(client: AsyncClient, switch: InProcessSwitch) -> None:
    await client.clock(1)
    left = drain(switch)
    await until_closed(client, 0)
    assert left.sockets[0]._gone.is_set()
    assert await client.speak("Hello.")


async def test_client_closes_the_connection_to_a_draining_server(client: AsyncClient, switch: InProcessSwitch) -> None:
    """The connection is closed with the last stream, not before."""
    async with client.stream() as stream:
        await stream.push(TEXT)
        await stream.end()
        await until_started(stream)
        socket = switch.server.sockets[0]
        await socket._from_app.put({"type": "websocket.send", "text": '{"type": "draining", "time_s": 29}'})
        assert await pcm(stream)
        await until_retired(client)
        assert not socket._gone.is_set()
    await until_closed(client, 0)
    assert socket._gone.is_set()


async def test_start_that_crosses_draining_moves_to_the_next_server(
    client: AsyncClient, switch: InProcessSwitch, staying: Running, gates: list[Gate]
) -> None:
    """The refusal may arrive before ``draining``."""
    async with client.stream() as other:  # keeps the connection open
        await other.push(SHORT)
        await anext(other.chunks())
        gates[0].close()
        drain(switch)
        async with client.stream() as stream:
            assert not switch.server.sockets  # the stream was sent to the stopping server
            await stream.push(TEXT)
            await stream.end()
            assert await pcm(stream) == pcm_of(staying, TEXT)
        assert [len(each.sockets) for each in switch.servers] == [1, 1]


async def test_start_that_crosses_the_close_moves_to_the_next_server(
    client: AsyncClient, switch: InProcessSwitch, staying: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old server has not seen the stream."""
    await client.clock(1)
    socket = switch.server.sockets[0]
    monkeypatch.setattr(socket, "send", _swallow)
    async with client.stream() as stream:
        switch.place += 1
        await socket._from_app.put({"type": "websocket.close", "code": Close.GOING_AWAY, "reason": "draining"})
        await stream.push(TEXT)
        await stream.end()
        assert await pcm(stream) == pcm_of(staying, TEXT)


async def test_old_server_still_reports_what_was_heard(
    client: AsyncClient, switch: InProcessSwitch, gates: list[Gate]
) -> None:
    """Another stream keeps the old connection open."""
    async with client.stream() as finished, client.stream() as other:
        await finished.push(TEXT)
        await finished.end()
        await pcm(finished)
        gates[0].close()
        await other.push(SHORT)
        await until_started(other)
        drain(switch)
        await until_retired(client)
        assert (await finished.cancel(0.1)).heard is not None
        assert not switch.server.sockets


async def test_lost_retiring_connection_fails_its_streams_only(
    client: AsyncClient, switch: InProcessSwitch, gates: list[Gate]
) -> None:
    """The next server does not know the old stream; new streams are not affected."""
    async with client.stream() as old:
        await old.push(SHORT)
        await until_started(old)
        gates[0].close()
        left = drain(switch)
        await until_retired(client)
        async with client.stream() as new:
            await left.sockets[0].drop()
            with pytest.raises(ServerRefused) as refused:
                await pcm(old)
            assert refused.value.server_code == "not_resumable"
            await new.push(TEXT)
            await new.end()
            assert await pcm(new)
    assert len(switch.server.sockets) == 1


async def test_missing_next_server_is_reported(client: AsyncClient, switch: InProcessSwitch, gates: list[Gate]) -> None:
    """New streams fail with the reason after the last attempt; the old stream is not affected."""
    async with client.stream() as old:
        await old.push(TEXT)
        await old.end()
        await until_started(old)
        gates[0].close()
        drain(switch)
        switch.is_refusing = True
        await until_retired(client)
        with pytest.raises(ConnectionLost, match="nobody listens"):
            await client.speak("Hello.")
        assert switch.num_refused == AT_ONCE.num_attempts
        gates[0].open()
        assert await pcm(old)


async def test_server_that_accepts_no_streams_is_reported(client: AsyncClient, switch: InProcessSwitch) -> None:
    """The server's reason is reported after the last attempt."""
    connect = switch.connect

    async def to_one_that_stops() -> object:
        socket = await connect()
        switch.server.drain()
        return socket

    switch.connect = to_one_that_stops  # type: ignore[method-assign,assignment]
    with pytest.raises((Closed, ConnectionLost), match=r"shutting down|draining"):
        await client.speak("Hello.")


async def test_closing_the_client_during_a_restart(
    client: AsyncClient, switch: InProcessSwitch, gates: list[Gate]
) -> None:
    """The streams on both servers end, and no connection is left."""
    async with client.stream() as old:
        await old.push(SHORT)
        await until_started(old)
        gates[0].close()
        drain(switch)
        await until_retired(client)
        async with client.stream() as new:
            gates[0].open()  # the application waits for its step
            await client.close()
            for stream in (old, new):
                with pytest.raises(Closed):
                    await pcm(stream)
    assert all(socket._gone.is_set() for server in switch.servers for socket in server.sockets)


@pytest.mark.parametrize("words", ["", "500 Internal Server Error", "503 Service Unavailable"])
async def test_cut_first_handshake_is_repeated(staying: Running, words: str) -> None:
    """The handshake is also repeated if a proxy has no server yet."""
    async with asyncio.timeout(PATIENCE_S), switched(staying.port) as switch:
        switch.num_to_cut = 2
        switch.last_words = f"HTTP/1.1 {words}\r\nContent-Length: 0\r\n\r\n".encode() if words else b""
        async with AsyncClient(f"http://127.0.0.1:{switch.port}", retry=AT_ONCE) as client:
            assert await spoken(client, TEXT) == pcm_of(staying, TEXT)
        assert switch.num_connections == 3


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "421 Misdirected Request"])
async def test_refused_first_handshake_is_not_repeated(staying: Running, status: str) -> None:
    """The refusal is final."""
    async with asyncio.timeout(PATIENCE_S), switched(staying.port) as switch:
        switch.num_to_cut = 9
        switch.last_words = f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()
        async with AsyncClient(f"http://127.0.0.1:{switch.port}", retry=AT_ONCE) as client:
            with pytest.raises(ConnectionLost, match=status[:3]):
                await client.speak(TEXT)
        assert switch.num_connections == 1


async def test_handshake_attempts_are_limited(staying: Running) -> None:
    """A client makes as many attempts as its policy allows."""
    async with asyncio.timeout(PATIENCE_S), switched(staying.port) as switch:
        switch.num_to_cut = 9
        async with AsyncClient(f"http://127.0.0.1:{switch.port}", retry=AT_ONCE) as client:
            with pytest.raises(ConnectionLost):
                await client.speak(TEXT)
        assert switch.num_connections == AT_ONCE.num_attempts


async def test_wrong_address_is_not_retried(staying: Running) -> None:
    """A second attempt would come only after the test's timeout."""
    never = Retry(first_wait_s=1000.0, max_wait_s=1000.0)
    async with asyncio.timeout(PATIENCE_S), AsyncClient(f"{staying.url}/elsewhere", retry=never) as client:
        with pytest.raises((ServerRefused, ConnectionLost)):
            await client.speak(TEXT)
    async with asyncio.timeout(PATIENCE_S), AsyncClient("http://127.0.0.1:9", retry=never) as client:
        with pytest.raises(ConnectionLost, match="is it running"):
            await client.speak(TEXT)


async def test_start_that_crosses_draining_without_a_next_server(client: AsyncClient, switch: InProcessSwitch) -> None:
    """The message has the server's reason and that of the attempts."""
    async with client.stream() as other:
        await other.push(SHORT)
        await until_started(other)
        switch.is_refusing = True
        switch.server.drain()
        async with client.stream() as stream:
            with pytest.raises(ConnectionLost, match=r"shutting down.*nobody listens"):
                await pcm(stream)


@settings(max_examples=40)
@given(acts=st.lists(st.sampled_from(("open", "write", "turn", "wait", "drain", "drop")), max_size=24))
def test_every_stream_is_complete_after_any_events(acts: list[str]) -> None:
    """Every stream has the samples of its whole text, in any order of restarts and lost connections."""
    with tone_synthesizer(ToneEngine()) as synthesizer:
        wanted = to_s16le(synthesizer.speak("".join(PIECES)).samples)
    asyncio.run(_play(acts, wanted))


async def _play(acts: list[str], wanted: bytes) -> None:
    switch = InProcessSwitch(*(Draining(Gate()) for _ in range(3)))
    async with asyncio.timeout(PATIENCE_S), AsyncClient(switch, retry=AT_ONCE) as client, AsyncExitStack() as stack:
        talks: list[_Talk] = []
        for act in acts:
            if act == "open" and len(talks) < 6:
                talks.append(_Talk(await stack.enter_async_context(client.stream())))
            elif act == "drain" and switch.place < 2:
                drain(switch)
            elif act == "drop" and switch.server.sockets:
                await switch.server.sockets[-1].drop()
            elif act == "write":
                for talk in talks:
                    await talk.write()
            elif act in ("turn", "wait"):
                await asyncio.sleep(0.0 if act == "turn" else 0.002)
        for talk in talks:
            assert await talk.whole() == wanted
            assert isinstance(talk.stream.ending, Finished)
        await stack.aclose()
        await until_closed(client)
        assert sum(not socket._gone.is_set() for server in switch.servers for socket in server.sockets) <= 1
    assert all(socket._gone.is_set() for server in switch.servers for socket in server.sockets)


class _Talk:
    """Stream that is being read, with the text still to be pushed."""

    def __init__(self, stream: ClientStream) -> None:
        self.stream = stream
        self._to_say = list(PIECES)
        self._hearing = asyncio.create_task(pcm(stream))

    async def write(self) -> None:
        if self._to_say:
            await self.stream.push(self._to_say.pop(0))

    async def whole(self) -> bytes:
        while self._to_say:
            await self.write()
        await self.stream.end()
        return await self._hearing


async def _swallow(_: str) -> None:
    """Lose the message."""
