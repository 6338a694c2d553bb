"""Estimated costs of work: guesses that measurements replace."""

from __future__ import annotations

import pytest

from yuliu.scheduler.policy.costs import CALL_S, Costs, EngineFacts

FPS = 100.0
FACTS = EngineFacts(FPS, max_batch=8, rtf=0.2)


def measured(num_steps: int = 300, took_s: float = 0.021, num_frames: int = 100) -> Costs:
    costs = Costs(FACTS)
    for _ in range(num_steps):
        costs.stepped(took_s, num_frames / FPS, num_frames)
    return costs


def test_the_first_guess_is_the_configured_factor() -> None:
    """A quarter of it is for planning."""
    costs = Costs(FACTS)
    assert costs.rtf == pytest.approx(0.2)
    assert costs.step_s(round(FPS)) == pytest.approx(0.15 * (1 + CALL_S))


def test_measurements_replace_the_guess() -> None:
    """About the last fifty steps count."""
    costs = measured()
    assert costs.rtf == pytest.approx(0.021, rel=0.01)
    assert costs.step_s(100) == pytest.approx(0.021, rel=0.01)
    for _ in range(200):
        costs.stepped(0.042, 1.0, 100)
    assert costs.rtf == pytest.approx(0.042, rel=0.03)


def test_the_cost_of_plans_is_spread_over_the_audio() -> None:
    """A plan of 10 ms for every ten steps of a second costs 1 ms per second."""
    costs = Costs(FACTS)
    for number in range(500):
        if number % 10 == 0:
            costs.planned(0.01)
        costs.stepped(0.02, 1.0, 100)
    assert costs.rtf == pytest.approx(0.021, rel=0.02)
    assert costs.plan_s == pytest.approx(0.01, rel=0.3)


def test_a_call_has_a_fixed_cost() -> None:
    """Small steps cost more than their share of the audio; frames within a budget agree with the cost."""
    costs = measured()
    assert costs.step_s(10) > 0.1 * costs.step_s(100)
    number = costs.frames_within(0.04)
    assert costs.step_s(number) <= 0.04 < costs.step_s(number + 1)


def test_context_frames_are_counted() -> None:
    """Twenty frames on each side double the cost of a step of forty frames."""
    costs = Costs(EngineFacts(FPS, rtf=0.1, context_frames=20))
    assert costs.step_s(85) - costs.step_s(40) == pytest.approx(costs.step_s(40) * 45 / 85)


@pytest.mark.parametrize("further", [0.0, 0.3, 1.0])
def test_savings_of_batching_are_measured(further: float) -> None:
    """The cost of each further utterance is measured for any size of step."""
    costs = measured()
    for number in range(60):
        size = 2 + number % 3
        costs.stepped(0.021 * (1 + (size - 1) * further), float(size), 100 * size, size)
    assert costs.step_s(400, 4) == pytest.approx(0.021 * (1 + 3 * further), rel=0.05, abs=0.002)


def test_batching_counts_towards_capacity_only_once_measured() -> None:
    """A guess admits no stream."""
    costs = measured()
    assert costs.under_load(0.02, 100, budget_s=0.1, least=20) == 0.02
    for _ in range(60):
        costs.stepped(0.021 * 1.5, 2.0, 200, 2)
    most = costs.frames_within(0.1, 8)
    full = 0.02 * (1 + 0.05 * FPS / most) * (1 + 7 * 0.5) / 8
    assert costs.under_load(0.02, 100, budget_s=0.1, least=20) == pytest.approx(full, rel=0.05)
    assert costs.under_load(0.02, 100, budget_s=0.021, least=100) == 0.02  # no room for a second one
    assert costs.under_load(0.01, 100, budget_s=0.1, least=20) == 0.01  # it was full


def test_a_step_that_waited_gives_no_cost_of_frames() -> None:
    """The worker was busy with it, and that time counts."""
    costs = measured()
    before_s = costs.step_s(100)
    costs.stepped(0.05, 0.0, 0)
    assert costs.step_s(100) == before_s
    assert costs.rtf > 0.0211
