"""The search for the capacity, and the loads that count as carried."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.bench.engine_cost import EngineCost
from yuliu.bench.load.capacity import (
    PRECISION,
    capacity_figures,
    describe_point,
    first_guess,
    is_carried,
    next_streams,
)

POINT: dict[str, Any] = {
    "streams": 10,
    "ttfp_ms": {"p50": 20.0, "p95": 40.0, "p99": 50.0, "max": 60.0},
    "underrun": {"streams": 0, "seconds": 0.0, "of": 30},
    "rejected": 0,
    "failed": 0,
    "cores_busy": 1.5,
    "cores": 2,
    "cpu_ratio": 1.3,
}


@given(st.integers(0, 400), st.integers(1, 400))
def test_the_search_finds_the_capacity(capacity: int, first: int) -> None:
    """From any first guess, within the promised precision, never trying the same number twice."""
    tried: dict[int, bool] = {}
    while (streams := next_streams(tried, first)) is not None:
        assert streams not in tried
        tried[streams] = streams <= capacity
    found = max((streams for streams, was_carried in tried.items() if was_carried), default=0)
    assert capacity - max(1, round(PRECISION * (capacity + 1))) <= found <= capacity


def test_a_search_from_a_good_guess_is_short() -> None:
    """Each point takes a third of a minute."""
    tried: dict[int, bool] = {}
    while (streams := next_streams(tried, 28)) is not None:
        tried[streams] = streams <= 33
    assert len(tried) <= 5


@pytest.mark.parametrize(
    "changes",
    [
        {"underrun": {"streams": 1, "seconds": 0.2, "of": 30}},
        {"rejected": 1},
        {"failed": 1},
        {"ttfp_ms": None},
        {"ttfp_ms": {"p50": 20.0, "p95": 1001.0, "p99": 50.0, "max": 60.0}},
    ],
)
def test_a_load_with_any_trouble_is_not_carried(changes: dict[str, Any]) -> None:
    """Refusals and long waits count as trouble, too."""
    assert is_carried(POINT)
    assert not is_carried(POINT | changes)


def test_the_figures_name_the_capacity_and_the_least_busy_load_with_an_underrun() -> None:
    """Busy is a share of all cores; the capacity is 0 if no load was carried."""
    stuttering = POINT | {"streams": 14, "underrun": {"streams": 2, "seconds": 1.0, "of": 30}, "cores_busy": 1.8}
    figures = capacity_figures("tone", [POINT, POINT | {"streams": 12}, stuttering])
    assert figures["streams"] == 12
    assert figures["least_busy_with_underrun"] == 0.9
    assert capacity_figures("tone", [stuttering])["streams"] == 0
    assert "12 streams, TTFP 20/40 ms" in describe_point(figures["at_capacity"])


def test_the_first_guess_fits_the_machine() -> None:
    """Cheaper engines and more cores carry more; the guess is at least one."""
    cheap, dear = EngineCost(0.01, 0.01, 5.0), EngineCost(0.04, 0.04, 5.0)
    assert first_guess(cheap, 2) == pytest.approx(4 * first_guess(dear, 2), abs=4)
    assert first_guess(EngineCost(9.0, 9.0, 5.0), 1) == 1
