"""Admission: streams that are admitted, wait, or are rejected. Pure.

A stream with a listener needs a share of the workers while it has something to say: its real-time factor. Streams are
admitted while the sum stays below the capacity of the workers of each pool. Bulk streams take the rest and need
nothing; their number is limited per slot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from yuliu.scheduler.policy.estimates import Estimates
    from yuliu.scheduler.policy.state import StreamState
    from yuliu.scheduler.policy.tuning import Tuning
    from yuliu.scheduler.policy.workers import Workers

BULK_PER_SLOT = 4
"""Bulk streams that are worked on at a time, for each worker."""
MIN_RETRY_S, MAX_RETRY_S = 1.0, 60.0
_KEPT = 0.9
"""Share of the mean duration of streams that stays as it was when a further one has ended."""


@dataclass(slots=True)
class Room:
    """Capacity of a pool of workers that is left for waiting streams."""

    slots: float
    """Share of a slot that admitted streams do not need; above 1 for several slots."""
    bulk: int
    """Number of bulk streams that may join."""
    empty: bool
    """True if no admitted stream needs a slot: then the first stream is admitted, whatever it needs."""

    def fits(self, needed: float | None) -> bool:
        """Return whether a stream may join that needs this share of a slot; None is a bulk stream."""
        if needed is None:
            return self.bulk > 0
        return needed <= self.slots or self.empty

    def take(self, needed: float | None) -> None:
        """Admit such a stream."""
        if needed is None:
            self.bulk -= 1
        else:
            self.slots, self.empty = self.slots - needed, False


def rooms_left(estimates: Estimates, workers: Workers, now: float) -> list[Room]:
    """Return the capacity that is left in each pool of workers; the first is the pool of all workers."""

    def room(pool: int, num_slots: int) -> Room:
        def counts(stream: StreamState) -> bool:
            return not pool or pool in workers.pools_of(stream.engines)

        demand = estimates.demand(now, counts)
        streams = estimates.streams.values()
        num_bulk = sum(stream.admitted and stream.is_bulk and counts(stream) for stream in streams)
        slots = num_slots * estimates.tuning.max_load - demand
        return Room(slots, max(0, BULK_PER_SLOT * num_slots - num_bulk), bool(num_slots) and not demand)

    return [room(pool, num_slots) for pool, num_slots in enumerate(workers.pools)]


class Admission:
    """The streams that wait to be admitted, by class; the heaviest first, then the first come."""

    def __init__(self) -> None:
        self._waiting: dict[StreamClass, list[StreamState]] = {stream_class: [] for stream_class in StreamClass}
        self._durations_s: dict[bool, float] = {}  # mean of streams that have ended, by whether they were bulk

    @property
    def num_waiting(self) -> int:
        """All that wait."""
        return sum(map(len, self._waiting.values()))

    def ask(self, stream: StreamState) -> None:
        """Add a stream that asks to be admitted."""
        queue = self._waiting[stream.terms.stream_class]
        place = next((i for i, other in enumerate(queue) if other.terms.weight < stream.terms.weight), len(queue))
        queue.insert(place, stream)

    def forget(self, stream: StreamState) -> None:
        """Remove a stream that no longer asks."""
        queue = self._waiting[stream.terms.stream_class]
        queue[:] = [other for other in queue if other is not stream]

    def ended(self, stream: StreamState, now: float) -> None:
        """Note that an admitted stream has ended."""
        lasted_s = now - stream.opened_at_s
        before_s = self._durations_s.get(stream.is_bulk, lasted_s)
        self._durations_s[stream.is_bulk] = before_s * _KEPT + lasted_s * (1 - _KEPT)

    def next(
        self,
        rooms: Sequence[Room],
        demand: Callable[[StreamState], float],
        pools_of: Callable[[StreamState], Collection[int]],
    ) -> Iterator[StreamState]:
        """Yield the streams that fit, and forget them here.

        A stream that waits for room in a pool is not overtaken there by later streams or lower classes; there is a
        limit to how long it may wait.

        Args:
            rooms: Room in each pool of workers.
            demand: Share of a slot that a stream needs.
            pools_of: Places in ``rooms`` of the pools that a stream depends on.
        """
        left = [replace(room) for room in rooms]
        blocked: set[int] = set()
        for queue in self._waiting.values():
            for stream in list(queue):
                if len(blocked) == len(left):
                    return
                pools = pools_of(stream)
                needed = None if stream.is_bulk else demand(stream)
                blocked |= {pool for pool in pools if not left[pool].fits(needed)}
                if blocked.isdisjoint(pools):
                    queue.remove(stream)
                    for pool in pools:
                        left[pool].take(needed)
                    yield stream

    def give_up(
        self, now: float, tuning: Tuning, admitted: Collection[StreamState]
    ) -> Iterator[tuple[StreamState, str, float]]:
        """Yield the streams that are too many or have waited too long, with reason and retry time.

        Args:
            now: Seconds.
            tuning: How many may wait, and how long.
            admitted: The streams that are in: when they end there will be room.
        """
        for stream_class, queue in self._waiting.items():
            rules = tuning.classes[stream_class]
            too_many = queue[rules.max_waiting :]
            too_long = [each for each in queue[: rules.max_waiting] if now - each.opened_at_s >= rules.max_wait_s]
            if too_many or too_long:
                queue[:] = [each for each in queue[: rules.max_waiting] if each not in too_long]
                retry_s = self._retry_after_s(stream_class, now, admitted)
                yield from ((each, "queue_full", retry_s) for each in too_many)
                yield from ((each, "waited_too_long", retry_s) for each in too_long)

    def next_timeout_s(self, tuning: Tuning) -> float | None:
        """Return the time at which the next stream will have waited too long."""
        return min(
            (
                stream.opened_at_s + tuning.classes[stream_class].max_wait_s
                for stream_class, queue in self._waiting.items()
                for stream in queue
            ),
            default=None,
        )

    def _retry_after_s(self, stream_class: StreamClass, now: float, admitted: Collection[StreamState]) -> float:
        """Return the time until the waiting streams are admitted, if streams go on ending as they did.

        One ends every ``mean duration / number`` seconds. Those that run now may last longer than those that have
        ended: their age counts if it is more.
        """
        is_bulk = stream_class is StreamClass.BULK
        ages_s = [now - stream.opened_at_s for stream in admitted if stream.is_bulk is is_bulk]
        if not ages_s:
            return MIN_RETRY_S
        mean_s = max(self._durations_s.get(is_bulk, 0.0), sum(ages_s) / len(ages_s))
        before = sum(len(queue) for each, queue in self._waiting.items() if (each is StreamClass.BULK) is is_bulk)
        return min(max((before + 1) * mean_s / len(ages_s), MIN_RETRY_S), MAX_RETRY_S)
