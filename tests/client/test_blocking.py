"""Blocking client."""

from __future__ import annotations

import inspect
import threading
from typing import TYPE_CHECKING

import pytest
from native import LONG, PATIENCE_S, TEXT, pcm_of
from serving import running_server

from yuliu.audio.pcm import to_s16le
from yuliu.client import AsyncClient, BlockingStream, Client, ClientStream
from yuliu.client.decode import EncodedSound
from yuliu.errors import Closed, UnknownVoice
from yuliu.types import Cancelled, Finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from serving import Running


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server() as server:
        yield server


@pytest.fixture
def client(running: Running) -> Iterator[Client]:
    with Client(running.url) as client:
        yield client


def test_speak_returns_the_whole_audio(client: Client, running: Running) -> None:
    assert to_s16le(client.speak(TEXT).samples) == pcm_of(running, TEXT)
    with pytest.raises(UnknownVoice):
        client.speak(TEXT, voice="nobody")


def test_one_thread_writes_while_another_reads(client: Client, running: Running) -> None:
    """Text pushed by one thread arrives as audio in another."""
    with client.stream() as stream:

        def write() -> None:
            for delta in TEXT:
                stream.push(delta)
            stream.end()

        writer = threading.Thread(target=write)
        writer.start()
        sound = b"".join(to_s16le(chunk.samples) for chunk in stream)
        writer.join()
    assert sound == pcm_of(running, TEXT)
    assert isinstance(stream.ending, Finished)


def test_cancel_ends_the_stream(client: Client) -> None:
    with client.stream(preset="dialogue") as stream:
        stream.push(LONG)
        stream.flush()
        events = stream.events()
        assert any(isinstance(event, EncodedSound) for event in events)
        stream.played(0.01)
        assert isinstance(stream.cancel(0.02), Cancelled)
        assert list(events) == []


def test_clock_is_within_its_uncertainty(client: Client) -> None:
    clock = client.clock(2)
    assert abs(clock.offset_s) <= clock.uncertainty_s + 1e-5


def test_closing_ends_the_thread(running: Running) -> None:
    with Client(running.url) as client:
        client.speak("Hello.")
    assert "yuliu-client" not in {thread.name for thread in threading.enumerate()}


def test_closing_wakes_waiting_threads(running: Running) -> None:
    """Every call that waits raises ``Closed``."""
    ends: list[BaseException] = []

    def talk(client: Client, *, writes: bool) -> None:
        try:
            with client.stream(preset="dialogue") as stream:
                stream.push(LONG)
                while writes:
                    stream.push("and on ")
                for _ in stream:
                    stream.played(0.0)
        except BaseException as error:  # noqa: BLE001 - checked below
            ends.append(error)

    for num_turns in range(6):
        client = Client(running.url)
        threads = [threading.Thread(target=talk, args=(client,), kwargs={"writes": each}) for each in (False, True)]
        for thread in threads:
            thread.start()
        for _ in range(num_turns):  # in the first rounds, no thread is connected yet
            running.client.get("/health")
        client.close()
        for thread in threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
    assert {type(each) for each in ends} == {Closed}
    assert len(ends) == 12


def test_calls_after_closing_are_refused(running: Running) -> None:
    """Calls raise ``Closed``, and closing again does nothing."""
    with Client(running.url) as client:
        stream = client.stream()
        with stream:
            client.close()
    client.close()
    for act in (client.clock, stream.end, lambda: client.speak("Hello.")):
        with pytest.raises(Closed):
            act()


FOR_ITS_CLIENT = {
    *("connected", "continued", "dropped", "fail", "has_connection", "is_waiting", "lost", "receive", "receive_sound"),
    *("room", "turned_away"),
}
FOR_ITS_STREAMS = {"enter", "leave"}
FOR_ITS_LINES = {"retire", "turned_away"}


def public(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


def parameters(method: Callable[..., object]) -> list[inspect.Parameter]:
    return list(inspect.signature(method).parameters.values())


async def test_blocking_classes_mirror_the_asynchronous_ones() -> None:
    """Members and parameters are equal, except for those that only the client itself uses."""
    async with AsyncClient("http://127.0.0.1:9") as other:
        stream = other.stream()
        assert public(stream) - FOR_ITS_CLIENT == public(BlockingStream)
        assert public(other) - FOR_ITS_STREAMS - FOR_ITS_LINES == public(Client)
    for ours, others in ((BlockingStream, ClientStream), (Client, AsyncClient)):
        for name in ("push", "flush", "configure", "end", "played", "cancel", "speak", "stream", "clock"):
            if hasattr(ours, name):
                assert parameters(getattr(ours, name)) == parameters(getattr(others, name))
    for name in ("__aenter__", "__aexit__", "__aiter__"):
        assert hasattr(ClientStream, name) == hasattr(BlockingStream, name.replace("a", "", 1))


def test_blocking_stream_has_the_values_of_its_stream(client: Client) -> None:
    """Each property returns the value of the wrapped stream."""
    with client.stream(voice="tone") as stream:
        assert (stream.done, stream.first_sound_at_s, stream.is_over) == (None, None, False)
        stream.push(TEXT)
        stream.end()
        num_samples = sum(len(chunk.samples) for chunk in stream.chunks())
        assert stream.num_bytes == 2 * num_samples > 0
        assert stream.started is not None
        assert stream.started.format == "pcm"
        assert stream.done is not None
        assert stream.is_over
        assert stream.num_resumed == 0
        assert stream.entered_at_s is not None
        assert stream.first_sound_at_s is not None
        assert stream.entered_at_s < stream.first_sound_at_s
        assert stream.context == stream.stream.context
