"""A model of a server for the controller: time to first packet from tuning, load and speed of the engines."""

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
"""Fixed cost of a step, seconds."""
WINDOW_S = 3.0
"""Time constant of the smoothed time to first packet, seconds."""
MAX_BACKLOG_S = 1.5
"""Maximum backlog that admission allows, seconds."""
THROUGHPUT = 2.5
"""Factor of the step size in throughput mode."""


@dataclass(frozen=True)
class Conditions:
    """Load and speed of the engines."""

    num_streams: float
    """Streams in real time."""
    rtf: float


class ServerModel:
    """Model that runs in steps of one second.

    Args:
        noise: Relative standard deviation of the measurements.
        seed: Seed of the noise.
    """

    def __init__(self, *, noise: float, seed: int) -> None:
        self._random = random.Random(seed)
        self._noise = noise
        self._backlog_s = 0.0
        self._ttfp_s: float | None = None

    def second(self, conditions: Conditions, tuning: Tuning) -> Measured:
        """Simulate a second with this tuning and return the measurements."""
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
    """Return the tuning after each second of the conditions."""
    found = [start]
    for now, each in enumerate(conditions):
        found.append(update(plant.second(each, found[-1]), float(now)))
    return found[1:]
