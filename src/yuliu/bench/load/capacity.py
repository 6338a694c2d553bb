"""Capacity: the largest number of real-time players without an underrun, and its cost."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import percentile_of, shown
from yuliu.bench.load.point import LoadTiming, measure_point, observe
from yuliu.bench.report import started_report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.bench.engine_cost import EngineCost
    from yuliu.bench.load.point import LoadConfig

MAX_TTFP_MS = 1000.0
"""Maximum p95 of the time to first packet of a load that counts as carried: above it, players wait too long."""
BUSY_SHARE = 0.85
"""Share of busy cores at which a machine is taken for full; the first guess is made from it."""
COST_FACTOR = 1.5
"""Cost of the server as a multiple of the engines' that the first guess assumes."""
GROWTH = 1.25
PRECISION = 0.05
"""Share within which the capacity is known when the search ends."""
MAX_POINTS = 6
SETTLE_S = 1.0
"""Pause between two loads on one server."""


def is_carried(point: Mapping[str, Any]) -> bool:
    """Return whether no player had an underrun, was refused or failed, and almost all had audio within a second."""
    waits = point["ttfp_ms"]
    troubles = point["underrun"]["streams"] + point["rejected"] + point["failed"]
    return not troubles and waits is not None and waits["p95"] <= MAX_TTFP_MS


def next_streams(tried: Mapping[int, bool], first: int) -> int | None:
    """Return the number of players to try next, given which were carried; None when the capacity is known."""
    if not tried:
        return first
    low = max((streams for streams, was_carried in tried.items() if was_carried), default=0)
    high = min((streams for streams, was_carried in tried.items() if not was_carried), default=None)
    if high is None:
        return math.ceil(low * GROWTH)
    if high - low <= max(1, round(PRECISION * high)):
        return None
    return (low + high) // 2 if low else max(1, round(high / GROWTH**2))


def first_guess(cost: EngineCost, num_cores: int) -> int:
    """Return where the search begins: the capacity of a busy machine if the server costs half as much again."""
    return max(1, round(num_cores * BUSY_SHARE / (cost.all_cores * COST_FACTOR)))


def find_capacity(config: LoadConfig, voice: str) -> dict[str, Any]:
    """Search the largest closed loop of a voice that is carried; return it with all points that were tried."""
    cost = config.cost(voice)
    points: list[dict[str, Any]] = []
    with config.server() as server:
        num_cores = observe(server, LoadTiming(0.1, 0.0), {}).machine["cores"]
        while len(points) < MAX_POINTS:
            tried = {point["streams"]: is_carried(point) for point in points}
            streams = next_streams(tried, first_guess(cost, num_cores))
            if streams is None:
                break
            points.append(measure_point(server, config.shape(voice, streams=streams), config.timing, cost))
            config.progress(f"capacity, {voice}: {describe_point(points[-1])}")
            time.sleep(SETTLE_S)
    return capacity_figures(voice, points)


def run_capacity(config: LoadConfig, command: str) -> dict[str, Any]:
    """Search the capacity of each voice and return the report."""
    began_s = time.perf_counter()
    report = started_report(command)
    found = [find_capacity(config, voice) for voice in config.voices]
    return report | {"took_s": round(time.perf_counter() - began_s, 1), "parts": {"capacity": found}}


def capacity_figures(voice: str, points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of the points of a search."""
    best = max((point for point in points if is_carried(point)), key=lambda point: point["streams"], default=None)
    busy = [point["cores_busy"] / point["cores"] for point in points if point["underrun"]["streams"]]
    return {
        "voice": voice,
        "streams": best["streams"] if best else 0,
        "at_capacity": best,
        "least_busy_with_underrun": round(min(busy), 3) if busy else None,
        "points": list(points),
    }


def describe_point(point: Mapping[str, Any]) -> str:
    """Return a point as a line for people."""
    waits = point["ttfp_ms"]
    return (
        f"{point['streams']} streams,"
        f" TTFP {shown(percentile_of(waits, 'p50'))}/{shown(percentile_of(waits, 'p95'))} ms (p50/p95),"
        f" {point['underrun']['streams']} underran, {point['rejected']} refused, {point['failed']} failed,"
        f" {point['cores_busy']:.2f} of {point['cores']} cores busy, CPU ratio {shown(point['cpu_ratio'], 2)}"
    )
