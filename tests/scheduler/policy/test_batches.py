"""Which steps go together."""

from __future__ import annotations

import pytest

from yuliu.scheduler.policy.costs import Costs, EngineFacts
from yuliu.scheduler.policy.steps import ALIKE, COMPANY_S, RELAXED_LEAD_S, StepShare, company, may_wait_until_s

FACTS = EngineFacts(100.0, max_batch=4, rtf=0.04 / 3)  # 1 ms for 0.1 s of stepping, and half of that for the call


def together(*parts: tuple[int, float], max_batch: int = 4) -> list[int]:
    """The numbers of those that go, of parts by frames and budget."""
    first, *others = (StepShare(number, frames, budget_s) for number, (frames, budget_s) in enumerate(parts))
    return [part.job_id for part in company(first, others, costs=Costs(FACTS), max_batch=max_batch)]


def test_as_many_as_the_engine_takes_in_their_order() -> None:
    """No more."""
    assert together(*[(20, 1.0)] * 6) == [0, 1, 2, 3]
    assert together(*[(20, 1.0)] * 6, max_batch=2) == [0, 1]


def test_only_what_is_alike() -> None:
    """In both directions, and also as more join."""
    assert together((20, 1.0), (int(20 * ALIKE), 1.0), (40, 1.0), (14, 1.0), (20, 1.0)) == [0, 1, 4]


@pytest.mark.parametrize("place", range(3))
def test_all_of_it_keeps_within_the_smallest_budget(place: int) -> None:
    """Whoever of them is in a hurry."""
    parts = [(20, 1.0)] * 3
    parts[place] = (20, Costs(FACTS).step_s(40, 2) * 1.01)
    assert len(together(*parts)) == 2


def test_one_that_is_beyond_its_budget_goes_alone() -> None:
    """It goes all the same."""
    assert together((100, 0.001), (100, 1.0)) == [0]


@pytest.mark.parametrize(("deadline_s", "until_s"), [(10 + RELAXED_LEAD_S / 2, 10.0), (12.0, 9.99 + COMPANY_S)])
def test_who_is_in_a_hurry_does_not_wait(deadline_s: float, until_s: float) -> None:
    """Others wait a little, counted from when they could have begun."""
    assert may_wait_until_s(deadline_s, 9.99, 10.0) == until_s
