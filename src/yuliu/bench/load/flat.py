"""Very many short requests: whether memory stays where it is."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import TYPE_CHECKING, Any

import psutil

from yuliu.bench.load.crowd import Crowd
from yuliu.bench.load.gauge import MB
from yuliu.bench.load.point import run
from yuliu.bench.load.texts import LANGUAGES, Ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.load.setting import Setting
    from yuliu.bench.process import Running

AT_A_TIME = 16
SETTLED_AFTER = 1000
"""Requests after which the memory is read that the rest is compared with."""
EVERY = 1000


def measure_flat(setting: Setting, voice: str) -> dict[str, Any]:
    """Resident memory over ``setting.requests`` requests, all of different texts."""
    with setting.server() as server:
        began_s = time.perf_counter()
        rss_mb, failed = run(_ask_many(server, psutil.Process(server.pid), setting, voice))
        took_s = time.perf_counter() - began_s
    return {"voice": voice, "requests": setting.requests, "failed": failed, "seconds": round(took_s, 1)} | flat_figures(
        rss_mb
    )


def flat_figures(rss_mb: dict[int, float]) -> dict[str, Any]:
    """By how much it grew from the first thousand requests on; the readings by number of requests."""
    settled = rss_mb[min(rss_mb)]
    end = rss_mb[max(rss_mb)]
    return {"rss_mb": rss_mb, "settled_mb": settled, "end_mb": end, "growth": round(end / settled - 1, 4)}


def flat_asks(voice: str) -> Iterator[Ask]:
    """A second of sound each, never twice the same."""
    sentence = "Number {}." if LANGUAGES.get(voice) == ("en",) else "第{}号。"
    return (Ask(voice, sentence.format(number)) for number in itertools.count(1))


async def _ask_many(
    server: Running, process: psutil.Process, setting: Setting, voice: str
) -> tuple[dict[int, float], int]:
    wanted = flat_asks(voice)
    rss_mb: dict[int, float] = {}
    begun = ended = failed = 0
    settled_after = min(SETTLED_AFTER, setting.requests // 2)

    async def ask_on() -> None:
        nonlocal begun, ended, failed
        crowd = Crowd(server.port)
        while begun < setting.requests:
            begun += 1
            outcome, _ = await crowd.ask_until_taken(next(wanted))
            crowd.outcomes.clear()
            ended += 1
            failed += not outcome.completed
            if ended >= settled_after and (ended % EVERY == 0 or ended in (settled_after, setting.requests)):
                number, memory = ended, await asyncio.to_thread(process.memory_info)
                rss_mb[number] = round(memory.rss / MB, 2)
                setting.progress(f"flat: {number} of {setting.requests}, {rss_mb[number]:.0f} MB")

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_A_TIME):
            tasks.create_task(ask_on())
    return rss_mb, failed
