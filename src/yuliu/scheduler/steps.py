"""How large a step is. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.scheduler.book import Job, Stream
    from yuliu.scheduler.costs import Costs, EngineFacts
    from yuliu.scheduler.tuning import Tuning

STEP_PER_LEAD = 2.0
"""A step makes at most so many times what its listener still has to play."""
GROWTH = 2.0
"""A step is at most so many times as large as the one before."""
LAST_STEP = 1.3
"""What is left of an utterance is taken whole if it is at most so many times the step."""
THROUGHPUT = 2.5
"""Factor on the compute of a step of a stream in throughput mode."""


def step_frames(stream: Stream, job: Job, *, costs: Costs, facts: EngineFacts, tuning: Tuning, now: float) -> int:
    """Frames of the next step of a job.

    It is small at first and grows with the listener's lead, as long as its compute keeps within the budget.
    """
    budget_s = tuning.step_budget_s * (THROUGHPUT if stream.throughput else 1.0)
    most_s = budget_s / max(costs.step_rtf, 1e-6)
    lead_s = stream.dry_at_s - now if stream.made_s else 0.0
    ramp_s = min(GROWTH * stream.step_s, STEP_PER_LEAD * lead_s)
    step_s = min(max(tuning.first_step_s, ramp_s), max(most_s, 1 / facts.frames_per_s))
    num_frames = max(1, round(step_s * facts.frames_per_s))
    if job.frames_left is not None and job.frames_left <= LAST_STEP * num_frames:
        return max(1, job.frames_left)
    return num_frames
