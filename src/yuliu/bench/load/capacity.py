"""How many real-time players are carried without an underrun, and what that costs; and the waits a little below it."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import of, ratio, shown, spread_ms
from yuliu.bench.load.point import Timing, measure_point, observe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.bench.load.crowd import Crowd
    from yuliu.bench.load.engine import EngineCost
    from yuliu.bench.load.setting import Setting
    from yuliu.bench.process import Running

MAX_TTFP_MS = 1000.0
"""Players are not carried where p95 of the time to first packet is above it: they would only wait, not hear."""
BUSY_SHARE = 0.85
"""So busy a machine is taken for full; from it the first number of streams is guessed."""
COST_FACTOR = 1.5
GROWTH = 1.25
PRECISION = 0.05
"""The search ends when it is known within so small a share."""
MAX_POINTS = 6
SETTLE_S = 1.0
"""Between two loads of one server."""
NEAR_FULL = 0.8
PAUSE_S = 0.2
"""Between two requests of a listener who is alone."""


def carried(point: Mapping[str, Any]) -> bool:
    """Whether nobody stood still, was refused or failed, and hardly anybody waited for a second."""
    waits = point["ttfp_ms"]
    troubles = point["underrun"]["streams"] + point["rejected"] + point["failed"]
    return not troubles and waits is not None and waits["p95"] <= MAX_TTFP_MS


def next_streams(tried: Mapping[int, bool], first: int) -> int | None:
    """How many players to try next, knowing which numbers were carried; None when the largest is known well enough."""
    if not tried:
        return first
    most = max((streams for streams, was_carried in tried.items() if was_carried), default=0)
    too_many = min((streams for streams, was_carried in tried.items() if not was_carried), default=None)
    if too_many is None:
        return math.ceil(most * GROWTH)
    if too_many - most <= max(1, round(PRECISION * too_many)):
        return None
    return (most + too_many) // 2 if most else max(1, round(too_many / GROWTH**2))


def first_guess(cost: EngineCost, num_cores: int) -> int:
    """Where the search begins: what a busy machine would carry if the server cost half as much again as the engine."""
    return max(1, round(num_cores * BUSY_SHARE / (cost.all_cores * COST_FACTOR)))


def find_capacity(setting: Setting, voice: str) -> dict[str, Any]:
    """The largest closed loop of a voice that is carried, all points tried, and what they tell."""
    cost = setting.cost(voice)
    points: list[dict[str, Any]] = []
    with setting.server() as server:
        num_cores = observe(server, Timing(0.1, 0.0), {}).machine["cores"]
        while len(points) < MAX_POINTS:
            tried = {point["streams"]: carried(point) for point in points}
            streams = next_streams(tried, first_guess(cost, num_cores))
            if streams is None:
                break
            points.append(measure_point(server, setting.shape(voice, streams=streams), setting.timing, cost))
            setting.progress(f"capacity, {voice}: {line_of(points[-1])}")
            time.sleep(SETTLE_S)
    return capacity_figures(voice, points)


def capacity_figures(voice: str, points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the points of a search tell."""
    best = max((point for point in points if carried(point)), key=lambda point: point["streams"], default=None)
    underran = [point["cores_busy"] / point["cores"] for point in points if point["underrun"]["streams"]]
    return {
        "voice": voice,
        "streams": best["streams"] if best else 0,
        "at_capacity": best,
        "least_busy_with_underrun": round(min(underran), 3) if underran else None,
        "points": list(points),
    }


def line_of(point: Mapping[str, Any]) -> str:
    """A point in one line, for people."""
    waits = point["ttfp_ms"]
    return (
        f"{point['streams']} streams, TTFP {shown(of(waits, 'p50'))}/{shown(of(waits, 'p95'))} ms (p50/p95),"
        f" {point['underrun']['streams']} underran, {point['rejected']} refused, {point['failed']} failed,"
        f" {point['cores_busy']:.2f} of {point['cores']} cores busy, CPU ratio {shown(point['cpu_ratio'], 2)}"
    )


def measure_cliff(setting: Setting, voice: str, capacity: int) -> dict[str, Any]:
    """Waits at 80 % of the capacity, beside those of a listener who is alone."""
    streams = max(1, int(NEAR_FULL * capacity))
    timing = replace(setting.timing, seconds=2 * setting.timing.seconds)
    with setting.server() as server:
        alone = measure_alone(server, setting, voice)
        time.sleep(SETTLE_S)
        loaded = measure_point(server, setting.shape(voice, streams=streams), timing, setting.cost(voice))
    base, waits = of(alone, "p50"), loaded["ttfp_ms"]
    setting.progress(f"cliff, {voice}: alone {shown(base)} ms; {line_of(loaded)}")
    return {
        "voice": voice,
        "streams": streams,
        "alone_ttfp_ms": alone,
        "loaded": loaded,
        "p95_to_alone": ratio(of(waits, "p95"), base),
        "p99_to_alone": ratio(of(waits, "p99"), base),
    }


def measure_alone(server: Running, setting: Setting, voice: str) -> dict[str, float] | None:
    """Time to first packet, milliseconds, of one listener at a time, who leaves at the first sound."""
    wanted = setting.shape(voice, streams=1).asks("alone")

    async def one_by_one(crowd: Crowd, until_s: float) -> None:
        while time.perf_counter() < until_s:
            await crowd.taste(next(wanted))
            await asyncio.sleep(PAUSE_S)

    observed = observe(server, Timing(setting.timing.seconds / 2, setting.timing.warm_up_s / 2), {"alone": one_by_one})
    return spread_ms([outcome.ttfp_s for outcome in observed.outcomes["alone"] if outcome.ttfp_s is not None])
