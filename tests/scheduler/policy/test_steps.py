"""Sizes of steps."""

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
    facts = EngineFacts(FPS, rtf=rtf * 4 / 3)  # three quarters of the cost are for steps
    job = JobState(1, 1, "a", 0.0, planned=True, frames_left=left)
    return step_frames(of, job, costs=Costs(facts), facts=facts, tuning=Tuning(**tuning), now=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lead_s", "step_s", "expected_s"),
    [
        (0.0, 0.0, 0.2),  # the first step
        (0.2, 0.2, 0.4),  # twice the last step
        (0.15, 0.4, 0.3),  # twice the lead
        (0.01, 0.8, 0.2),  # nearly dry: like the first step
        (3.0, 1.5, MAX_STEP_S),
    ],
)
def test_steps_grow_with_the_lead(lead_s: float, step_s: float, expected_s: float) -> None:
    """The steps of this engine are cheap."""
    assert frames(stream(lead_s, step_s)) == round(expected_s * FPS)


def test_steps_keep_within_the_budget() -> None:
    """The budget is 25 ms, or 40 ms for a stream that can wait; the fixed cost of a call is that of 0.05 s of audio."""
    assert frames(stream(0.5, 5.0), rtf=0.05) == round((0.025 / 0.05 - 0.05) * FPS)
    assert frames(stream(3.0, 5.0), rtf=0.05) == round((0.025 * RELAXED / 0.05 - 0.05) * FPS)
    assert frames(stream(3.0, 5.0), rtf=0.05, step_budget_s=0.01) == round((0.01 * RELAXED / 0.05 - 0.05) * FPS)


def test_throughput_streams_get_larger_steps() -> None:
    """Their steps are larger even with little lead."""
    of = stream(0.5, 5.0)
    of.throughput = True
    assert budget_s(of, Tuning(), 0.0) == THROUGHPUT * Tuning().step_budget_s


def test_a_slow_engine_gets_no_tiny_steps() -> None:
    """Context frames are less than half of the frames that a step computes."""
    facts = EngineFacts(FPS, rtf=1.0, context_frames=20)
    costs = Costs(facts)
    assert costs.frames_within(0.001) == 90


def test_bulk_work_starts_with_large_steps() -> None:
    """No listener waits for the first one."""
    assert frames(stream(stream_class=StreamClass.BULK)) == round(MAX_STEP_S * FPS)


@given(left=st.integers(1, 10_000), size=st.integers(1, 500))
def test_no_tiny_last_step_is_left(left: int, size: int) -> None:
    """Steps add up to the remaining frames; each but the last is nearly as large as wanted, and none much larger."""
    steps = []
    while left:
        steps.append(fitted(size, left))
        left -= steps[-1]
        assert left >= 0
    assert max(steps) <= max(1, LAST_STEP * size)
    assert len(steps) == 1 or min(steps) >= size // 2


@given(lead_s=st.floats(0, 10), step_s=st.floats(0, 10), rtf=st.floats(0.0001, 5), left=st.none() | st.integers(1, 999))
def test_a_step_has_at_least_one_frame_and_at_most_the_rest(
    lead_s: float, step_s: float, rtf: float, left: int | None
) -> None:
    """The bounds hold for any cost."""
    number = frames(stream(lead_s, step_s), rtf=rtf, left=left)
    assert 1 <= number <= (left or LAST_STEP * MAX_STEP_S * FPS)
