"""Steps of several utterances at once, for engines that take them. Pure.

Utterances in a step are computed to the length of the longest, so they must be alike; and each makes the others wait,
so all of it must keep within what the most urgent may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from yuliu.scheduler.policy.steps import RELAXED_LEAD_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.scheduler.policy.costs import Costs

ALIKE = 1.5
"""The longest part of a step is at most so many times the shortest: the waste is below a third of the work."""
COMPANY_S = 0.02
"""A step that is not urgent waits for company for so long at most, seconds."""


class Part(NamedTuple):
    """What a step would do for one job."""

    job_id: int
    num_frames: int
    budget_s: float
    """Compute that the step may take for the sake of this one, seconds."""


def company(first: Part, others: Iterable[Part], *, costs: Costs, max_batch: int) -> list[Part]:
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
    """Until when a step may wait for company; now if it is urgent."""
    return runnable_at_s + COMPANY_S if deadline_s - now > RELAXED_LEAD_S else now
