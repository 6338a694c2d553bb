"""Figures of a load from the results of its requests. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from yuliu.bench.client import HttpResult

JITTER_S = 0.010
"""Longest underrun that the buffer of any player hides: it counts in seconds, but not as a stream with an underrun."""


@dataclass(frozen=True, slots=True)
class MeasurementWindow:
    """The measured time, without the warm-up; by :func:`time.perf_counter`."""

    from_s: float
    to_s: float

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return self.to_s - self.from_s


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def percentiles_ms(values_s: Collection[float]) -> dict[str, float] | None:
    """Return percentiles in milliseconds of values in seconds; None without values."""
    if not values_s:
        return None
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {name: round(percentile(values_s, share) * 1e3, 2) for name, share in shares.items()}


def underrun_s(result: HttpResult, window: MeasurementWindow) -> float:
    """Return how long its player was silent in the window; a stall belongs to the window in which it ends."""
    return sum(
        length_s for at_s, length_s in result.playback.stalls if result.sent_at_s + at_s >= window.from_s
    )  # stalls that end after the window were cut there, or belong to a request of the window


def audio_s(result: HttpResult, window: MeasurementWindow) -> float:
    """Return the length of its audio that arrived within the window."""
    num_bytes = sum(
        arrival.num_bytes
        for arrival in result.arrivals
        if window.from_s <= result.sent_at_s + arrival.at_s < window.to_s
    )
    return num_bytes / result.bytes_per_s


def load_figures(results: Sequence[HttpResult], window: MeasurementWindow) -> dict[str, Any]:
    """Return the figures as clients experience them.

    Time to first packet and refusals are those of requests sent within the window; underruns those that ended in it,
    regardless of when the request was sent. ``cut`` counts requests that the end of the bench cut short.
    """
    sent = [result for result in results if window.from_s <= result.sent_at_s < window.to_s]
    heard = [result for result in results if result.ended_at_s >= window.from_s]
    underruns = [underrun_s(result, window) for result in heard]
    served_s = [audio_s(result, window) for result in heard]
    smooth_s = sum(each_s for each_s, silent_s in zip(served_s, underruns, strict=True) if silent_s <= JITTER_S)
    rejected = [result for result in sent if result.rejected]
    return {
        "requests": len(sent),
        "ttfp_ms": percentiles_ms([result.ttfp_s for result in sent if result.ttfp_s is not None]),
        "underrun": {
            "streams": sum(silent_s > JITTER_S for silent_s in underruns),
            "seconds": round(sum(underruns), 4),
            "of": sum(bool(result.arrivals) for result in heard),
        },
        "rejected": len(rejected),
        "rejected_after_ms": percentiles_ms([result.ended_at_s - result.sent_at_s for result in rejected]),
        "retry_after_s": range_of([result.retry_after_s for result in rejected if result.retry_after_s is not None]),
        "completed": sum(result.completed for result in sent),
        "failed": sum(result.failed for result in sent),
        "failures": _failures(sent),
        "cut": sum(result.cut and not result.failed for result in sent),
        "audio_s": round(sum(served_s), 3),
        "audio_s_per_s": round(sum(served_s) / window.seconds, 3),
        "goodput": round(smooth_s / window.seconds, 3),
    }


def ratio(value: float | None, base: float | None, *, digits: int = 2) -> float | None:
    """Return ``value / base``; None if either is missing or the base is zero."""
    return None if value is None or not base else round(value / base, digits)


def percentile_of(percentiles: Mapping[str, float] | None, name: str) -> float | None:
    """Return one of the values of :func:`percentiles_ms`."""
    return None if percentiles is None else percentiles[name]


def shown(value: float | None, digits: int = 0) -> str:
    """Format a figure for people; a dash if it is missing."""
    return "-" if value is None else f"{value:.{digits}f}"


def range_of(values: Collection[float]) -> dict[str, float] | None:
    """Return minimum and maximum; None without values."""
    return {"min": min(values), "max": max(values)} if values else None


def cpu_ratio(server_cpu_s: float, audio_s: float, engine_cpu_s_per_audio_s: float) -> float | None:
    """Return the server's CPU time as a multiple of the engines' own; None if nothing was spoken."""
    return ratio(server_cpu_s, audio_s * engine_cpu_s_per_audio_s, digits=3)


def _failures(results: Iterable[HttpResult]) -> dict[str, int]:
    """Count failures by status; 0 is a lost connection, 200 a body without its end."""
    counts: dict[str, int] = {}
    for result in results:
        if result.failed:
            counts[str(result.status)] = counts.get(str(result.status), 0) + 1
    return counts
