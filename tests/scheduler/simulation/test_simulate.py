"""The policy under load, on a virtual clock: no admitted listener ever hears a gap."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from yuliu.errors import InvalidRequest
from yuliu.scheduler.policy.autotune import Controller
from yuliu.scheduler.simulation.rates import Rates, read_rates
from yuliu.scheduler.simulation.simulate import Load, capacity, carried, simulate
from yuliu.types import StreamClass

SLOW = {"a": Rates(plan_s=0.003, plan_s_per_s=0.006, step_s=0.001, step_s_per_s=0.05)}
"""Engine of which two workers carry about thirty listeners."""
LOAD = Load(seconds=30.0)


def test_the_same_seed_gives_the_same_result() -> None:
    """Another seed gives another result."""
    load = replace(LOAD, num_streams=10, rate_per_s=0.5)
    assert simulate(SLOW, load) == simulate(SLOW, load)
    assert simulate(SLOW, load) != simulate(SLOW, replace(load, seed=1))


@settings(max_examples=20, deadline=None)
@given(
    num_streams=st.integers(1, 40),
    num_workers=st.integers(1, 4),
    num_bulk=st.integers(0, 2),
    step_s_per_s=st.floats(0.01, 0.3),
    step_s=st.floats(0.0, 0.01),
    max_batch=st.sampled_from([1, 4]),
    max_lead_s=st.sampled_from([1.0, 3.0, None]),
    seed=st.integers(0, 99),
)
def test_admitted_listeners_never_hear_a_gap(
    num_streams: int,
    num_workers: int,
    num_bulk: int,
    step_s_per_s: float,
    step_s: float,
    max_batch: int,
    max_lead_s: float | None,
    seed: int,
) -> None:
    """This holds for any load and any engine faster than real time; excess streams are rejected."""
    rates = {"a": Rates(0.003, 0.006, step_s, step_s_per_s, max_batch=max_batch, batch_cost=0.5)}
    load = Load(num_streams=num_streams, num_bulk=num_bulk, seconds=8.0, audio_s=6.0, max_lead_s=max_lead_s, seed=seed)
    result = simulate(rates, load, num_workers=num_workers)
    assert result.underrun_s == ()
    assert result.num_completed == result.num_admitted == len(result.ttfp_s)
    assert result.num_admitted + result.num_rejected == result.num_streams


def test_overload_is_rejected_without_loss_of_throughput() -> None:
    """At two and four times the capacity, throughput is that at the limit, without gaps."""
    best = capacity(SLOW, LOAD, num_workers=2)
    at_limit = simulate(SLOW, replace(LOAD, num_streams=best))
    assert carried(at_limit)
    for factor in (2, 4):
        result = simulate(SLOW, replace(LOAD, num_streams=factor * best))
        assert result.num_rejected > 0
        assert result.underrun_s == ()
        assert result.audio_s / result.seconds >= 0.9 * at_limit.audio_s / at_limit.seconds
        assert all(1.0 <= retry_s <= 60.0 for retry_s in result.retry_after_s)


def test_first_packet_times_grow_gently_up_to_the_limit() -> None:
    """The first packet comes later with more load, but not by much."""
    best = capacity(SLOW, LOAD, num_workers=2)
    alone = simulate(SLOW, replace(LOAD, num_streams=1))
    busy = simulate(SLOW, replace(LOAD, num_streams=round(0.8 * best)))
    assert busy.ttfp_ms(0.95) <= 4 * alone.ttfp_ms(0.5)
    assert busy.ttfp_ms(0.99) <= 8 * alone.ttfp_ms(0.5)


def test_bulk_work_uses_idle_capacity_without_gaps() -> None:
    """First packets are at most one step later, and the worker that is not reserved is never idle."""
    load = replace(LOAD, num_streams=6)
    without, beside = simulate(SLOW, load), simulate(SLOW, replace(load, num_bulk=1))
    assert beside.ttfp_ms(0.95) <= without.ttfp_ms(0.95) + 40
    assert beside.underrun_s == ()
    assert beside.load >= 0.5
    assert simulate(SLOW, replace(LOAD, num_bulk=2)).load > 0.95


def test_bulk_work_continues_under_heavy_overload() -> None:
    """A small share of the work is bulk."""
    result = simulate(SLOW, replace(LOAD, num_streams=100, num_bulk=1))
    assert result.bulk_s > 1.0
    assert result.underrun_s == ()


def test_batching_raises_capacity() -> None:
    """An engine with cheap further utterances carries more listeners than one without."""
    dear = Rates(0.001, 0.0, 0.004, 0.03, max_batch=8, batch_cost=1.0)
    cheap = structs.replace(dear, batch_cost=0.1)
    assert capacity({"a": cheap}, LOAD, num_workers=1) > 1.3 * capacity({"a": dear}, LOAD, num_workers=1)


def test_capacity_grows_with_the_number_of_workers() -> None:
    """The growth is nearly proportional."""
    one, four = (capacity(SLOW, LOAD, num_workers=number) for number in (1, 4))
    assert four >= 3.5 * one


def test_the_controller_causes_no_gaps() -> None:
    """It adjusts the tuning during the run."""
    targets = dict.fromkeys(StreamClass, 0.05)
    load = replace(LOAD, num_streams=25)
    result = simulate(SLOW, load, controller=Controller(targets, 1, 2))
    assert result.num_tunings > 0
    assert result.underrun_s == ()


def test_a_rates_table_is_read() -> None:
    """Missing values have their defaults."""
    found = read_rates({"x": {"step_s_per_s": 0.01, "max_batch": 4, "note": "measured"}}, "table.toml")
    assert found == {"x": Rates(step_s_per_s=0.01, max_batch=4)}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "no engines"),
        ({"x": 3}, "x must be a table"),
        ({"x": {"rtf": 1}}, r"x\.rtf is not known; known here: plan_s"),
        ({"x": {"step_s": -1}}, r"x\.step_s must be a number from 0"),
        ({"x": {"step_s": "1"}}, r"x\.step_s must be a number"),
        ({"x": {"step_s": float("nan")}}, r"x\.step_s must be a number"),
        ({"x": {"max_batch": 1.5}}, r"x\.max_batch must be a whole number from 1"),
        ({"x": {"frames_per_s": 0}}, r"x\.frames_per_s must be a number from 1"),
    ],
)
def test_an_invalid_rates_table_is_rejected(table: dict[str, object], message: str) -> None:
    """The message names the place."""
    with pytest.raises(InvalidRequest, match=message):
        read_rates(table, "table.toml")
