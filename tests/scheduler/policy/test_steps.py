"""How large a step is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.scheduler.policy.costs import Costs, EngineFacts
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.policy.state import JobState, StreamState
from yuliu.scheduler.policy.steps import LAST_STEP, MAX_STEP_S, RELAXED, THROUGHPUT, budget_s, fitted, step_frames
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.types import StreamClass

FPS = 100.0


def stream(lead_s: float = 0.0, step_s: float = 0.0, stream_class: StreamClass = StreamClass.STANDARD) -> StreamState:
    return StreamState(
        1,
        ("a",),
        Terms(stream_class),
        0.0,
        made_s=lead_s,
        taken_s=lead_s,
        dry_at_s=lead_s,
        step_s=step_s,
        admitted=True,
    )


def frames(of: StreamState, *, rtf: float = 0.001, left: int | None = None, **tuning: float) -> int:
    facts = EngineFacts(FPS, rtf=rtf * 4 / 3)  # three quarters of it for steps
    job = JobState(1, 1, "a", 0.0, planned=True, frames_left=left)
    return step_frames(of, job, costs=Costs(facts), facts=facts, tuning=Tuning(**tuning), now=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lead_s", "step_s", "expected_s"),
    [
        (0.0, 0.0, 0.2),  # the first
        (0.2, 0.2, 0.4),  # twice the last
        (0.15, 0.4, 0.3),  # twice the lead
        (0.01, 0.8, 0.2),  # nearly dry: as the first
        (3.0, 1.5, MAX_STEP_S),
    ],
)
def test_steps_follow_the_lead(lead_s: float, step_s: float, expected_s: float) -> None:
    """While they are cheap."""
    assert frames(stream(lead_s, step_s)) == round(expected_s * FPS)


def test_steps_keep_within_the_budget() -> None:
    """25 ms, 40 ms for who can wait; the cost of the call counts as 0.05 s of sound."""
    assert frames(stream(0.5, 5.0), rtf=0.05) == round((0.025 / 0.05 - 0.05) * FPS)
    assert frames(stream(3.0, 5.0), rtf=0.05) == round((0.025 * RELAXED / 0.05 - 0.05) * FPS)
    assert frames(stream(3.0, 5.0), rtf=0.05, step_budget_s=0.01) == round((0.01 * RELAXED / 0.05 - 0.05) * FPS)


def test_throughput_streams_may_take_longer() -> None:
    """Their steps are larger, however little lead there is."""
    of = stream(0.5, 5.0)
    of.throughput = True
    assert budget_s(of, Tuning(), 0.0) == THROUGHPUT * Tuning().step_budget_s


def test_a_slow_engine_is_not_stepped_in_crumbs() -> None:
    """What a step computes beside its own frames is never most of it."""
    facts = EngineFacts(FPS, rtf=1.0, context_frames=20)
    costs = Costs(facts)
    assert costs.frames_within(0.001) == 90


def test_bulk_work_takes_large_steps_at_once() -> None:
    """Nobody waits for the first."""
    assert frames(stream(stream_class=StreamClass.BULK)) == round(MAX_STEP_S * FPS)


@given(left=st.integers(1, 10_000), size=st.integers(1, 500))
def test_no_crumbs_are_left(left: int, size: int) -> None:
    """Steps add up to what is left; each but the last is nearly as large as wanted, and none much larger."""
    steps = []
    while left:
        steps.append(fitted(size, left))
        left -= steps[-1]
        assert left >= 0
    assert max(steps) <= max(1, LAST_STEP * size)
    assert len(steps) == 1 or min(steps) >= size // 2


@given(lead_s=st.floats(0, 10), step_s=st.floats(0, 10), rtf=st.floats(0.0001, 5), left=st.none() | st.integers(1, 999))
def test_a_step_is_never_empty_or_more_than_is_left(lead_s: float, step_s: float, rtf: float, left: int | None) -> None:
    """Whatever the costs."""
    number = frames(stream(lead_s, step_s), rtf=rtf, left=left)
    assert 1 <= number <= (left or LAST_STEP * MAX_STEP_S * FPS)
