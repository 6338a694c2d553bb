"""The client on a server of ours, in process and over real sockets: the same sound, also after drops."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from in_process import AT_ONCE, InProcess
from native import LONG, TEXT, pcm_of
from serving import Gate, running_server

from yuliu.audio.pcm import to_s16le
from yuliu.client import AsyncClient, ConnectionLost, EncodedSound, ServerRefused, WebSocketTransport
from yuliu.client.latency import ClientMoments, waterfall
from yuliu.errors import Closed, InvalidRequest, UnknownVoice
from yuliu.types import Cancelled, Failed, Finished
from yuliu.wire.native.messages import SegmentBegun, Started

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from serving import Running

    from yuliu.client import ClientStream
    from yuliu.client.transport import Transport

PATIENCE_S = 20.0
"""How long anything may take that must happen; only met by a test that fails."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server() as server:
        yield server


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture
async def transport(gate: Gate) -> InProcess:
    return InProcess(gate)


@pytest.fixture
async def client(transport: InProcess, gate: Gate) -> AsyncIterator[AsyncClient]:
    async with asyncio.timeout(PATIENCE_S), AsyncClient(transport, retry=AT_ONCE) as client:
        yield client
        gate.open()


async def pcm(stream: ClientStream) -> bytes:
    return b"".join([to_s16le(chunk.samples) async for chunk in stream])


@pytest.mark.parametrize("door", ["network", "in process"])
async def test_text_that_is_pushed_comes_back_as_the_same_sound(door: str, running: Running) -> None:
    """To the sample, with times, whichever way it goes."""
    network: Transport = WebSocketTransport(running.url)
    there = network if door == "network" else InProcess(Gate())
    async with AsyncClient(there) as client, client.stream(voice="tone", times=True) as stream:
        for delta in TEXT:
            await stream.push(delta)
        await stream.end()
        chunks = [chunk async for chunk in stream]
    whole = running.synthesizer.speak(TEXT)
    assert b"".join(to_s16le(chunk.samples) for chunk in chunks) == to_s16le(whole.samples)
    assert isinstance(stream.ending, Finished)
    assert stream.ending.coverage == whole.coverage
    timings = [timing for chunk in chunks for timing in chunk.timings]
    assert [timing.source for timing in timings] == [timing.source for timing in whole.timings]
    assert stream.done is not None
    times = stream.done.times
    assert times is not None
    parts = [getattr(times, name) for name in times.__struct_fields__ if name not in ("opened_ms", "encoded_ms")]
    assert len(parts) == 7
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(times.encoded_ms - times.opened_ms, abs=0.1)


async def test_a_whole_text(client: AsyncClient, running: Running) -> None:
    """As the library's ``speak``."""
    audio = await client.speak(TEXT, voice="tone")
    whole = running.synthesizer.speak(TEXT)
    assert np.array_equal(audio.samples, np.round(whole.samples * 32767).astype(np.float32) / np.float32(32767))
    assert (audio.sample_rate, audio.coverage) == (whole.sample_rate, whole.coverage)


async def test_other_formats_come_as_events(client: AsyncClient) -> None:
    """Chunks are of PCM only, and say so."""
    async with client.stream(format="mp3") as stream:
        await stream.push("Hello.")
        await stream.end()
        events = [event async for event in stream.events()]
    assert isinstance(events[0], Started)
    assert any(isinstance(event, SegmentBegun) for event in events)
    assert sum(len(event.data) for event in events if isinstance(event, EncodedSound)) == stream.num_bytes > 0
    with pytest.raises(InvalidRequest, match="pcm only"):
        await client.speak("Hello.", format="mp3")


async def test_several_streams_on_one_connection(client: AsyncClient, transport: InProcess, running: Running) -> None:
    """Their sounds are not mixed."""
    texts = [TEXT, "One, two.", "三点半见。"]
    audios = await asyncio.gather(*(client.speak(text) for text in texts))
    assert [to_s16le(audio.samples) for audio in audios] == [pcm_of(running, text) for text in texts]
    assert len(transport.sockets) == 1


async def test_cancelling_tells_what_was_heard(client: AsyncClient) -> None:
    """And gives nothing any more."""
    async with client.stream(preset="dialogue") as stream:
        await stream.push(LONG)
        chunk = await anext(stream.chunks())
        told = await stream.cancel(0.01)
        assert told.heard is not None
        assert told.heard.heard_s == pytest.approx(0.01)
        assert told.delivered_s >= len(chunk.samples) / chunk.sample_rate
        assert [each async for each in stream] == []
        assert await stream.cancel() == told
        with pytest.raises(Closed):
            await stream.push("more")
    assert stream.ending == told


async def test_cancelling_what_was_finished_tells_it_too(client: AsyncClient) -> None:
    """The listener may still hear it; it stays finished."""
    async with client.stream() as stream:
        await stream.push(TEXT)
        await stream.end()
        await pcm(stream)
        await stream.played(0.1)
        told = await stream.cancel(0.2)
    assert told.heard is not None
    assert told.heard.heard_s == pytest.approx(0.2)
    assert isinstance(stream.ending, Finished)


