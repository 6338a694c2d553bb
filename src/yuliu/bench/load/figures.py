"""From what came of the requests to figures. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from yuliu.bench.load.listener import Outcome

JITTER_S = 0.010
"""A shorter underrun is hidden by any player's own buffer; it counts in seconds, not as a stream with one."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time that counts, without the warm-up; by :func:`time.perf_counter`."""

    from_s: float
    to_s: float

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.to_s - self.from_s


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest of the values that so large a share of them does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def spread_ms(values_s: Collection[float]) -> dict[str, float] | None:
    """Percentiles in milliseconds of values in seconds; None if there are none."""
    if not values_s:
        return None
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {name: round(percentile(values_s, share) * 1e3, 2) for name, share in shares.items()}


def underrun_s(outcome: Outcome, window: Window) -> float:
    """How long its player stood still in the window, which a stall belongs to by its end."""
    return sum(
        still_s for at_s, still_s in outcome.playback.stalls if outcome.sent_at_s + at_s >= window.from_s
    )  # what ends after the window was cut there, or was admitted in it


def audio_s(outcome: Outcome, window: Window) -> float:
    """Sound of it that arrived within the window."""
    num_bytes = sum(
        arrival.num_bytes
        for arrival in outcome.arrivals
        if window.from_s <= outcome.sent_at_s + arrival.at_s < window.to_s
    )
    return num_bytes / outcome.bytes_per_s


def crowd_figures(outcomes: Sequence[Outcome], window: Window) -> dict[str, Any]:
    """What a crowd felt.

    Time to first packet and refusals are those of requests sent within the window, underruns those that happened in
    it, whenever the request was sent. ``cut`` are requests that the end of the bench cut short.
    """
    begun = [outcome for outcome in outcomes if window.from_s <= outcome.sent_at_s < window.to_s]
    heard = [outcome for outcome in outcomes if outcome.ended_at_s >= window.from_s]
    underruns = [underrun_s(outcome, window) for outcome in heard]
    served_s = [audio_s(outcome, window) for outcome in heard]
    smooth_s = sum(each_s for each_s, still_s in zip(served_s, underruns, strict=True) if still_s <= JITTER_S)
    rejected = [outcome for outcome in begun if outcome.rejected]
    return {
        "requests": len(begun),
        "ttfp_ms": spread_ms([outcome.ttfp_s for outcome in begun if outcome.ttfp_s is not None]),
        "underrun": {
            "streams": sum(still_s > JITTER_S for still_s in underruns),
            "seconds": round(sum(underruns), 4),
            "of": sum(bool(outcome.arrivals) for outcome in heard),
        },
        "rejected": len(rejected),
        "rejected_after_ms": spread_ms([outcome.ended_at_s - outcome.sent_at_s for outcome in rejected]),
        "retry_after_s": spread_s([outcome.retry_after_s for outcome in rejected if outcome.retry_after_s is not None]),
        "completed": sum(outcome.completed for outcome in begun),
        "failed": sum(outcome.failed for outcome in begun),
        "failures": _failures(begun),
        "cut": sum(outcome.cut and not outcome.failed for outcome in begun),
        "audio_s": round(sum(served_s), 3),
        "audio_s_per_s": round(sum(served_s) / window.seconds, 3),
        "goodput": round(smooth_s / window.seconds, 3),
    }


def ratio(value: float | None, base: float | None, *, digits: int = 2) -> float | None:
    """How many times the base the value is; None where either is missing or the base is nothing."""
    return None if value is None or not base else round(value / base, digits)


def of(spread: Mapping[str, float] | None, name: str) -> float | None:
    """One of the percentiles of :func:`spread_ms`."""
    return None if spread is None else spread[name]


def shown(value: float | None, digits: int = 0) -> str:
    """A figure for people; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def spread_s(values_s: Collection[float]) -> dict[str, float] | None:
    """Least and most; None if there are none."""
    return {"min": min(values_s), "max": max(values_s)} if values_s else None


def cpu_ratio(server_cpu_s: float, audio_s: float, engine_cpu_s_per_audio_s: float) -> float | None:
    """How many times the engine's own work the server's was; None where nothing was spoken."""
    return ratio(server_cpu_s, audio_s * engine_cpu_s_per_audio_s, digits=3)


def _failures(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many failed with which status; 0 is a lost connection, 200 a body without its end."""
    counts: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.failed:
            counts[str(outcome.status)] = counts.get(str(outcome.status), 0) + 1
    return counts
