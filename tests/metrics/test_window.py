"""Tests of the statistics of the last minute, against a list of all events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_reports import report

from yuliu.metrics.report import StreamMoments
from yuliu.metrics.window import MAX_TTFPS, WINDOW_S, StatsWindow, percentile
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.metrics.report import StreamReport

OUTCOMES = ("finished", "failed", "cancelled", "rejected")


@st.composite
def reports(draw: st.DrawFn) -> StreamReport:
    sent_s = draw(st.none() | st.floats(0.001, 4.0))
    return report(
        outcome=draw(st.sampled_from(OUTCOMES)),
        stream_class=draw(st.sampled_from(StreamClass)),
        moments=StreamMoments(sent_s=sent_s, ended_s=5.0),
        underrun_s=draw(st.sampled_from([0.0, 0.004, 0.5])) if sent_s else 0.0,
        audio_s=draw(st.floats(0, 10)) if sent_s else 0.0,
        num_characters=draw(st.integers(0, 50)),
    )


FACTS = st.one_of(
    st.just(("started",)),
    st.tuples(st.just("ended"), reports()),
    st.tuples(st.just("worked"), st.sampled_from("ab"), st.floats(0, 1), st.floats(0, 2)),
    st.tuples(st.just("feedback"), st.sampled_from(["gap", "click"])),
)


def naive(told: list[tuple[float, Any]], now: float) -> dict[str, Any]:
    """Naive model: counts over a list of events with their times."""
    recent = [fact for at_s, fact in told if math.floor(now) - WINDOW_S < math.floor(at_s)]
    ended = [fact[1] for fact in recent if fact[0] == "ended"]
    heard = [each for each in ended if each.moments.sent_s is not None]
    listened = [each for each in heard if each.stream_class is not StreamClass.BULK]
    gaps = [each for each in listened if each.underrun_s >= 0.01]
    works = [fact[1:] for fact in recent if fact[0] == "worked"]
    made = {engine: sum(audio_s for name, _, audio_s in works if name == engine) for engine in "ab"}
    took = {engine: sum(took_s for name, took_s, _ in works if name == engine) for engine in "ab"}
    kinds = [fact[1] for fact in recent if fact[0] == "feedback"]
    ttfps = sorted(1000 * each.moments.ttfp_s() for each in heard)
    return {
        "window_s": 60,
        "streams": {"started": sum(fact[0] == "started" for fact in recent)}
        | {outcome: sum(each.outcome == outcome for each in ended) for outcome in OUTCOMES},
        "ttfp_ms": {
            name: next((t for i, t in enumerate(ttfps, 1) if i >= share * len(ttfps)), None)
            for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
        },
        "underrun": {
            "streams": len(gaps),
            "share": len(gaps) / len(listened) if listened else 0.0,
            "seconds": sum(each.underrun_s for each in listened),
        },
        "audio_s": sum(each.audio_s for each in ended),
        "compute_s": sum(took.values()),
        "characters": sum(each.num_characters for each in ended),
        "rtf": {engine: took[engine] / made[engine] for engine in "ab" if made[engine] > 0},
        "feedback": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
    }


@given(st.lists(st.tuples(st.floats(0, 20), FACTS), max_size=40), st.floats(0, 90), st.floats(0, 1e6))
def test_the_window_counts_the_last_minute(steps: list[tuple[float, Any]], later_s: float, begin_s: float) -> None:
    """This holds for events at any distance, read at any later time."""
    window, told, now = StatsWindow(), [], begin_s
    for pause_s, fact in steps:
        now += pause_s
        told.append((now, fact))
        getattr(window, fact[0])(*fact[1:], now)
    stats = window.stats(now + later_s)
    expected = naive(told, now + later_s)
    assert stats.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, dict):
            assert stats[name] == pytest.approx(value), name
        else:
            assert stats[name] == pytest.approx(value), name
    assert len(window._seconds) <= WINDOW_S


def test_times_to_first_packet_are_limited_and_the_longest_is_kept() -> None:
    """The memory of a second with very many streams is limited."""
    window = StatsWindow()
    for index in range(3 * MAX_TTFPS):
        window.ended(report(moments=StreamMoments(sent_s=9.0 if index == 2 * MAX_TTFPS else 0.1, ended_s=9.0)), 7.5)
    assert len(window._seconds[0].ttfps_s) == MAX_TTFPS
    assert window.stats(7.9)["ttfp_ms"] == {"p50": 100.0, "p95": 100.0, "p99": 100.0, "max": 9000.0}


def test_a_slightly_earlier_time_counts_for_the_newest_second() -> None:
    """Threads read the clock before they take the lock."""
    window = StatsWindow()
    window.started(10.01)
    window.started(9.99)
    assert window.stats(69.5)["streams"] == {
        "started": 2,
        **dict.fromkeys(OUTCOMES, 0),
    }
    assert window.stats(70.0)["streams"] == dict.fromkeys(("started", *OUTCOMES), 0)


@given(st.lists(st.floats(0, 1), min_size=1).map(sorted), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_the_smallest_value_that_the_share_does_not_exceed(ordered: list[float], share: float) -> None:
    """No smaller value has this property."""
    value = percentile(ordered, share)
    assert sum(each <= value for each in ordered) >= share * len(ordered) - 1e-9
    assert sum(each < value for each in ordered) < share * len(ordered)
