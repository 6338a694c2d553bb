"""Choice of the steps that run in one batch."""

from __future__ import annotations

import pytest

from yuliu.scheduler.policy.costs import Costs, EngineFacts
from yuliu.scheduler.policy.steps import ALIKE, COMPANY_S, RELAXED_LEAD_S, StepShare, company, may_wait_until_s

FACTS = EngineFacts(100.0, max_batch=4, rtf=0.04 / 3)  # 1 ms for 0.1 s of stepping, half of it for the call


def batch_of(*parts: tuple[int, float], max_batch: int = 4) -> list[int]:
    """Return the numbers of the parts in the batch, for parts given by frames and budget."""
    first, *others = (StepShare(number, frames, budget_s) for number, (frames, budget_s) in enumerate(parts))
    return [part.job_id for part in company(first, others, costs=Costs(FACTS), max_batch=max_batch)]


def test_a_batch_is_filled_in_order_up_to_its_maximum() -> None:
    """A batch never exceeds the maximum of the engine."""
    assert batch_of(*[(20, 1.0)] * 6) == [0, 1, 2, 3]
    assert batch_of(*[(20, 1.0)] * 6, max_batch=2) == [0, 1]


def test_a_batch_holds_steps_of_similar_size() -> None:
    """The ratio is bounded in both directions, also as further steps join."""
    assert batch_of((20, 1.0), (int(20 * ALIKE), 1.0), (40, 1.0), (14, 1.0), (20, 1.0)) == [0, 1, 4]


@pytest.mark.parametrize("place", range(3))
def test_a_batch_keeps_within_the_smallest_budget(place: int) -> None:
    """The budget counts wherever its step stands in the batch."""
    parts = [(20, 1.0)] * 3
    parts[place] = (20, Costs(FACTS).step_s(40, 2) * 1.01)
    assert len(batch_of(*parts)) == 2


def test_a_step_beyond_its_budget_runs_alone() -> None:
    """It runs in spite of its cost."""
    assert batch_of((100, 0.001), (100, 1.0)) == [0]


@pytest.mark.parametrize(("deadline_s", "until_s"), [(10 + RELAXED_LEAD_S / 2, 10.0), (12.0, 9.99 + COMPANY_S)])
def test_an_urgent_step_does_not_wait(deadline_s: float, until_s: float) -> None:
    """Other steps wait briefly, from the time at which they could have started."""
    assert may_wait_until_s(deadline_s, 9.99, 10.0) == until_s
