"""All workers: who is busy since when, who hangs, and who takes the place of one that is lost.

No locks here: :class:`yuliu.scheduler.scheduler.Scheduler` guards it by its own.
"""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

from yuliu.scheduler.workers.thread import WorkerThread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from yuliu.engines.api import Engine
    from yuliu.scheduler.settings import Settings
    from yuliu.scheduler.workers.thread import Outcome, Owner, Task

START_S = 120.0
"""A worker whose engines are not made within this time is given up, seconds; also allowed for a new instance of one."""
PATIENCE = 20.0
"""A task may take so many times what tasks of its kind took lately, if that is more than the least limit."""
OVERSLEPT_S = 0.5
"""Who looks so long after a worker's time is over, seconds, has slept, and the worker with him: the process was
stopped, or
its machine. Such a worker gets :data:`GRACE_S` to go on."""
GRACE_S = 1.0
_KEPT = 0.9
"""Share of the usual time of a task that stays as it was when a further one was done."""


class WorkerPool:
    """Keeps up the number of workers.

    Args:
        factories: For each engine what makes an instance of it.
        owner: Is told what becomes of the workers.
        settings: When a task is given up, and when a worker that could not be made is tried again.
        num_workers: How many there shall be.
    """

    def __init__(
        self, factories: Mapping[str, Callable[[], Engine]], owner: Owner, settings: Settings, *, num_workers: int
    ) -> None:
        self._factories = factories
        self._owner = owner
        self._num_workers = num_workers
        self._hang_s, self._restart_s = settings.hang_s, settings.restart_s
        self._numbers = itertools.count()
        self._workers: dict[str, WorkerThread] = {}
        self._limits: dict[str, float] = {}  # when each busy worker is to be given up
        self._usual_s: dict[tuple[str, bool], float] = {}
        self._restart_at_s = float("-inf")
        self._cancelled_at_s: dict[int, float] = {}  # of streams that workers are still at work for

    def __len__(self) -> int:
        """Workers there are, those that are being made counted."""
        return len(self._workers)

    @property
    def has_idle(self) -> bool:
        """Whether any worker waits for work."""
        return len(self._limits) < len(self._workers)

    @property
    def num_busy(self) -> int:
        """Workers at work."""
        return sum(worker.task is not None for worker in self._workers.values())

    def fill(self, now: float, engines: Mapping[str, Engine] | None = None) -> None:
        """Start workers until there are as many as there shall be, unless making one failed lately.

        Args:
            now: Seconds.
            engines: Of the first one, if they are made already.
        """
        while len(self._workers) < self._num_workers and now >= self._restart_at_s:
            worker = WorkerThread(f"worker-{next(self._numbers)}", self._factories, self._owner, engines=engines)
            engines = None
            self._workers[worker.name] = worker
            self._limits[worker.name] = now + START_S
            worker.start()

    def up(self, worker: WorkerThread) -> bool:
        """A worker is ready; whether it is still wanted."""
        if self._workers.get(worker.name) is not worker:
            return False
        del self._limits[worker.name]
        return True

    def give(self, name: str, task: Task, now: float) -> None:
        """Let an idle worker work."""
        worker = self._workers[name]
        worker.task = task
        limit_s = max(self._hang_s, PATIENCE * self._usual_s.get(task.kind, 0.0))
        self._limits[name] = now + limit_s + (START_S if task.renew else 0.0)
        worker.give(task)

    def finished(self, outcome: Outcome) -> bool:
        """A task is done; whether anybody still waits for it: not if its worker was given up."""
        worker = outcome.worker
        if self._workers.get(worker.name) is not worker:
            return False
        worker.task = None
        del self._limits[worker.name]
        usual_s = self._usual_s.get(outcome.task.kind, outcome.took_s)
        self._usual_s[outcome.task.kind] = usual_s + (1 - _KEPT) * (outcome.took_s - usual_s)
        return True

    def cancel(self, stream_id: int, now: float) -> bool:
        """A stream was cancelled; whether a worker is at work for it."""
        if busy := self._is_at_work_for(stream_id):
            self._cancelled_at_s[stream_id] = now
        return busy

    def released(self, task: Task, now: float) -> Iterator[float]:
        """A task is over: how long ago those of its streams were cancelled that no worker is at work for any more."""
        for stream_id in self._cancelled_at_s.keys() & {work.stream_id for work in task.works}:
            if not self._is_at_work_for(stream_id):
                yield now - self._cancelled_at_s.pop(stream_id)

    def _is_at_work_for(self, stream_id: int) -> bool:
        tasks = (worker.task for worker in self._workers.values() if worker.task is not None)
        return any(work.stream_id == stream_id for task in tasks for work in task.works)

    def hung(self, now: float) -> Iterator[WorkerThread]:
        """Workers whose task, or whose making, takes far too long."""
        for name, limit in self._limits.items():
            if now >= limit + OVERSLEPT_S:
                self._limits[name] = now + GRACE_S
        late = [name for name, limit in self._limits.items() if now >= limit]
        yield from (self._workers[name] for name in late)

    def give_up(self, worker: WorkerThread, now: float) -> bool:
        """A worker is lost: it is forgotten, and ends should it ever come back. Whether it was one of these."""
        if self._workers.get(worker.name) is not worker:
            return False
        del self._workers[worker.name]
        self._limits.pop(worker.name, None)
        worker.stop()
        if not worker.is_up:
            self._restart_at_s = now + self._restart_s
        return True

    def next_wake(self) -> float:
        """When to look again: a worker may hang, or one may be made; inf if never."""
        restart = self._restart_at_s if len(self._workers) < self._num_workers else float("inf")
        return min([*self._limits.values(), restart])

    def stop(self) -> None:
        """Let all end."""
        for worker in self._workers.values():
            worker.stop()

    def join(self, timeout_s: float) -> list[str]:
        """Wait until all have ended, for so long at most; names of those that have not."""
        until = time.monotonic() + timeout_s
        return [worker.name for worker in self._workers.values() if not worker.join(max(0.0, until - time.monotonic()))]


def make_all(factories: Mapping[str, Callable[[], Engine]]) -> dict[str, Engine]:
    """One engine of each; those that were made are closed if one cannot be."""
    made: dict[str, Engine] = {}
    try:
        for name, make in factories.items():
            made[name] = make()
    except BaseException:
        for engine in made.values():
            engine.close()
        raise
    return made
