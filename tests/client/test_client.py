"""Client of a real server, in process and over sockets: the same audio, even after lost connections."""

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
"""Timeout of a test, reached only by failing tests, seconds."""


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
async def test_pushed_text_gives_the_samples_of_the_library(door: str, running: Running) -> None:
    """Samples and timings are equal over both transports."""
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


async def test_speak_returns_the_audio_of_the_library(client: AsyncClient, running: Running) -> None:
    """The audio equals that of the library's ``speak``."""
    audio = await client.speak(TEXT, voice="tone")
    whole = running.synthesizer.speak(TEXT)
    assert np.array_equal(audio.samples, np.round(whole.samples * 32767).astype(np.float32) / np.float32(32767))
    assert (audio.sample_rate, audio.coverage) == (whole.sample_rate, whole.coverage)


async def test_encoded_formats_arrive_as_events(client: AsyncClient) -> None:
    """Chunks exist for PCM only."""
    async with client.stream(format="mp3") as stream:
        await stream.push("Hello.")
        await stream.end()
        events = [event async for event in stream.events()]
    assert isinstance(events[0], Started)
    assert any(isinstance(event, SegmentBegun) for event in events)
    assert sum(len(event.data) for event in events if isinstance(event, EncodedSound)) == stream.num_bytes > 0
    with pytest.raises(InvalidRequest, match="pcm only"):
        await client.speak("Hello.", format="mp3")


async def test_streams_share_one_connection(client: AsyncClient, transport: InProcess, running: Running) -> None:
    """The audio of streams on one connection is not mixed up."""
    texts = [TEXT, "One, two.", "三点半见。"]
    audios = await asyncio.gather(*(client.speak(text) for text in texts))
    assert [to_s16le(audio.samples) for audio in audios] == [pcm_of(running, text) for text in texts]
    assert len(transport.sockets) == 1


async def test_cancel_reports_what_was_heard(client: AsyncClient) -> None:
    """A cancelled stream gives no more audio, and takes no more text."""
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


async def test_cancel_of_a_finished_stream_reports_what_was_heard(client: AsyncClient) -> None:
    """The listener may still be hearing the stream; its ending stays ``Finished``."""
    async with client.stream() as stream:
        await stream.push(TEXT)
        await stream.end()
        await pcm(stream)
        await stream.played(0.1)
        told = await stream.cancel(0.2)
    assert told.heard is not None
    assert told.heard.heard_s == pytest.approx(0.2)
    assert isinstance(stream.ending, Finished)


async def test_leaving_a_stream_cancels_it(client: AsyncClient) -> None:
    """Its name on the connection becomes free."""
    async with client.stream() as stream:
        await stream.push(LONG)
        await anext(stream.chunks())
    assert isinstance(stream.ending, Cancelled)
    assert client._connection is not None
    assert not client._connection.streams


async def test_flush_and_configure_take_effect(client: AsyncClient, running: Running) -> None:
    """Pending text is spoken immediately, and the rest twice as fast."""
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


async def test_refusals_are_errors_of_the_library(client: AsyncClient) -> None:
    """The error code selects the class."""
    with pytest.raises(UnknownVoice):
        await client.speak("Hello.", voice="nobody")
    with pytest.raises(InvalidRequest) as refused:
        await client.speak("Hello.", format="pcm", sample_rate=1)
    assert refused.value.param == "sample_rate"
    with pytest.raises(InvalidRequest, match="'nonsense'"):
        client.stream(nonsense=1)  # type: ignore[call-arg]


async def test_refused_configure_is_raised_by_the_next_call(client: AsyncClient) -> None:
    """The refusal does not end the stream."""
    async with client.stream() as stream:
        await stream.configure(chunking="nonsense")
        with pytest.raises(InvalidRequest, match=r"nonsense|strategy"):
            while True:
                await stream.push("Hello. ")
                await asyncio.sleep(0)
        await stream.end()
        assert await pcm(stream)


async def test_unknown_error_codes_raise_server_refused(client: AsyncClient, gate: Gate) -> None:
    """Too many streams on a connection have no error class in the library."""
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
async def test_stream_survives_a_lost_connection(client: AsyncClient, transport: InProcess, num_chunks: int) -> None:
    """No sample is lost or repeated, and text pushed in the meantime arrives."""

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


async def test_two_streams_survive_many_lost_connections(
    client: AsyncClient, transport: InProcess, running: Running
) -> None:
    """The connection is lost after every chunk."""

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


