"""The most urgent work: the rule, compared with a naive implementation of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.scheduler.policy.run_queue import AGEING_S, GUARD_S, PATIENCE_S, Candidate, Pool, RunQueue

NOW = 10.0
MOMENTS = st.floats(NOW - 5, NOW + 5)


def filled(silent: list[float], listening: list[float], bulk: list[float] | None = None, at: float = NOW) -> RunQueue:
    queue, job_id = RunQueue(), 0
    for pool, moments in ((Pool.SILENT, silent), (Pool.LISTENING, listening), (Pool.BULK, bulk or [])):
        for moment in moments:
            job_id += 1
            queue.add(pool, Candidate(moment, 1, -1.0, 0.0, 0, job_id), at)
    return queue


def best(queue: RunQueue, *, cost_s: float = 0.03, step_s: float = 0.02, bulk: bool = True) -> Candidate | None:
    return queue.best(NOW, until_sound_s=lambda _: cost_s, listening_s=step_s, bulk=bulk, barred=set())


@given(listening=st.lists(MOMENTS, min_size=1, max_size=20))
def test_the_first_listener_to_run_dry_is_served(listening: list[float]) -> None:
    """No silent stream with a later deadline changes that."""
    found = best(filled([max(listening) + 1], listening))
    assert found is not None
    assert found.deadline_s == min(listening)


@given(
    silent=st.lists(MOMENTS, min_size=1, max_size=5),
    listening=st.lists(MOMENTS, min_size=1, max_size=20),
    cost_s=st.floats(0, 0.2),
    step_s=st.floats(0.001, 0.05),
)
def test_a_silent_stream_goes_first_if_all_others_can_wait(
    silent: list[float], listening: list[float], cost_s: float, step_s: float
) -> None:
    """Each listener still gets its step in time afterwards, one after the other."""
    at_s = NOW + cost_s + GUARD_S
    can_wait = all(at_s + number * step_s <= moment + 1e-9 for number, moment in enumerate(sorted(listening), 1))
    surely = all(at_s + number * step_s < moment - 1e-6 for number, moment in enumerate(sorted(listening), 1))
    found = best(filled(silent, listening), cost_s=cost_s, step_s=step_s)
    assert found is not None
    first = min(silent)
    if min(listening) <= first:
        assert found.deadline_s == min(listening)
    elif surely or first + PATIENCE_S <= NOW:
        assert found.deadline_s == first
    elif not can_wait:
        assert found.deadline_s == min(listening)


@given(silent=st.lists(MOMENTS, max_size=3), listening=st.lists(MOMENTS, max_size=3))
def test_bulk_work_runs_when_idle_or_after_a_long_wait(silent: list[float], listening: list[float]) -> None:
    """It never runs while it is not allowed."""
    fresh, old = filled(silent, listening, [0.5, 0.25]), filled(silent, listening, [0.5, 0.25], at=NOW - AGEING_S)
    number = len(silent) + len(listening) + 2
    others = bool(silent or listening)
    assert (best(fresh) or Candidate(0, 0, 0, 0, 0, 0)).job_id == (number if not others else best(fresh).job_id)  # type: ignore[union-attr]
    assert (found := best(old)) is not None
    assert found.job_id == number
    barred = best(old, bulk=False)
    assert barred is None or barred.job_id < number - 1
    assert (barred is None) == (not others)
    if others:
        assert (found := best(fresh)) is not None
        assert found.job_id < number - 1


@pytest.mark.parametrize(("num_listening", "slack_s"), [(0, 1.0), (1, 0.5 - 0.1), (3, 0.5 - 0.3)])
def test_slack_is_the_time_that_listeners_can_spare(num_listening: int, slack_s: float) -> None:
    """Three steps must fit before the third listener runs dry."""
    queue = filled([], [NOW + 0.5] * num_listening)
    assert queue.slack_s(NOW, 1.0, 0.1) == pytest.approx(min(slack_s, 1.0))


@given(listening=st.lists(MOMENTS, min_size=2, max_size=9, unique=True))
def test_barred_jobs_are_left_out(listening: list[float]) -> None:
    """The next job is served."""
    queue = filled([], listening)
    first = best(queue)
    assert first is not None
    found = queue.best(NOW, until_sound_s=lambda _: 0.0, listening_s=0.02, bulk=True, barred={first.job_id})
    assert found is not None
    assert found.deadline_s == sorted(listening)[1]
