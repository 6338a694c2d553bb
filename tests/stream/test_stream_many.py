"""Tests of many streams on the real scheduler: rejected and dropped ones, and engines of all manners."""

from __future__ import annotations

import asyncio
import gc
import math
import tracemalloc
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import Overloaded
from yuliu.metrics.metrics import Metrics
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.scheduler.settings import Settings
from yuliu.stream import StreamOptions
from yuliu.synthesizer import Synthesizer
from yuliu.types import Coverage, Failed, Finished, Span, StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.engines.tone import ToneManner
    from yuliu.stream import Stream
    from yuliu.types import Chunk

TEXT = "One two three, four five. 你好，世界。 Then we go on, and on!"


def synthesizer(make: Callable[[], ToneEngine] = ToneEngine, tuning: Tuning | None = None) -> Synthesizer:
    settings = Settings(num_workers=2, tuning=tuning or Tuning(max_load=1e9))
    return Synthesizer(
        [local_spec("tone", make)], {"tone": {"zh": "tone", "en": "tone"}}, default="tone", settings=settings
    )


def full() -> Tuning:
    """Return a tuning that admits one stream and queues none."""
    rules = {each: replace(found, max_waiting=0) for each, found in Tuning().classes.items()}
    return Tuning(max_load=1e-9, classes=rules)


async def say(stream: Stream, text: str = TEXT) -> list[Chunk]:
    await stream.push(text)
    await stream.end()
    return [chunk async for chunk in stream]


async def test_streams_beyond_the_capacity_are_rejected_before_they_start() -> None:
    """This holds for blocks, pushes and ``speak``; once there is capacity again, a stream is admitted."""
    with synthesizer(tuning=full()) as toy:
        async with toy.stream() as first:
            await first.push("One two three, ")
            with pytest.raises(Overloaded) as error:
                await toy.stream().__aenter__()
            assert error.value.retry_after_s >= 1
            second = toy.stream()
            with pytest.raises(Overloaded):
                await second.push("Hello.")
            assert isinstance(second.ending, Failed)
            assert second.ending.code == "overloaded"
            with pytest.raises(Overloaded):
                await anext(second)
            with pytest.raises(Overloaded):
                await asyncio.to_thread(toy.speak, "Hello.")
            assert toy.num_streams == 1
        async with toy.stream() as third:
            assert await say(third)


async def test_a_thousand_dropped_streams_leave_nothing() -> None:
    """Dropped in any state, they leave no stream, job, task or memory."""
    options = [StreamOptions(terms=Terms(stream_class), stall_s=math.inf) for stream_class in StreamClass]

    async def drop(number: int) -> weakref.ref[Stream]:
        stream = toy.stream(options=options[number % 3])
        if number % 2:
            await stream.push(TEXT)
        if number % 4 == 3:
            await anext(stream)
        return weakref.ref(stream)

    with synthesizer() as toy:
        for number in range(100):  # whatever is kept once is kept by now
            await drop(number)
        await asyncio.sleep(0)
        gc.collect()
        tasks = asyncio.all_tasks()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            gone = [await drop(number) for number in range(1000)]
            await asyncio.sleep(0)
            assert [stream for stream in gone if stream() is not None] == []
            del gone
            assert toy.num_streams == toy._scheduler.num_jobs == 0
            assert asyncio.all_tasks() == tasks
            for _ in range(20):  # what the workers had under way comes and is dropped
                await asyncio.sleep(0.01)
            gc.collect()
            assert tracemalloc.get_traced_memory()[0] - before < 200_000
        finally:
            tracemalloc.stop()
        async with toy.stream() as stream:
            assert await say(stream)


async def test_an_unread_stream_takes_less_than_a_megabyte() -> None:
    """The writer waits, and no more audio is made."""

    async def until_nothing_moves(stream: Stream) -> None:
        for _ in range(10_000):
            if len(stream._parts) > 16 and stream._ready and not toy._scheduler.snapshot().num_workers_busy:
                return
            await asyncio.sleep(0.001)  # workers need a moment of real time

    async def write(stream: Stream) -> None:
        while True:
            await stream.push("This is one of very many sentences. ")

    with synthesizer() as toy:
        async with toy.stream() as stream:  # whatever is kept once is kept by now
            await say(stream)
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            async with toy.stream() as stream:
                writing = asyncio.ensure_future(write(stream))
                await until_nothing_moves(stream)
                await asyncio.sleep(0.001)  # the last output is on its way to the loop
                assert 4 < sum(len(ready.chunk.samples) for ready in stream._ready) / stream.sample_rate < 7
                assert tracemalloc.get_traced_memory()[0] - before < 1_000_000
                writing.cancel()
        finally:
            tracemalloc.stop()


async def test_metrics_record_each_stream() -> None:
    """They record the opening, the admission and the report."""
    metrics = Metrics()
    with Synthesizer(
        [local_spec("tone", ToneEngine)], {"tone": {"zh": "tone", "en": "tone"}}, default="tone", metrics=metrics
    ) as toy:
        async with toy.stream() as stream:
            await say(stream)
        async with toy.stream() as stream:
            await stream.push(TEXT)
    stats = metrics.stats()
    assert stats["streams"] == {"started": 2, "finished": 1, "failed": 0, "cancelled": 1, "rejected": 0}
    text = (await asyncio.to_thread(metrics.exposition))[0].decode()
    assert 'yuliu_streams_ended_total{class="standard",door="library",ending="finished",voice="tone"} 1.0' in text
    assert "yuliu_cancel_seconds_count 1.0" in text


@pytest.mark.parametrize("manner", ["autoregressive", "remote"])
async def test_engines_of_all_manners_give_the_same_result(manner: ToneManner) -> None:
    """Samples, times and coverage agree for known and unknown lengths and for remote audio."""

    async def spoken(make: Callable[[], ToneEngine]) -> tuple[list[Chunk], Coverage]:
        with synthesizer(make) as toy:
            async with toy.stream() as stream:
                chunks = await say(stream)
            assert isinstance(stream.ending, Finished)
            return chunks, stream.ending.coverage

    chunks, coverage = await spoken(ToneEngine)
    others, same = await spoken(lambda: ToneEngine(ToneScript(), manner=manner))
    assert coverage == same == Coverage(spoken=(Span(0, len(TEXT)),))
    sound, other = (np.concatenate([chunk.samples for chunk in each]) for each in (chunks, others))
    assert np.array_equal(sound, other)
    timings, same_timings = ([timing for chunk in each for timing in chunk.timings] for each in (chunks, others))
    assert timings == same_timings
    at_s = 0.0
    for chunk in others:
        assert chunk.start_s == pytest.approx(at_s)
        at_s += len(chunk.samples) / chunk.sample_rate


async def test_degraded_streams_report_it_and_sound_the_same() -> None:
    """In throughput mode whole sentences are spoken, independently of the number of streams."""
    with synthesizer(tuning=Tuning(max_load=1e9, throughput=True)) as toy:

        async def one() -> bytes:
            async with toy.stream() as stream:
                chunks = await say(stream)
            assert stream.ending is not None
            assert stream.ending.degraded
            assert {chunk.source for chunk in chunks} == {Span(0, 26), Span(26, 33), Span(33, len(TEXT))}
            return b"".join(chunk.samples.tobytes() for chunk in chunks)

        sounds = await asyncio.gather(*(one() for _ in range(8)))
    assert len(set(sounds)) == 1
