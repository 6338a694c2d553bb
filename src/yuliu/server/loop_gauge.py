"""The number of tasks on the event loop, for the metrics."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from yuliu.metrics.report import GaugeValues

if TYPE_CHECKING:
    from yuliu.metrics.metrics import Metrics


class LoopGauge:
    """Counts tasks on the loop, where their number stands still; metrics are collected on threads.

    Args:
        metrics: Reads the gauge.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._num_tasks: int | None = None
        metrics.gauge_source(lambda: GaugeValues(num_tasks=self._num_tasks))

    def observe(self) -> None:
        """Count the tasks; call this on the loop."""
        self._num_tasks = len(asyncio.all_tasks())
