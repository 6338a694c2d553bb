"""A model of a server under the controller: what its tuning, its load and its engines' speed make of first packets."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.scheduler.policy.autotune import Measured
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.scheduler.policy.tuning import Tuning

STEP_COST_S = 0.003
"""What each step costs beside its sound, seconds."""
WINDOW_S = 3.0
"""Time to first packet is reported late: smoothed over so long."""
MAX_BACKLOG_S = 1.5
"""What admission lets wait."""
THROUGHPUT = 2.5
"""Steps are so many times larger in throughput mode."""


@dataclass(frozen=True)
class Conditions:
    """What the world does to the server."""

    num_streams: float
    """Streams that want sound in real time."""
    rtf: float


class ServerModel:
    """Runs in steps of one second.

    Args:
        noise: Standard deviation of what is measured, as a share of it.
        seed: Of the noise.
    """

    def __init__(self, *, noise: float, seed: int) -> None:
        self._random = random.Random(seed)
        self._noise = noise
        self._backlog_s = 0.0
        self._ttfp_s: float | None = None

    def second(self, conditions: Conditions, tuning: Tuning) -> Measured:
        """Run a second with this tuning and report."""
        budget_s = tuning.step_budget_s * (THROUGHPUT if tuning.throughput else 1)
        assert tuning.num_workers is not None
        wanted = conditions.num_streams * conditions.rtf * (1 + STEP_COST_S / budget_s) / tuning.num_workers
        load = min(wanted + self._backlog_s, 1.0)
        self._backlog_s = min(max(self._backlog_s + wanted - 1, 0.0), MAX_BACKLOG_S)
        queued = min(load / (1.02 - load), 10) * 0.3 + load / 2
        first_s = conditions.rtf * (0.2 + 0.8 * tuning.first_weight_scale) * 0.3  # the first segment is planned whole
        first_s += min(conditions.rtf * tuning.first_step_s, budget_s)
        ttfp_s = 0.004 + first_s + queued * budget_s + self._backlog_s
        late_s = ttfp_s if self._ttfp_s is None else self._ttfp_s + (ttfp_s - self._ttfp_s) / WINDOW_S
        self._ttfp_s = late_s
        return Measured(
            {StreamClass.INTERACTIVE: late_s * self._wobble()},
            rtf=conditions.rtf * self._wobble(),
            backlog_s=self._backlog_s * self._wobble(),
            load=min(load * self._wobble(), 1.0),
        )

    def _wobble(self) -> float:
        return math.exp(self._random.gauss(0, self._noise))


def run(
    plant: ServerModel, update: Callable[[Measured, float], Tuning], start: Tuning, conditions: list[Conditions]
) -> list[Tuning]:
    """The tuning after each second of the conditions."""
    found = [start]
    for now, each in enumerate(conditions):
        found.append(update(plant.second(each, found[-1]), float(now)))
    return found[1:]
