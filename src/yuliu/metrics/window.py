"""Statistics of the last minute. Pure: the time is an argument of every call."""

from __future__ import annotations

import math
from array import array
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from yuliu.metrics.report import StreamReport

WINDOW_S = 60
"""Number of whole seconds that are kept, the current one included."""
MAX_TTFPS = 1_000
"""Maximum number of times to first packet kept per second; of further ones only the longest is kept."""


@dataclass(slots=True)
class _Second:
    """Counts of one second."""

    number: int
    """Whole part of its times."""
    counts: Counter[str] = field(default_factory=Counter)
    """``started``, the outcomes, ``heard`` (ended with audio, bulk streams excluded), ``underrun``, ``characters``."""
    feedback: Counter[str] = field(default_factory=Counter)
    underrun_s: float = 0.0
    audio_s: float = 0.0
    ttfps_s: array[float] = field(default_factory=lambda: array("d"))
    compute_s: dict[str, float] = field(default_factory=dict)
    made_s: dict[str, float] = field(default_factory=dict)


class StatsWindow:
    """Counts of the last :data:`WINDOW_S` seconds, one bucket per second.

    Times may go back by about a second: a late event counts for the newest second.
    """

    def __init__(self) -> None:
        self._seconds: deque[_Second] = deque()

    def started(self, now: float) -> None:
        """Record an opened stream."""
        self._at(now).counts["started"] += 1

    def ended(self, report: StreamReport, now: float) -> None:
        """Record a finished stream."""
        second = self._at(now)
        second.counts[report.outcome] += 1
        second.counts["characters"] += report.num_characters
        is_listened_to = report.stream_class is not StreamClass.BULK
        if is_listened_to:
            second.counts["underrun"] += report.had_underrun
            second.underrun_s += report.underrun_s
        second.audio_s += report.audio_s
        ttfp_s = report.moments.ttfp_s()
        if ttfp_s is not None:
            second.counts["heard"] += is_listened_to
            _keep(second.ttfps_s, ttfp_s)

    def worked(self, engine: str, took_s: float, audio_s: float, now: float) -> None:
        """Record a plan or a step of an engine."""
        second = self._at(now)
        second.compute_s[engine] = second.compute_s.get(engine, 0.0) + took_s
        second.made_s[engine] = second.made_s.get(engine, 0.0) + audio_s

    def feedback(self, kind: str, now: float) -> None:
        """Record a complaint of a listener."""
        self._at(now).feedback[kind] += 1

    def rtfs(self, now: float) -> dict[str, float]:
        """Return compute time per audio time of each engine that made audio."""
        self._forget(now)
        compute_s = _added(second.compute_s for second in self._seconds)
        made_s = _added(second.made_s for second in self._seconds)
        return {engine: compute_s[engine] / made_s[engine] for engine in sorted(made_s) if made_s[engine] > 0}

    def stats(self, now: float) -> dict[str, object]:
        """Return all statistics as plain values for JSON."""
        self._forget(now)
        counts: Counter[str] = Counter()
        feedback: Counter[str] = Counter()
        for second in self._seconds:
            counts += second.counts
            feedback += second.feedback
        heard = counts["heard"]
        return {
            "window_s": WINDOW_S,
            "streams": {name: counts[name] for name in ("started", "finished", "failed", "cancelled", "rejected")},
            "ttfp_ms": _percentiles_ms(sorted(t for second in self._seconds for t in second.ttfps_s)),
            "underrun": {
                "streams": counts["underrun"],
                "share": counts["underrun"] / heard if heard else 0.0,
                "seconds": sum(second.underrun_s for second in self._seconds),
            },
            "audio_s": sum(second.audio_s for second in self._seconds),
            "compute_s": sum(sum(second.compute_s.values()) for second in self._seconds),
            "characters": counts["characters"],
            "rtf": self.rtfs(now),
            "feedback": dict(sorted(feedback.items())),
        }

    def _at(self, now: float) -> _Second:
        number = math.floor(now)
        if not self._seconds or self._seconds[-1].number < number:
            self._forget(now)
            self._seconds.append(_Second(number))
        return self._seconds[-1]

    def _forget(self, now: float) -> None:
        oldest = math.floor(now) - WINDOW_S + 1
        while self._seconds and self._seconds[0].number < oldest:
            self._seconds.popleft()


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest of the ascending values that at least ``share`` of them do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _percentiles_ms(ordered_s: Sequence[float]) -> dict[str, float | None]:
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    if not ordered_s:
        return dict.fromkeys(shares)
    return {name: 1000 * percentile(ordered_s, share) for name, share in shares.items()}


def _keep(ttfps_s: array[float], ttfp_s: float) -> None:
    if len(ttfps_s) < MAX_TTFPS:
        ttfps_s.append(ttfp_s)
    else:
        ttfps_s[-1] = max(ttfps_s[-1], ttfp_s)


def _added(each: Iterable[dict[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for values in each:
        for name, value in values.items():
            total[name] = total.get(name, 0.0) + value
    return total
