"""The part ``flat``: memory of the server over a large number of short requests."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import TYPE_CHECKING, Any

import psutil

from yuliu.bench.client import run
from yuliu.bench.load.generator import LoadGenerator
from yuliu.bench.load.monitor import BYTES_PER_MB
from yuliu.bench.texts import VOICE_LANGUAGES, LoadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.load.point import LoadConfig

MAX_CONCURRENT = 16
NUM_SETTLING = 1000
"""Requests before the memory is read that the rest is compared with."""
READ_EVERY = 1000
"""Requests between two readings."""


def measure_memory(config: LoadConfig, voice: str, num_requests: int) -> dict[str, Any]:
    """Measure the resident memory over ``num_requests`` requests, all for different texts."""
    with config.server() as server:
        began_s = time.perf_counter()
        rss_mb, failed = run(
            _request_many(psutil.Process(server.pid), server.port, config, numbered_requests(voice), num_requests)
        )
        took_s = time.perf_counter() - began_s
    counts = {"voice": voice, "requests": num_requests, "failed": failed, "seconds": round(took_s, 1)}
    return counts | memory_figures(rss_mb)


def memory_figures(rss_mb: dict[int, float]) -> dict[str, Any]:
    """Return the growth since the first reading, and the readings by number of requests."""
    settled = rss_mb[min(rss_mb)]
    end = rss_mb[max(rss_mb)]
    return {"rss_mb": rss_mb, "settled_mb": settled, "end_mb": end, "growth": round(end / settled - 1, 4)}


def numbered_requests(voice: str) -> Iterator[LoadRequest]:
    """Yield requests for about a second of audio each, no text twice."""
    sentence = "Number {}." if VOICE_LANGUAGES.get(voice) == ("en",) else "第{}号。"
    return (LoadRequest(voice, sentence.format(number)) for number in itertools.count(1))


async def _request_many(
    process: psutil.Process, port: int, config: LoadConfig, requests: Iterator[LoadRequest], num_requests: int
) -> tuple[dict[int, float], int]:
    rss_mb: dict[int, float] = {}
    sent = ended = failed = 0
    settled_after = min(NUM_SETTLING, num_requests // 2)

    async def send_on() -> None:
        nonlocal sent, ended, failed
        generator = LoadGenerator(port)
        while sent < num_requests:
            sent += 1
            result, _ = await generator.request_until_accepted(next(requests))
            generator.results.clear()
            ended += 1
            failed += not result.completed
            if ended >= settled_after and (ended % READ_EVERY == 0 or ended in (settled_after, num_requests)):
                number, memory = ended, await asyncio.to_thread(process.memory_info)
                rss_mb[number] = round(memory.rss / BYTES_PER_MB, 2)
                config.progress(f"flat: {number} of {num_requests}, {rss_mb[number]:.0f} MB")

    async with asyncio.TaskGroup() as tasks:
        for _ in range(MAX_CONCURRENT):
            tasks.create_task(send_on())
    return rss_mb, failed
