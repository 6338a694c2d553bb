"""The part ``cancel``: clients that leave. How soon their work ends, and what a thousand that vanish leave behind."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any

import psutil

from bench.load.isolation import bulk_requests
from bench.load.server_state import LogWatch, growth, read_gauges
from yuliu.bench.client import HttpExchange, run
from yuliu.bench.load.figures import percentiles_ms
from yuliu.bench.load.generator import LoadGenerator, closed_loop, speech_request
from yuliu.bench.load.monitor import BYTES_PER_MB
from yuliu.bench.load.point import LoadTiming, observe
from yuliu.bench.texts import draw_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.client import HttpResult
    from yuliu.bench.load.point import LoadConfig, LoadDriver
    from yuliu.bench.server_process import ServerHandle
    from yuliu.bench.texts import LoadRequest

NUM_CANCELLERS = 4
"""Clients that request a long text and leave after a while, again and again."""
NUM_PLAYERS = 4
"""Clients that keep the server busy meanwhile, beside a bulk reader."""
MAX_LISTENED_S = 0.5
END_TIMEOUT_S = 5.0
NUM_VANISHING = 1000
MAX_CONCURRENT = 50
NUM_SETTLING = 100
"""Clients that vanish before the memory is read that the rest is compared with."""
QUIET_TIMEOUT_S = 20.0
QUIET_CPU_S = 0.02
"""CPU time in ``QUIET_INTERVAL_S`` up to which a server counts as quiet."""
QUIET_INTERVAL_S = 0.5


def measure_leaving(config: LoadConfig, voice: str) -> dict[str, Any]:
    """Measure both on one server."""
    with LogWatch() as log, config.server(log=log.target) as server:
        cancelled = _measure_cancel(config, voice, server, log)
        config.progress(f"cancel: {cancelled['count']} left, {cancelled['ended_after_ms']}")
        vanished = _measure_vanishing(server, voice)
        config.progress(f"vanish: {vanished['count']} vanished, {vanished['left']}")
    return {"voice": voice, "cancel": cancelled, "vanish": vanished}


def _measure_cancel(config: LoadConfig, voice: str, server: ServerHandle, log: LogWatch) -> dict[str, Any]:
    timing = LoadTiming(config.timing.seconds, config.timing.warm_up_s / 2)
    took_s: list[float | None] = []

    async def leave_often(requests: Iterator[LoadRequest], draw: random.Random, until_s: float) -> None:
        while time.perf_counter() < until_s:
            result = await _listen_and_leave(server.port, next(requests), draw.uniform(0, MAX_LISTENED_S))
            if result.cut and result.arrivals:
                took_s.append(await _ended_after_s(result, log))

    async def cancellers(_: LoadGenerator, until_s: float) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(NUM_CANCELLERS):
                requests = draw_requests((voice,), f"cancel {number}", shares=(("long", 1),))
                draw = random.Random(f"cancel {number}")  # noqa: S311 - repeatable, not secret
                tasks.create_task(leave_often(requests, draw, until_s))

    observe(server, timing, {"cancel": cancellers, "beside": _background(voice)})
    seen_s = [each_s for each_s in took_s if each_s is not None]
    return {
        "count": len(took_s),
        "ended_after_ms": percentiles_ms(seen_s),
        "not_seen_to_end": len(took_s) - len(seen_s),
    }


async def _listen_and_leave(port: int, request: LoadRequest, listen_s: float) -> HttpResult:
    """Leave some time after the first audio, unless all of it has arrived by then."""
    exchange = HttpExchange(speech_request(request))
    await exchange.connect(port)
    await exchange.first_byte
    await asyncio.sleep(listen_s)
    exchange.cut()
    await exchange.done
    return exchange.result


async def _ended_after_s(result: HttpResult, log: LogWatch) -> float | None:
    """Return how long after the client left the server logged the end of the request; None if it did not."""
    while time.perf_counter() < result.ended_at_s + END_TIMEOUT_S:
        if (ended := log.ended.get(result.request_id or "")) is not None:
            return max(0.0, ended[0] - result.ended_at_s)
        await asyncio.sleep(0.005)
    return None


def _background(voice: str) -> LoadDriver:
    async def background(generator: LoadGenerator, until_s: float) -> None:
        players = [draw_requests((voice,), f"beside {number}") for number in range(NUM_PLAYERS)]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(generator.play(bulk_requests(voice), after_s=0.0, until_s=until_s, paced=False))
            tasks.create_task(closed_loop(generator, players, ramp_s=1.0, until_s=until_s))

    return background


def _measure_vanishing(server: ServerHandle, voice: str) -> dict[str, Any]:
    """Compare memory, streams, connections, threads and files of the server before and after."""
    process = psutil.Process(server.pid)
    requests = draw_requests((voice,), "vanish", stream_class="interactive")
    draw = random.Random("vanish")  # noqa: S311 - repeatable, not secret
    run(_vanish_many(server.port, requests, draw, NUM_SETTLING))
    _wait_until_quiet(process)
    before, rss_before = _state(process, server.port), process.memory_info().rss
    run(_vanish_many(server.port, requests, draw, NUM_VANISHING))
    quiet_after_s = _wait_until_quiet(process)
    after, rss_after = _state(process, server.port), process.memory_info().rss
    return {
        "count": NUM_VANISHING,
        "quiet_after_s": quiet_after_s,
        "rss_mb": {"before": round(rss_before / BYTES_PER_MB, 1), "after": round(rss_after / BYTES_PER_MB, 1)},
        "left": growth(before, after),
        "after": after,
    }


def _state(process: psutil.Process, port: int) -> dict[str, float]:
    own = {"threads": process.num_threads()}
    if hasattr(process, "num_fds"):
        own["files"] = process.num_fds()
    return own | read_gauges(port)


def _wait_until_quiet(process: psutil.Process) -> float | None:
    """Return after how many seconds the server became quiet; None if it did not."""
    began_s = time.perf_counter()
    while time.perf_counter() < began_s + QUIET_TIMEOUT_S:
        before = process.cpu_times()
        time.sleep(QUIET_INTERVAL_S)
        after = process.cpu_times()
        if after.user + after.system - before.user - before.system <= QUIET_CPU_S:
            return round(time.perf_counter() - began_s - QUIET_INTERVAL_S, 1)
    return None


async def _vanish_many(port: int, requests: Iterator[LoadRequest], draw: random.Random, count: int) -> None:
    slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def one(number: int) -> None:
        async with slots:
            await _vanish_once(port, next(requests), number % 5, draw.uniform(0, 0.2))

    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            tasks.create_task(one(number))


async def _vanish_once(port: int, request: LoadRequest, kind: int, wait_s: float) -> None:
    """Leave before the request, in the middle of it, right after it, a little later, or at the first audio."""
    if kind == 4:
        await LoadGenerator(port).request_first_byte(request)
        return
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    data = speech_request(request).encode()
    writer.write(data[: (0, len(data) // 2, None, None)[kind]])
    if kind == 3:
        await asyncio.sleep(wait_s)
    writer.transport.abort()
