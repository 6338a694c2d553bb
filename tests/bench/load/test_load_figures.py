"""Figures of a load: the requests, stalls and audio that count, and those that do not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.bench.client import HttpResult
from yuliu.bench.load.figures import (
    JITTER_S,
    MeasurementWindow,
    audio_s,
    cpu_ratio,
    load_figures,
    percentile,
    percentile_of,
    percentiles_ms,
    ratio,
    shown,
    underrun_s,
)
from yuliu.bench.playback import ChunkArrival

WINDOW = MeasurementWindow(100.0, 110.0)
BYTES_PER_S = 48_000


def heard(*arrivals: tuple[float, float], sent_at_s: float = 101.0, ended_at_s: float | None = None) -> HttpResult:
    """Audio that arrived whole, as (seconds since the request, seconds of audio)."""
    came = tuple(ChunkArrival(at_s, round(length_s * BYTES_PER_S)) for at_s, length_s in arrivals)
    end_s = sent_at_s + came[-1].at_s if ended_at_s is None else ended_at_s
    return HttpResult(sent_at_s, end_s, 200, {"x-sample-rate": "24000"}, came, whole=True, cut=False)


def refused(status: int = 429, *, sent_at_s: float = 101.0) -> HttpResult:
    return replace(heard((0.0, 0.0)), arrivals=(), status=status, sent_at_s=sent_at_s, ended_at_s=sent_at_s + 0.2)


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    """Nearest rank: the smallest of the values that at least this share does not exceed."""
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert sum(value < found for value in values) < share * len(values) + 1e-9


def test_percentiles_are_in_milliseconds() -> None:
    """There are none without values."""
    assert percentiles_ms([0.001 * number for number in range(1, 101)]) == {"p50": 50, "p95": 95, "p99": 99, "max": 100}
    assert percentiles_ms([]) is None


def test_a_player_that_was_silent_when_cut_had_an_underrun() -> None:
    """The stall in progress at the end counts; audio that was still playing is not a stall."""
    outcome = replace(heard((0.1, 1.0), ended_at_s=105.0), whole=False, cut=True)
    assert outcome.playback.underrun_s == pytest.approx(2.9)
    assert replace(outcome, ended_at_s=101.5).playback.underrun_s == 0
    assert replace(outcome, whole=True, cut=False).playback.underrun_s == 0


def test_only_stalls_within_the_window_count() -> None:
    """Stalls during the warm-up do not count."""
    outcome = heard((0.0, 1.0), (3.0, 10.0), (13.5, 1.0), sent_at_s=95.0)
    assert outcome.playback.underrun_s == pytest.approx(2.5)
    assert underrun_s(outcome, WINDOW) == pytest.approx(0.5)


def test_only_audio_within_the_window_counts() -> None:
    """Whenever the request was sent."""
    outcome = heard((0.0, 1.0), (6.0, 2.0), (16.0, 4.0), sent_at_s=95.0)
    assert audio_s(outcome, WINDOW) == pytest.approx(2.0)


def test_each_request_is_counted_once() -> None:
    """As completed, refused, failed or cut; requests sent outside of the window are left out."""
    outcomes = [
        heard((0.05, 2.0)),
        refused(),
        refused(503),
        replace(heard((0.05, 2.0)), whole=False),
        replace(heard((0.05, 20.0)), whole=False, cut=True),
        replace(refused(), status=0, cut=True),
        heard((0.5, 1.0), sent_at_s=90.0),
        refused(sent_at_s=110.0),
    ]
    figures = load_figures(outcomes, WINDOW)
    kinds = [figures[name] for name in ("completed", "rejected", "failed", "cut")]
    assert kinds == [1, 1, 3, 1]
    assert figures["requests"] == sum(kinds) == 6
    assert figures["failures"] == {"503": 1, "200": 1, "0": 1}
    assert figures["ttfp_ms"]["max"] == 50.0
    assert figures["rejected_after_ms"]["max"] == 200.0


def test_short_stalls_count_only_in_seconds() -> None:
    """The buffer of a player hides them."""
    short, long = 0.8 * JITTER_S, 1.2 * JITTER_S
    figures = load_figures([heard((0.0, 1.0), (1.0 + still_s, 1.0)) for still_s in (short, long)], WINDOW)
    assert figures["underrun"] == {"streams": 1, "seconds": pytest.approx(short + long), "of": 2}
    assert figures["audio_s_per_s"] == pytest.approx(0.4)
    assert figures["goodput"] == pytest.approx(0.2)


def test_cost_is_a_multiple_of_the_engines() -> None:
    """There is none if nothing was spoken."""
    assert cpu_ratio(3.0, 100.0, 0.02) == 1.5
    assert cpu_ratio(3.0, 0.0, 0.02) is None
    assert ratio(None, 2.0) is None
    assert ratio(math.pi, 1.0, digits=3) == 3.142


def test_missing_figures_stay_missing() -> None:
    """A missing value has no percentile and no ratio, and people see a dash."""
    assert (percentile_of(None, "p50"), percentile_of({"p50": 2.0}, "p50")) == (None, 2.0)
    assert (shown(None), shown(1.25, 1)) == ("-", "1.2")
