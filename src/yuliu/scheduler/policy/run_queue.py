"""The queue of runnable work, ordered by urgency. Pure.

Work is kept in three pools: for listeners in silence, for listeners with audio to play, and bulk work. Deadlines are
moments, not spans, so that nothing changes as time passes.
"""

from __future__ import annotations

import itertools
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from yuliu.scheduler.policy.state import JobState, StreamState
    from yuliu.scheduler.policy.tuning import Tuning

AGEING_S = 5.0
"""Maximum time between two pieces of bulk work while other work waits, seconds."""
GUARD_S = 0.05
"""Margin for serving a listener in silence first, seconds: listeners with audio must be able to wait this much longer
than the work is expected to take."""
PATIENCE_S = 3.0
"""Time after its deadline at which a listener in silence goes before listeners with audio, seconds."""

RANK = {StreamClass.INTERACTIVE: 0, StreamClass.STANDARD: 1, StreamClass.BULK: 2}


class Pool(Enum):
    """Kind of waiting listener."""

    SILENT = "silent"
    """Listeners that hear nothing yet, or nothing of a text that came after they had run dry."""
    LISTENING = "listening"
    """Listeners that have audio to play, or should have."""
    BULK = "bulk"
    """Bulk work, without a listener."""


class Candidate(NamedTuple):
    """A job that a worker could plan or step; the smallest of a pool is the most urgent."""

    deadline_s: float
    """Deadline; for bulk work the turn (:attr:`StreamState.turn`)."""
    rank: int
    lightness: float
    ready_at_s: float
    place: int
    """Segments of its stream before it."""
    job_id: int


def pool_of(stream: StreamState, head: JobState) -> Pool:
    """Return the pool of a stream whose first segment is ``head``."""
    if stream.is_bulk:
        return Pool.BULK
    return Pool.SILENT if stream.is_silent(head) else Pool.LISTENING


def deadline_s(stream: StreamState, head: JobState, tuning: Tuning, now: float) -> float:
    """Return the deadline of a stream's next audio; for bulk work its turn.

    A listener in silence should hear something within the target of its class. A listener with audio needs more once it
    has played that, which is impossible before it was handed out.
    """
    if stream.is_bulk:
        return stream.turn
    if stream.is_silent(head):
        target_s = stream.terms.ttfp_target_s or tuning.classes[stream.terms.stream_class].ttfp_target_s
        return head.ready_at_s + target_s / stream.terms.weight
    return max(stream.dry_at_s, now + stream.unread_s) if stream.unread_s > 1.0 else stream.dry_at_s


class RunQueue:
    """The candidates, by pool."""

    def __init__(self) -> None:
        self._pools: dict[Pool, dict[int, Candidate]] = {pool: {} for pool in Pool}
        self._bulk_since_s: float | None = None  # since when bulk work waits, or was last done
        self._bulk_turn = 0.0  # that of the bulk stream served last

    @property
    def is_empty(self) -> bool:
        """True if the queue is empty."""
        return not any(self._pools.values())

    def __iter__(self) -> Iterator[int]:
        """Iterate over the ids of the candidates' jobs."""
        return itertools.chain.from_iterable(self._pools.values())

    def add(self, pool: Pool, candidate: Candidate, now: float) -> None:
        """Add a candidate."""
        self._pools[pool][candidate.job_id] = candidate
        if pool is Pool.BULK and self._bulk_since_s is None:
            self._bulk_since_s = now

    def remove(self, job_ids: Iterable[int]) -> None:
        """Remove the candidates of some jobs."""
        for pool in self._pools.values():
            for job_id in job_ids:
                pool.pop(job_id, None)
        if not self._pools[Pool.BULK]:
            self._bulk_since_s = None

    def catch_up(self, turn: float) -> float:
        """Return the turn of bulk work that was away: it does not catch up."""
        return max(turn, self._bulk_turn)

    def bulk_served(self, turn: float, now: float) -> None:
        """Note that bulk work got a worker."""
        self._bulk_turn = max(turn, self._bulk_turn)
        self._bulk_since_s = now if self._pools[Pool.BULK] else None

    def next_bulk(self, barred: set[int]) -> Candidate | None:
        """Return the bulk work whose turn it is."""
        return self._least(Pool.BULK, barred)

    def bulk_due_s(self) -> float:
        """Return the time until which bulk work may wait."""
        return float("inf") if self._bulk_since_s is None else self._bulk_since_s + AGEING_S

    def in_order(self, *, bulk: bool, barred: set[int]) -> list[Candidate]:
        """Return the candidates that are not barred, either bulk work or all other, most urgent first."""
        pools = (Pool.BULK,) if bulk else (Pool.SILENT, Pool.LISTENING)
        return sorted(each for pool in pools for each in self._pools[pool].values() if each.job_id not in barred)

    def best(
        self, now: float, *, until_sound_s: Callable[[int], float], listening_s: float, bulk: bool, barred: set[int]
    ) -> Candidate | None:
        """Return the most urgent candidate.

        Args:
            now: Seconds.
            until_sound_s: Compute until a job gives audio to a listener in silence, seconds.
            listening_s: Time of each step for listeners with audio if all workers work, seconds.
            bulk: True if bulk work is allowed.
            barred: Jobs that are not.
        """
        silent, listening, bulky = (self._least(pool, barred) for pool in Pool)
        if bulky is not None and bulk and (self.bulk_due_s() <= now or not (silent or listening)):
            return bulky
        if silent is None or listening is None:
            return silent or listening
        if listening.deadline_s <= silent.deadline_s:
            return listening
        needed_s = until_sound_s(silent.job_id) + GUARD_S
        impatient = now >= silent.deadline_s + PATIENCE_S
        return silent if impatient or self.slack_s(now, needed_s, listening_s) >= needed_s else listening

    def slack_s(self, now: float, most_s: float, step_s: float) -> float:
        """Return how long listeners with audio can wait before one runs dry, if then served in order.

        Args:
            now: Seconds.
            most_s: More does not matter.
            step_s: Time that each of their steps takes.
        """
        pool = self._pools[Pool.LISTENING]
        horizon_s = now + most_s + len(pool) * step_s
        near = sorted(each[0] for each in pool.values() if each[0] < horizon_s)
        return min((at_s - number * step_s for number, at_s in enumerate(near, 1)), default=horizon_s) - now

    def _least(self, pool: Pool, barred: set[int]) -> Candidate | None:
        candidates = self._pools[pool].values()
        if barred:
            return min((each for each in candidates if each.job_id not in barred), default=None)
        return min(candidates, default=None)