async def test_cancel_with_a_lost_answer_never_hangs(client: AsyncClient, transport: InProcess) -> None:
    """The call returns an answer or raises."""
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


async def test_streams_fail_if_the_server_stays_away(client: AsyncClient, transport: InProcess) -> None:
    """Readers and writers get the error after the last attempt."""
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


async def test_stream_that_cannot_be_resumed_fails(client: AsyncClient, transport: InProcess, gate: Gate) -> None:
    """A stream with ``resume_s=0`` ends with its connection."""
    async with client.stream(resume_s=0.0) as stream:
        await stream.push(LONG)
        await anext(stream.chunks())
        await transport.sockets[-1].drop()
        with pytest.raises(ServerRefused) as refused:
            await pcm(stream)
    assert refused.value.server_code == "not_resumable"


async def test_stream_survives_a_broken_socket(running: Running) -> None:
    """A real socket breaks, as when a network goes away."""
    async with AsyncClient(running.url, retry=AT_ONCE) as client, client.stream() as stream:
        await stream.push(TEXT)
        chunks = stream.chunks()
        found = [await anext(chunks)]
        assert client._connection is not None
        raw: Any = client._connection._socket
        raw._connection.transport.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        await stream.end()
        found += [chunk async for chunk in chunks]
    assert b"".join(to_s16le(chunk.samples) for chunk in found) == pcm_of(running, TEXT)


async def test_clocks_of_one_machine_agree(running: Running) -> None:
    """The offset is within its uncertainty."""
    async with AsyncClient(running.url) as client:
        clock = await client.clock(4)
    assert clock.num_round_trips == 4
    assert abs(clock.offset_s) <= clock.uncertainty_s + 1e-5  # sent to the microsecond


async def test_missing_server_is_reported_with_its_address() -> None:
    """The message names the address."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with AsyncClient(url) as client:
            with pytest.raises(ConnectionLost, match="no server answers at ws://127"):
                await client.speak("Hello.")


async def test_unknown_path_is_refused(running: Running) -> None:
    """A server without the path refuses the handshake."""
    async with AsyncClient(f"{running.url}/elsewhere") as client:
        with pytest.raises((ServerRefused, ConnectionLost)):
            await client.speak("Hello.")


@pytest.mark.parametrize(
    "url", ["ftp://here", "http://", "://", "http://[::1", "http://here:0", "http://here:99999", "here:port"]
)
def test_invalid_addresses_are_refused(url: str) -> None:
    """The constructor raises."""
    with pytest.raises(InvalidRequest):
        AsyncClient(url)


@pytest.mark.parametrize("key", ["two\nlines", "two\r\nX-Lines: 2", "钥匙", "nothing\0"])
def test_keys_that_a_header_cannot_hold_are_refused(key: str) -> None:
    """The message names the header."""
    with pytest.raises(InvalidRequest, match="Authorization"):
        WebSocketTransport("http://127.0.0.1:9", headers={"Authorization": f"Bearer {key}"})


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "nonsense://127.0.0.1:9"])
async def test_unusable_proxy_is_reported(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment may name a proxy that the client does not support."""
    monkeypatch.setenv("http_proxy", proxy)
    async with AsyncClient("http://somewhere.invalid:9") as client:
        with pytest.raises(ConnectionLost, match="proxy"):
            await client.speak(TEXT)


async def test_invalid_host_name_is_reported() -> None:
    """A label of a host name has at most 63 characters."""
    async with AsyncClient(f"http://{70 * 'a'}.invalid:9") as client:
        with pytest.raises(ConnectionLost):
            await client.speak(TEXT)


async def test_closed_client_opens_nothing(running: Running) -> None:
    """Calls raise ``Closed``."""
    client = AsyncClient(running.url)
    await client.close()
    with pytest.raises(Closed):
        await client.speak("Hello.")


@pytest.mark.parametrize("when", ["before started", "before the first audio"])
async def test_latency_parts_add_up_after_a_lost_connection(
    client: AsyncClient, transport: InProcess, gate: Gate, when: str
) -> None:
    """No part is negative; the lost time belongs to the network or the text."""
    gate.close()
    async with client.stream(times=True) as stream:
        if when == "before started":
            await transport.sockets[-1].drop()
        await stream.push(TEXT)
        if when == "before the first audio":
            while stream.started is None:  # noqa: ASYNC110 - an event would be consumed
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
