"""Clock offset: the true offset is always within the uncertainty."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.client.clock import RoundTrip, clock_offset

WAYS = st.tuples(*[st.floats(0, 0.5)] * 3)
"""Times to the server, at the server, and back, seconds."""
ROUNDING_S = 1e-9


def trip(at_s: float, offset_s: float, ways: tuple[float, float, float], drift: float = 0.0) -> RoundTrip:
    """Make a round trip to a server whose clock is ahead by an offset, and runs faster by a drift."""

    def server(s: float) -> float:
        return s * (1 + drift) + offset_s

    there_s, stay_s, back_s = ways
    arrived_s = at_s + there_s
    return RoundTrip(at_s, server(arrived_s), server(arrived_s + stay_s), arrived_s + stay_s + back_s)


@given(st.lists(WAYS, min_size=1, max_size=10), st.floats(-1e4, 1e4), st.floats(-1e-4, 1e-4))
def test_offset_is_within_its_uncertainty(
    ways: list[tuple[float, float, float]], offset_s: float, drift: float
) -> None:
    """The bound holds for any two ways, and any drift within its maximum."""
    trips = [trip(10.0 * n, offset_s, each, drift) for n, each in enumerate(ways)]
    found = clock_offset(trips, max_drift=2e-4)
    now_s = trips[-1].received_s
    true_s = now_s * (1 + drift) + offset_s - now_s
    assert abs(found.offset_s - true_s) <= found.uncertainty_s + ROUNDING_S
    assert found.num_round_trips == len(ways)


def test_shortest_round_trip_decides() -> None:
    """A fast round trip among slow ones gives the estimate."""
    trips = [trip(0, 5, (0.3, 0, 0.1)), trip(1, 5, (0.001, 0.2, 0.001)), trip(2, 5, (0.0, 0, 0.4))]
    found = clock_offset(trips)
    assert found.offset_s == pytest.approx(5)
    assert found.round_trip_s == pytest.approx(0.002)
    assert found.uncertainty_s == pytest.approx(0.001, abs=2e-4)
    assert found.to_client_s(12.0) == pytest.approx(7.0)


def test_old_round_trip_counts_less() -> None:
    """After an hour, a fast round trip is less precise than a new one of 20 ms."""
    old, fresh = trip(0, 5, (0.001, 0, 0.001), drift=5e-5), trip(3600, 5, (0.01, 0, 0.01), drift=5e-5)
    assert clock_offset([old, fresh]).offset_s == pytest.approx(fresh.offset_s)
    assert clock_offset([old, fresh], max_drift=0.0).offset_s == pytest.approx(old.offset_s)


def test_unequal_ways_shift_the_offset_by_half_their_difference() -> None:
    """The uncertainty covers the error of 100 ms to the server and none back."""
    found = clock_offset([trip(0, 5, (0.1, 0, 0.0))])
    assert found.offset_s == pytest.approx(5.05)
    assert found.uncertainty_s >= 0.05 - ROUNDING_S
