"""Quotas of a key, on a virtual clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.access.quotas import DAY_S, KeyUsage
from yuliu.errors import Overloaded, QuotaExceeded


def test_requests_come_back_at_an_even_pace() -> None:
    """A minute's requests may come at once; each further one succeeds after the advised delay."""
    usage = KeyUsage()
    for _ in range(6):
        usage.request(6, 100.0)
    with pytest.raises(QuotaExceeded) as caught:
        usage.request(6, 100.0)
    assert caught.value.retry_after_s == pytest.approx(10)
    with pytest.raises(QuotaExceeded):
        usage.request(6, 109.9)
    usage.request(6, 110.0)
    usage.request(None, 110.0)


@given(st.integers(1, 50), st.lists(st.floats(0, 30), max_size=200))
def test_no_minute_holds_more_than_twice_the_rate(per_minute: int, gaps_s: list[float]) -> None:
    """The maximum is one burst plus a minute's refill; a client that waits as advised is admitted."""
    usage, now_s, taken = KeyUsage(), 0.0, []
    for gap_s in gaps_s:
        now_s += gap_s
        try:
            usage.request(per_minute, now_s)
        except QuotaExceeded as error:
            assert 0 < error.retry_after_s <= 60 / per_minute + 1e-6
            now_s += error.retry_after_s
            usage.request(per_minute, now_s)
        taken.append(now_s)
    for start_s in taken:
        assert sum(start_s <= each < start_s + 60 for each in taken) <= 2 * per_minute


def test_concurrent_streams_are_bounded() -> None:
    """A stream that ends frees its place."""
    usage = KeyUsage()
    usage.open(2)
    usage.open(2)
    with pytest.raises(QuotaExceeded, match="2 streams"):
        usage.open(2)
    usage.close()
    usage.open(2)
    assert usage.num_streams == 2


def test_characters_per_day_are_bounded() -> None:
    """A text is charged whole or not at all; the count restarts at midnight UTC."""
    usage, noon_s = KeyUsage(), 20_000 * DAY_S + DAY_S / 2
    usage.characters(60, 100, noon_s)
    with pytest.raises(QuotaExceeded, match="40 are left") as caught:
        usage.characters(41, 100, noon_s + 60)
    assert caught.value.retry_after_s == DAY_S / 2 - 60
    usage.characters(40, 100, noon_s)
    usage.give_back(10)
    usage.characters(10, 100, noon_s + DAY_S / 2 - 1)
    with pytest.raises(Overloaded):
        usage.characters(1, 100, noon_s + DAY_S / 2 - 1)
    usage.characters(100, 100, noon_s + DAY_S / 2)
