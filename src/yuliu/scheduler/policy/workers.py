"""The workers as the policy sees them: their engines and tasks, and the jobs barred from each. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from yuliu.scheduler.policy.state import JobState

RESERVE_S = 1.0
"""Bulk work keeps off the reserved slots for this long after the last stream of another class, seconds."""
MOMENT_S = 0.008
"""Bulk work that takes no longer may use them, seconds: a new stream hardly notices."""


@dataclass(slots=True)
class _WorkerGroup:
    """Workers with the same engines. Limits and reserves count within a group."""

    slots: int = 0
    """Slots of its workers that may be given work."""
    num_bulk: int = 0
    """Tasks of bulk work that take longer than a moment."""


@dataclass(slots=True)
class _Worker:
    engines: frozenset[str]
    """Names of its engines; empty means all."""
    slots: int
    group: _WorkerGroup
    tasks: list[tuple[int, ...]] = field(default_factory=list)
    """The jobs of each task that it runs."""
    bulk: list[tuple[int, ...]] = field(default_factory=list)
    """Tasks of bulk work among them that take longer than a moment."""

    def carries(self, engine: str) -> bool:
        return not self.engines or engine in self.engines


class Workers:
    """All workers that are up.

    Args:
        engines: Names of all engines.
        limit: Maximum number of workers in use in each group; None uses all.
    """

    def __init__(self, engines: Iterable[str], limit: int | None = None) -> None:
        self._engines = tuple(engines)
        self._limit = limit
        self._workers: dict[str, _Worker] = {}
        self._groups: dict[frozenset[str], _WorkerGroup] = {}
        self._usable: dict[str, _Worker] = {}
        self._failed_on: dict[int, str] = {}
        self._homes: dict[int, str] = {}
        self._pools_of: dict[str, tuple[int, ...]] = {}
        self.pools: tuple[int, ...] = (0,)
        """Slots of each pool: of all workers, then of each set of workers that some engine depends on."""
        self._count()

    def __contains__(self, name: object) -> bool:
        """Return whether a worker is there."""
        return name in self._workers

    @property
    def num_slots(self) -> int:
        """Slots that may be given work."""
        return self.pools[0]

    @property
    def num_busy(self) -> int:
        """Slots at work, including those of workers that get no more."""
        return sum(len(worker.tasks) for worker in self._workers.values())

    def add(self, name: str, engines: Iterable[str] = (), slots: int = 1) -> None:
        """Add a worker; nothing changes if it is there.

        Args:
            name: The worker.
            engines: Names of its engines; none means all.
            slots: Number of tasks that it runs at once.
        """
        if name not in self._workers:
            carried = frozenset(engines)
            group = self._groups.setdefault(carried, _WorkerGroup())
            self._workers[name] = _Worker(carried, slots, group)
            self._count()

    def remove(self, name: str) -> list[int]:
        """Remove a worker; return the jobs whose state it held."""
        if (worker := self._workers.pop(name, None)) is not None:
            worker.group.num_bulk -= len(worker.bulk)
            self._count()
        orphans = [job_id for job_id, home in self._homes.items() if home == name]
        for job_id in orphans:
            del self._homes[job_id]
        return orphans

    def limit(self, limit: int | None) -> None:
        """Bound the number of workers in use in each group; None uses all."""
        self._limit = limit
        self._count()

    def slots_like(self, name: str) -> int:
        """Return the slots of a worker and of those with the same engines, at least 1."""
        return max(1, self._workers[name].group.slots)

    # Tasks.

    def idle(self) -> Iterator[str]:
        """Iterate over the workers that may be given work and have a free slot."""
        found = self._usable
        if self._homes:  # the holder of a state must also finish its job
            homes = set(self._homes.values())
            found = {name: worker for name, worker in self._workers.items() if name in self._usable or name in homes}
        return (name for name, worker in found.items() if len(worker.tasks) < worker.slots)

    def has_free_slot(self, name: str) -> bool:
        """Return whether a worker can run a further task."""
        return len(self._workers[name].tasks) < self._workers[name].slots

    def tasks(self, name: str) -> tuple[tuple[int, ...], ...]:
        """Return the jobs of each task that a worker runs."""
        return tuple(self._workers[name].tasks) if name in self._workers else ()

    def start(self, name: str, job_ids: tuple[int, ...], *, bulk: bool) -> None:
        """Note that a worker runs a task.

        Args:
            name: The worker.
            job_ids: The jobs in the task.
            bulk: True if it is bulk work that takes longer than a moment.
        """
        worker = self._workers[name]
        worker.tasks.append(job_ids)
        if bulk:
            worker.bulk.append(job_ids)
            worker.group.num_bulk += 1

    def finish(self, name: str, job_ids: tuple[int, ...]) -> tuple[int, ...]:
        """Free the slot of a task; return its jobs, none if the worker does not run it."""
        if (worker := self._workers.get(name)) is None:
            return ()
        for task in worker.tasks:
            if task[0] in job_ids:
                worker.tasks.remove(task)
                if task in worker.bulk:
                    worker.bulk.remove(task)
                    worker.group.num_bulk -= 1
                return task
        return ()

    def may_take_bulk(self, name: str, reserved: int) -> bool:
        """Return whether a worker may take bulk work of any length while slots of its group are reserved."""
        group = self._workers[name].group
        return group.num_bulk < max(1, group.slots - reserved)

    # Placement.

    def pools_of(self, engines: Iterable[str]) -> set[int]:
        """Return the places in :attr:`pools` of those that work of some engines may depend on."""
        return {0}.union(*(self._pools_of[engine] for engine in engines))

    def failed(self, job_id: int, name: str) -> None:
        """Note that a job has failed on a worker: it is repeated on another one, if there is another."""
        self._failed_on[job_id] = name
        self._homes.pop(job_id, None)

    def forgive(self, job_id: int) -> None:
        """Forget that a job has failed."""
        self._failed_on.pop(job_id, None)

    def settle(self, job_id: int, name: str) -> None:
        """Note that a worker holds the state of a job, so that no other may go on with it."""
        self._homes[job_id] = name

    def forget(self, job_id: int) -> None:
        """Forget a job that is gone."""
        self._failed_on.pop(job_id, None)
        self._homes.pop(job_id, None)

    def barred_from(self, name: str, jobs: Iterable[JobState]) -> set[int]:
        """Return those of some jobs that must not go to a worker.

        It lacks their engine, another worker holds their state, or they have failed on it and may go elsewhere.
        """
        if len(self.pools) == 1 and not self._failed_on and not self._homes:
            return set()
        return {job.job_id for job in jobs if not self._may_run(name, job)}

    def _may_run(self, name: str, job: JobState) -> bool:
        if (home := self._homes.get(job.job_id)) is not None:
            return home == name
        if name not in self._usable or not self._usable[name].carries(job.engine):
            return False
        return self._failed_on.get(job.job_id) != name or not any(
            other != name and worker.carries(job.engine) for other, worker in self._usable.items()
        )

    def _count(self) -> None:
        """Recompute the workers in use and the pools, after a worker came or went."""
        self._usable = {}
        sizes: dict[frozenset[str], int] = {}
        for group in self._groups.values():
            group.slots = 0
        for name, worker in self._workers.items():
            sizes[worker.engines] = sizes.get(worker.engines, 0) + 1
            if self._limit is None or sizes[worker.engines] <= self._limit:
                self._usable[name] = worker
                worker.group.slots += worker.slots
        with_engine = {
            engine: frozenset(name for name, worker in self._usable.items() if worker.carries(engine))
            for engine in self._engines
        }
        pools = list(dict.fromkeys([frozenset(self._usable), *with_engine.values()]))
        self.pools = tuple(sum(self._usable[name].slots for name in pool) for pool in pools)
        self._pools_of = {
            engine: tuple(number for number, pool in enumerate(pools) if names <= pool and bool(names) == bool(pool))
            for engine, names in with_engine.items()
        }