async def test_a_stream_that_is_left_is_cancelled(client: AsyncClient) -> None:
    """And its name is free."""
    async with client.stream() as stream:
        await stream.push(LONG)
        await anext(stream.chunks())
    assert isinstance(stream.ending, Cancelled)
    assert client._line is not None
    assert not client._line.streams


async def test_flush_and_changes_are_done(client: AsyncClient, running: Running) -> None:
    """Text that might go on is spoken at once; the rest twice as fast."""
    async with client.stream() as stream:
        await stream.push("One two")
        await stream.flush()
        chunks = stream.chunks()
        await anext(chunks)
        await stream.configure(speed=2.0)
        await stream.push(" three four five six.")
        await stream.end()
        rest = [chunk async for chunk in chunks]
    slow = running.synthesizer.speak(" three four five six.")
    fast_s = sum(len(c.samples) for c in rest if c.source.start >= 7) / slow.sample_rate
    assert fast_s < 0.75 * slow.duration_s


async def test_what_is_refused_is_an_error_of_the_library(client: AsyncClient) -> None:
    """By its code."""
    with pytest.raises(UnknownVoice):
        await client.speak("Hello.", voice="nobody")
    with pytest.raises(InvalidRequest) as refused:
        await client.speak("Hello.", format="pcm", sample_rate=1)
    assert refused.value.param == "sample_rate"
    with pytest.raises(InvalidRequest, match="'nonsense'"):
        client.stream(nonsense=1)  # type: ignore[call-arg]


async def test_what_is_refused_meanwhile_is_raised_at_the_next_word(client: AsyncClient) -> None:
    """And does not end the stream."""
    async with client.stream() as stream:
        await stream.configure(chunking="nonsense")
        with pytest.raises(InvalidRequest, match=r"nonsense|strategy"):
            while True:
                await stream.push("Hello. ")
                await asyncio.sleep(0)
        await stream.end()
        assert await pcm(stream)


async def test_too_many_streams_are_refused_by_the_servers_name_for_it(client: AsyncClient, gate: Gate) -> None:
    """No error of the library stands for it."""
    gate.close()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(8):
            stream = await stack.enter_async_context(client.stream())
            await stream.push("Hello.")
        with pytest.raises(ServerRefused) as refused:
            await client.speak("Hello.")
        assert refused.value.server_code == "too_many_contexts"
        gate.open()


@pytest.mark.parametrize("num_chunks", [0, 1])
async def test_a_drop_is_survived(client: AsyncClient, transport: InProcess, num_chunks: int) -> None:
    """No sample is lost, none comes twice; what was said of the text meanwhile arrives."""

    async def speak(*, drop: bool) -> bytes:
        async with client.stream() as stream:
            await stream.push(TEXT[:20])
            await stream.flush()
            chunks = stream.chunks()
            found = [await anext(chunks) for _ in range(num_chunks)]
            if drop:
                await transport.sockets[-1].drop()
            await stream.push(TEXT[20:])
            await stream.end()
            found += [chunk async for chunk in chunks]
        assert isinstance(stream.ending, Finished)
        return b"".join(to_s16le(chunk.samples) for chunk in found)

    assert await speak(drop=True) == await speak(drop=False)
    assert len(transport.sockets) == 2


async def test_two_streams_and_many_drops(client: AsyncClient, transport: InProcess, running: Running) -> None:
    """After every chunk."""

    async def speak(text: str) -> bytes:
        async with client.stream() as stream:
            await stream.push(text)
            await stream.end()
            sound = b""
            async for chunk in stream:
                sound += to_s16le(chunk.samples)
                await transport.sockets[-1].drop()
            return sound

    texts = [TEXT, "Hello there, how are you today?"]
    sounds = await asyncio.gather(*map(speak, texts))
    assert sounds == [pcm_of(running, text) for text in texts]
    assert len(transport.sockets) > 3


async def test_a_cancel_whose_answer_is_lost_is_answered_or_an_error(client: AsyncClient, transport: InProcess) -> None:
    """It never hangs."""
    async with client.stream() as stream:
        await stream.push(LONG)
        await anext(stream.chunks())
        asking = asyncio.create_task(stream.cancel())
        await asyncio.sleep(0)
        await transport.sockets[-1].drop()
        try:
            assert isinstance(await asking, Cancelled)
        except ServerRefused as refused:
            assert refused.server_code == "not_resumable"


async def test_a_server_that_stays_away_fails_the_streams(client: AsyncClient, transport: InProcess) -> None:
    """After a number of attempts, for readers and writers."""
    async with client.stream() as stream:
        await stream.push(LONG)
        await anext(stream.chunks())
        transport.num_failing = AT_ONCE.num_attempts
        await transport.sockets[-1].drop()
        with pytest.raises(ConnectionLost, match="reconnecting failed"):
            await pcm(stream)
        with pytest.raises(ConnectionLost):
            await stream.push("more")
    assert isinstance(stream.ending, Failed)
    assert await client.speak("Hello.")  # the next one connects anew


