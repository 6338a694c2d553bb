"""For how long encoding holds an event loop: on the threads that a server has for it, and in the loop itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from yuliu.audio.encode import Encoder
from yuliu.bench.doors.ticking import Ticker
from yuliu.bench.load.point import run
from yuliu.server.encoder_pool import PIECE_S, EncoderPool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from yuliu.audio.formats import Encoding
    from yuliu.types import Samples

IDLE_S = 0.3
Row = dict[str, float]


def held_idle() -> Row:
    """A loop in which nothing happens: what the machine and the timers do by themselves."""
    return run(_watched(_idle()))


def held_by_threads(encoding: Encoding, samples: Samples, source_rate: int) -> Row:
    """Sound is encoded as a server does it."""
    return run(_watched(_on_threads(encoding, samples, source_rate)))


def held_in_loop(encoding: Encoding, samples: Samples, source_rate: int) -> Row:
    """Sound is encoded in pieces of the same length in the loop: what the threads are for."""
    return run(_watched(_in_loop(encoding, samples, source_rate)))


async def _watched(work: AsyncIterator[None]) -> Row:
    """How late ticks are while some work goes on; the loop may turn after each piece of it."""
    ticker = Ticker()
    ticking = asyncio.create_task(ticker.run())
    await asyncio.sleep(0.01)
    ticker.take()
    async for _ in work:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)  # the last tick is due
    ticking.cancel()
    return ticker.take()


async def _idle() -> AsyncIterator[None]:
    await asyncio.sleep(IDLE_S)
    yield


async def _on_threads(encoding: Encoding, samples: Samples, source_rate: int) -> AsyncIterator[None]:
    threads = EncoderPool()
    with threads.sound(encoding, source_rate) as sound:
        for piece in sound.pieces(samples):
            await sound.write(piece)
            yield
    threads.close()


async def _in_loop(encoding: Encoding, samples: Samples, source_rate: int) -> AsyncIterator[None]:
    size = round(PIECE_S * source_rate)
    with Encoder(encoding, source_rate) as encoder:
        for start in range(0, len(samples), size):
            encoder.write(samples[start : start + size])
            yield
