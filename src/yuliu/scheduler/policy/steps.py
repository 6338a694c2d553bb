"""How large a step is. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.scheduler.policy.book import Job, Stream
    from yuliu.scheduler.policy.costs import Costs, EngineFacts
    from yuliu.scheduler.policy.tuning import Tuning

STEP_PER_LEAD = 2.0
"""A step makes at most so many times what its listener still has to play."""
GROWTH = 2.0
"""A step is at most so many times as large as the one before."""
LAST_STEP = 1.3
"""What is left of an utterance is taken whole if it is at most so many times the step."""
RELAXED_LEAD_S = 1.0
"""A listener with more sound ahead can wait for a larger step, seconds."""
RELAXED = 1.6
"""Factor on the compute of such a step, and of one of bulk work."""
THROUGHPUT = 2.5
"""Factor on the compute of a step of a stream in throughput mode."""
MAX_STEP_S = 2.0
"""Sound in one step, seconds: what is thrown away when a listener interrupts."""


def budget_s(stream: Stream, tuning: Tuning, now: float) -> float:
    """Compute that a stream's next step may take, seconds."""
    if stream.throughput:
        return tuning.step_budget_s * THROUGHPUT
    relaxed = stream.is_bulk or stream.lead_s(now) >= RELAXED_LEAD_S
    return tuning.step_budget_s * (RELAXED if relaxed else 1.0)


def step_frames(stream: Stream, job: Job, *, costs: Costs, facts: EngineFacts, tuning: Tuning, now: float) -> int:
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
    """A step so cut that no tiny one is left at the end of an utterance: two even ones, or all that is left."""
    if frames_left is None or frames_left >= 2 * num_frames:
        return num_frames
    if frames_left <= LAST_STEP * num_frames:
        return max(1, frames_left)
    return math.ceil(frames_left / 2)
