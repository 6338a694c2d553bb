"""Latency breakdown: the parts add up to the whole for any clocks."""

from __future__ import annotations

import statistics
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.client.clock import ClockOffset
from yuliu.client.latency import (
    ClientMoments,
    LatencyBreakdown,
    median_run,
    medians,
    network_back_ms,
    silence_s,
    waterfall,
)
from yuliu.wire.native.messages import Times

MS = st.floats(0, 500)


def times_of(parts: list[float], opened_ms: float) -> Times:
    return Times(opened_ms, opened_ms + sum(parts), *parts)


@given(st.lists(MS, min_size=7, max_size=7), st.lists(MS, min_size=4, max_size=4), st.floats(-1e6, 1e6))
def test_parts_add_up_to_the_whole(server_ms: list[float], here_ms: list[float], offset_ms: float) -> None:
    """Each part has its true value, and the network has both ways."""
    there_ms, back_ms, buffer_ms, audible_ms = here_ms
    opened_ms = there_ms + offset_ms
    received_s = (there_ms + sum(server_ms) + back_ms) / 1000
    given_s = received_s + buffer_ms / 1000
    moments = ClientMoments(asked_s=0.0, received_s=received_s, given_s=given_s, heard_s=given_s + audible_ms / 1000)
    times = times_of(server_ms, opened_ms)
    found = waterfall(times, moments)
    assert found.sum_ms == pytest.approx(moments.whole_ms, abs=1e-6)
    assert found.network_ms == pytest.approx(there_ms + back_ms, abs=1e-6)
    assert found.encode_ms == pytest.approx(server_ms[5] + server_ms[6])
    assert (found.buffer_ms, found.audible_ms) == pytest.approx((buffer_ms, audible_ms), abs=1e-6)
    clock = ClockOffset(offset_ms / 1000, 0.0, 0.0, 1)
    assert network_back_ms(times, moments, clock) == pytest.approx(back_ms, abs=1e-6)


def test_medians_are_of_each_part() -> None:
    runs = [
        LatencyBreakdown(**dict.fromkeys((each.name for each in fields(LatencyBreakdown)), ms))
        for ms in (1.0, 9.0, 2.0)
    ]
    assert medians(runs).sum_ms == 18.0


@given(st.lists(st.lists(MS, min_size=9, max_size=9), min_size=1, max_size=9))
def test_median_run_adds_up_to_the_median_sum(parts: list[list[float]]) -> None:
    """The sum holds for any runs; the medians of each part need not add up."""
    names = [each.name for each in fields(LatencyBreakdown)]
    runs = [LatencyBreakdown(**dict(zip(names, each, strict=True))) for each in parts]
    assert median_run(runs).sum_ms == pytest.approx(statistics.median(run.sum_ms for run in runs))


def test_silence_ends_at_the_first_audible_sample() -> None:
    """A sample above -46 dBFS is audible."""
    quiet, loud = np.full(240, 0.004, np.float32), np.full(10, 0.006, np.float32)
    assert silence_s(np.concatenate([quiet, -loud]), 24_000) == 0.01
    assert silence_s(quiet, 24_000) is None
