"""The state at one moment, for metrics and the controller. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.types import StreamClass


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the scheduler in numbers."""

    streams: Mapping[tuple[StreamClass, str], int]
    """Open streams by class and state: ``waiting`` to be admitted, ``starting`` without sound yet, ``speaking`` with
    work to do, ``held`` with enough sound ahead or too much unread, ``idle`` without text to speak."""
    queue_depth: Mapping[StreamClass, int]
    """Streams that wait to be admitted, by class."""
    num_workers: int
    """Workers that may be given work."""
    num_workers_busy: int
    throughput: bool
    """True if new streams are spoken in whole sentences and larger steps."""
    demand: float
    """Need of admitted streams that are not bulk, as a share of the workers' time; above 1 is too much."""
    backlog_s: float
    """Compute that waits for streams without sound, seconds a worker."""
    busy_s: float
    """Time that workers have worked since the beginning, seconds, all workers added up: its growth is their load."""
    rtf: Mapping[str, float]
    """Measured compute time by audio time of each engine, on one worker."""

    @property
    def worst_rtf(self) -> float:
        """Real-time factor of the slowest engine."""
        return max(self.rtf.values(), default=0.0)