async def test_a_stream_that_cannot_be_resumed_fails(client: AsyncClient, transport: InProcess, gate: Gate) -> None:
    """It did not want to be."""
    async with client.stream(resume_s=0.0) as stream:
        await stream.push(LONG)
        await anext(stream.chunks())
        await transport.sockets[-1].drop()
        with pytest.raises(ServerRefused) as refused:
            await pcm(stream)
    assert refused.value.server_code == "not_resumable"


async def test_a_real_socket_that_breaks_is_survived(running: Running) -> None:
    """As a network that goes away."""
    async with AsyncClient(running.url, retry=AT_ONCE) as client, client.stream() as stream:
        await stream.push(TEXT)
        chunks = stream.chunks()
        found = [await anext(chunks)]
        assert client._line is not None
        raw: Any = client._line._socket
        raw._connection.transport.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        await stream.end()
        found += [chunk async for chunk in chunks]
    assert b"".join(to_s16le(chunk.samples) for chunk in found) == pcm_of(running, TEXT)


async def test_clocks_of_one_machine_agree(running: Running) -> None:
    """Within what is unsure."""
    async with AsyncClient(running.url) as client:
        clock = await client.clock(4)
    assert clock.num_round_trips == 4
    assert abs(clock.offset_s) <= clock.uncertainty_s + 1e-5  # sent to the microsecond


async def test_nobody_there() -> None:
    """Says where nobody is."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with AsyncClient(url) as client:
            with pytest.raises(ConnectionLost, match="no server answers at ws://127"):
                await client.speak("Hello.")


async def test_another_server(running: Running) -> None:
    """One that has no such path says so by its status."""
    async with AsyncClient(f"{running.url}/elsewhere") as client:
        with pytest.raises((ServerRefused, ConnectionLost)):
            await client.speak("Hello.")


@pytest.mark.parametrize(
    "url", ["ftp://here", "http://", "://", "http://[::1", "http://here:0", "http://here:99999", "here:port"]
)
def test_addresses_that_are_none(url: str) -> None:
    """Are found at once."""
    with pytest.raises(InvalidRequest):
        AsyncClient(url)


@pytest.mark.parametrize("key", ["two\nlines", "two\r\nX-Lines: 2", "钥匙", "nothing\0"])
def test_keys_that_no_header_can_hold(key: str) -> None:
    """It is not the server that is missing."""
    with pytest.raises(InvalidRequest, match="Authorization"):
        WebSocketTransport("http://127.0.0.1:9", headers={"Authorization": f"Bearer {key}"})


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "nonsense://127.0.0.1:9"])
async def test_a_proxy_that_cannot_be_used(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment may name what the client cannot speak."""
    monkeypatch.setenv("http_proxy", proxy)
    async with AsyncClient("http://somewhere.invalid:9") as client:
        with pytest.raises(ConnectionLost, match="proxy"):
            await client.speak(TEXT)


async def test_a_name_that_is_none() -> None:
    """A label of more than 63 characters."""
    async with AsyncClient(f"http://{70 * 'a'}.invalid:9") as client:
        with pytest.raises(ConnectionLost):
            await client.speak(TEXT)


async def test_a_client_that_is_closed(running: Running) -> None:
    """Opens nothing any more."""
    client = AsyncClient(running.url)
    await client.close()
    with pytest.raises(Closed):
        await client.speak("Hello.")


@pytest.mark.parametrize("when", ["before it was carried", "before its first sound"])
async def test_the_time_to_the_first_sound_with_a_drop_in_it(
    client: AsyncClient, transport: InProcess, gate: Gate, when: str
) -> None:
    """The parts add up, and none is less than nothing: what the drop took is of the network or the text."""
    gate.close()
    async with client.stream(times=True) as stream:
        if when == "before it was carried":
            await transport.sockets[-1].drop()
        await stream.push(TEXT)
        if when == "before its first sound":
            while stream.started is None:  # noqa: ASYNC110 - nothing tells it without taking it
                await asyncio.sleep(0.001)
            await transport.sockets[-1].drop()
        await stream.end()
        gate.open()
        assert await pcm(stream)
    assert stream.done is not None
    assert stream.done.times is not None
    assert stream.entered_at_s is not None
    assert stream.first_sound_at_s is not None
    at_s = stream.first_sound_at_s
    moments = ClientMoments(asked_s=stream.entered_at_s, received_s=at_s, given_s=at_s, heard_s=at_s)
    found = waterfall(stream.done.times, moments)
    assert found.sum_ms == pytest.approx(moments.whole_ms, abs=0.01)
    assert min(getattr(found, name) for name in found.__dataclass_fields__) >= -0.01
    assert len(transport.sockets) == 2
