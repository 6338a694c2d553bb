"""The parts ``cliff`` and ``overload``: latency at 80 % of the capacity, and refusals at twice the capacity."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.capacity import SETTLE_S, describe_point
from yuliu.bench.load.figures import percentile_of, percentiles_ms, ratio, shown
from yuliu.bench.load.point import LoadTiming, measure_point, observe

if TYPE_CHECKING:
    from yuliu.bench.load.generator import LoadGenerator
    from yuliu.bench.load.point import LoadConfig
    from yuliu.bench.server_process import ServerHandle

NEAR_CAPACITY = 0.8
PAUSE_S = 0.2
"""Pause between two requests of a client that is alone."""
OVERLOAD = 2.0
OVERLOAD_WARM_UP_S = 12.0
"""Time until the number of clients has settled."""


def measure_cliff(config: LoadConfig, voice: str, capacity: int) -> dict[str, Any]:
    """Measure the latency at 80 % of the capacity, beside that of a client that is alone."""
    streams = max(1, int(NEAR_CAPACITY * capacity))
    timing = replace(config.timing, seconds=2 * config.timing.seconds)
    with config.server() as server:
        alone = measure_alone(server, config, voice)
        time.sleep(SETTLE_S)
        loaded = measure_point(server, config.shape(voice, streams=streams), timing, config.cost(voice))
    base, waits = percentile_of(alone, "p50"), loaded["ttfp_ms"]
    config.progress(f"cliff, {voice}: alone {shown(base)} ms; {describe_point(loaded)}")
    return {
        "voice": voice,
        "streams": streams,
        "alone_ttfp_ms": alone,
        "loaded": loaded,
        "p95_to_alone": ratio(percentile_of(waits, "p95"), base),
        "p99_to_alone": ratio(percentile_of(waits, "p99"), base),
    }


def measure_alone(server: ServerHandle, config: LoadConfig, voice: str) -> dict[str, float] | None:
    """Return the time to first packet, milliseconds, of one client at a time that leaves at the first byte of audio."""
    requests = config.shape(voice, streams=1).requests("alone")

    async def one_by_one(generator: LoadGenerator, until_s: float) -> None:
        while time.perf_counter() < until_s:
            await generator.request_first_byte(next(requests))
            await asyncio.sleep(PAUSE_S)

    timing = LoadTiming(config.timing.seconds / 2, config.timing.warm_up_s / 2)
    results = observe(server, timing, {"alone": one_by_one}).results["alone"]
    return percentiles_ms([result.ttfp_s for result in results if result.ttfp_s is not None])


def measure_overload(config: LoadConfig, voice: str, capacity: int, best_goodput: float | None) -> dict[str, Any]:
    """Measure random arrivals at a rate that would keep twice the capacity listening if all were served at once.

    Args:
        config: Voices, duration and server.
        voice: Voice to request.
        capacity: Number of streams that are carried.
        best_goodput: Seconds of audio of smooth streams in a second at capacity; None if it was not measured.
    """
    cost = config.cost(voice)
    rate_per_s = OVERLOAD * capacity / cost.audio_s_per_request  # Little's law
    timing = LoadTiming(config.timing.seconds, OVERLOAD_WARM_UP_S)
    with config.server() as server:
        point = measure_point(server, config.shape(voice, rate_per_s=rate_per_s), timing, cost)
    config.progress(f"overload, {voice}: {rate_per_s:.1f} a second; {describe_point(point)}")
    share = ratio(point["goodput"], best_goodput, digits=3)
    return {"voice": voice, "capacity": capacity, "point": point, "goodput_share": share}
