"""Encoding on threads, also when the waiting task is cancelled."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import FORMATS, choose_encoding
from yuliu.delivery.encoder_pool import PIECE_S, EncoderPool, StreamEncoder
from yuliu.errors import Closed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.types import Samples

RATE = 24_000
TONE: Samples = np.sin(np.arange(RATE) * np.float32(0.05), dtype=np.float32) * np.float32(0.5)


@pytest.fixture(scope="module")
def threads() -> Iterator[EncoderPool]:
    threads = EncoderPool(2)
    yield threads
    threads.close()


class Held(Executor):
    """Executor that runs nothing until the test lets it."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, lambda: fn(*args, **kwargs)))
        return future

    def run_all(self) -> None:
        """Run all waiting calls that were not cancelled."""
        waiting, self._waiting = self._waiting, []
        for future, call in waiting:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except Closed as error:
                    future.set_exception(error)


async def sent(sound: StreamEncoder, chunks: list[Samples]) -> bytes:
    pieces = [await sound.write(piece) for chunk in chunks for piece in sound.pieces(chunk)]
    return b"".join([*pieces, await sound.finish()])


@pytest.mark.parametrize("name", FORMATS)
async def test_bytes_are_those_of_the_encoder(name: str, threads: EncoderPool) -> None:
    """Threads and pieces do not change the bytes, also with many concurrent deliveries."""
    encoding = choose_encoding(name, RATE)
    with Encoder(encoding, RATE) as encoder:
        expected = encoder.write(TONE) + encoder.finish()
    sounds = [threads.stream_encoder(encoding, RATE) for _ in range(6)]
    chunks = [[TONE], [TONE[:7_000], TONE[7_000:]], [TONE[:1], TONE[1:20_000], TONE[20_000:]]]
    made = await asyncio.gather(*(sent(sound, chunks[number % 3]) for number, sound in enumerate(sounds)))
    assert set(made) == {expected}


@settings(max_examples=20, deadline=None)
@given(num_samples=st.integers(0, 3 * RATE), name=st.sampled_from(["wav", "mp3"]))
def test_pieces_are_the_whole(num_samples: int, name: str) -> None:
    """Pieces add up to the input; where encoding takes long, none exceeds the maximum length."""
    samples = np.arange(num_samples, dtype=np.float32)
    with ThreadPoolExecutor(1) as pool, StreamEncoder(choose_encoding(name, RATE), RATE, pool) as sound:
        pieces = list(sound.pieces(samples))
    assert np.array_equal(np.concatenate([np.zeros(0, np.float32), *pieces]), samples)
    assert all(len(piece) <= (PIECE_S * RATE if name == "mp3" else num_samples) for piece in pieces)


async def test_plain_samples_need_no_thread() -> None:
    """PCM and WAV at the voice's rate are encoded in the loop; at another rate on a thread."""
    pool = Held()
    for name in ("pcm", "wav"):
        assert await StreamEncoder(choose_encoding(name, RATE), RATE, pool).write(TONE)
        waiting = asyncio.ensure_future(
            StreamEncoder(choose_encoding(name, RATE, sample_rate=8_000), RATE, pool).write(TONE)
        )
        await asyncio.sleep(0)
        assert not waiting.done()
        pool.run_all()
        assert await waiting


async def test_the_loop_runs_while_a_thread_encodes(threads: EncoderPool) -> None:
    """The event loop keeps running while a thread encodes a long piece."""
    with threads.stream_encoder(choose_encoding("mp3", RATE), RATE) as sound:
        writing = asyncio.ensure_future(sound.write(np.tile(TONE, 60)))
        num_turns = 0
        while not writing.done():
            num_turns += 1
            await asyncio.sleep(0)
        assert await writing
    assert num_turns > 10


async def test_cancelling_an_encoding_closes_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder is closed after the thread that is using it has finished."""
    at_work, go_on = threading.Event(), threading.Event()
    calls: list[str] = []

    def write(_: Encoder, __: Samples) -> bytes:
        at_work.set()
        assert go_on.wait(20)
        calls.append("written")
        return b""

    monkeypatch.setattr(Encoder, "write", write)
    monkeypatch.setattr(Encoder, "close", lambda _: calls.append("closed"))
    with ThreadPoolExecutor(1) as pool:
        sound = StreamEncoder(choose_encoding("mp3", RATE), RATE, pool)
        writing = asyncio.ensure_future(sound.write(TONE))
        await asyncio.to_thread(at_work.wait, 20)
        writing.cancel()
        await asyncio.wait([writing])
        sound.close()
        go_on.set()
    assert calls == ["written", "closed"]


async def test_an_encoder_closed_before_its_opening_is_never_opened() -> None:
    """A client that leaves at once costs no encoder."""
    pool = Held()
    sound = StreamEncoder(choose_encoding("flac", RATE), RATE, pool)
    sound.close()
    pool.run_all()
    assert sound._coder._encoder is None
    with pytest.raises(Closed):
        writing = asyncio.ensure_future(sound.write(TONE))
        await asyncio.sleep(0)
        pool.run_all()
        await writing
