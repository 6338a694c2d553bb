"""Sizes of steps. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.scheduler.policy.costs import Costs, EngineFacts
    from yuliu.scheduler.policy.state import JobState, StreamState
    from yuliu.scheduler.policy.tuning import Tuning


ALIKE = 1.5
"""Maximum ratio of the longest to the shortest part of a step: the waste is below a third of the work."""
COMPANY_S = 0.02
"""Maximum time that a step that is not urgent waits for a batch, seconds."""


class StepShare(NamedTuple):
    """Part of one job in a step."""

    job_id: int
    num_frames: int
    budget_s: float
    """Compute that the step may take for the sake of this one, seconds."""


def company(first: StepShare, others: Iterable[StepShare], *, costs: Costs, max_batch: int) -> list[StepShare]:
    """The first one and those of the others that go with it, in their order."""
    parts = [first]
    least = most = first.num_frames
    within_s = max(first.budget_s, costs.step_s(first.num_frames))
    for other in others:
        if len(parts) >= max_batch:
            break
        shortest, longest = min(least, other.num_frames), max(most, other.num_frames)
        size = len(parts) + 1
        limit_s = min(within_s, max(other.budget_s, costs.step_s(other.num_frames)))
        if longest <= ALIKE * shortest and costs.step_s(longest * size, size) <= limit_s:
            parts.append(other)
            least, most, within_s = shortest, longest, limit_s
    return parts


def may_wait_until_s(deadline_s: float, runnable_at_s: float, now: float) -> float:
    """Return the time until which a step may wait for a batch; now if it is urgent."""
    return runnable_at_s + COMPANY_S if deadline_s - now > RELAXED_LEAD_S else now


STEP_PER_LEAD = 2.0
"""Maximum size of a step as a multiple of the listener's lead."""
GROWTH = 2.0
"""Maximum size of a step as a multiple of the one before."""
LAST_STEP = 1.3
"""The rest of an utterance is taken whole if it is at most this multiple of the step."""
RELAXED_LEAD_S = 1.0
"""A listener with more sound ahead can wait for a larger step, seconds."""
RELAXED = 1.6
"""Factor on the compute of such a step, and of one of bulk work."""
THROUGHPUT = 2.5
"""Factor on the compute of a step of a stream in throughput mode."""
MAX_STEP_S = 2.0
"""Maximum audio in one step, seconds: it is discarded when a listener interrupts."""


def budget_s(stream: StreamState, tuning: Tuning, now: float) -> float:
    """Compute that a stream's next step may take, seconds."""
    if stream.throughput:
        return tuning.step_budget_s * THROUGHPUT
    relaxed = stream.is_bulk or stream.lead_s(now) >= RELAXED_LEAD_S
    return tuning.step_budget_s * (RELAXED if relaxed else 1.0)


def step_frames(
    stream: StreamState, job: JobState, *, costs: Costs, facts: EngineFacts, tuning: Tuning, now: float
) -> int:
    """Frames of the next step of a job.

    It is small at first and grows with the listener's lead, as long as its compute keeps within the budget.
    """
    wanted_s = MAX_STEP_S
    if not stream.is_bulk:
        ramp_s = min(GROWTH * stream.step_s, STEP_PER_LEAD * stream.lead_s(now))
        wanted_s = min(max(tuning.first_step_s, ramp_s), MAX_STEP_S)
    most = costs.frames_within(budget_s(stream, tuning, now))
    return fitted(min(max(1, round(wanted_s * facts.frames_per_s)), most), job.frames_left)


def fitted(num_frames: int, frames_left: int | None) -> int:
    """Return the size of a step that leaves no tiny one at the end: two even ones, or all that is left."""
    if frames_left is None or frames_left >= 2 * num_frames:
        return num_frames
    if frames_left <= LAST_STEP * num_frames:
        return max(1, frames_left)
    return math.ceil(frames_left / 2)
