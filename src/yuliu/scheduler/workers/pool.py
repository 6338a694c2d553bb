"""The workers of a scheduler: their tasks with deadlines, and the replacement of lost ones.

No locks here: :class:`yuliu.scheduler.scheduler.Scheduler` guards the pool with its own.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from yuliu.engines.registry import Loader
from yuliu.logger import event_logger
from yuliu.scheduler.workers.api import Release, WorkerDied, WorkerReady
from yuliu.scheduler.workers.event_loop import WorkerLoop
from yuliu.scheduler.workers.thread import WorkerThread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from queue import SimpleQueue

    from yuliu.engines.api import Utterance
    from yuliu.engines.registry import EngineSpec
    from yuliu.scheduler.settings import Settings
    from yuliu.scheduler.workers.api import Message, Report, StartWorker, Task, TaskDone, TaskFailed, Worker

START_S = 120.0
"""Maximum time for building the engines of a worker, seconds; also allowed for rebuilding one within a task."""
PATIENCE = 20.0
"""A task may take this multiple of the usual time of its kind, if that is more than ``hang_s``."""
OVERSLEPT_S = 0.5
"""If the deadline of a task is noticed this late, seconds, the process was suspended, and its workers with it: they get
:data:`GRACE_S` to go on."""
GRACE_S = 1.0
"""Time that a suspended or cancelled task gets before its worker is given up, seconds."""
_log = event_logger("yuliu.scheduler.workers")
_KEPT = 0.9
"""Weight of the usual time of a task against that of a further one."""


@dataclass(slots=True)
class _PoolGroup:
    """Workers that are alike."""

    kind: str
    specs: tuple[EngineSpec, ...]
    size: int
    num_started: int = 0
    """Workers that are there, including those being started."""
    restart_at_s: float = float("-inf")

    def carries(self, engine: str) -> bool:
        return any(spec.name == engine for spec in self.specs)


@dataclass(slots=True)
class RunningTask:
    """A task under way."""

    task: Task
    kind: tuple[str, bool]
    """Its engine, and whether it is a plan."""
    limit_s: float
    """Time at which it is given up."""
    is_cancelled: bool = False
    """True if its worker was told to end it."""


@dataclass(slots=True)
class _Member:
    """A worker of the pool."""

    worker: Worker
    group: _PoolGroup
    limit_s: float
    """Time at which its start is given up; infinity once it is up."""
    slots: int = 1
    can_cancel: bool = False
    runs: dict[int, RunningTask] = field(default_factory=dict)

    @property
    def is_up(self) -> bool:
        return self.limit_s == float("inf")


class WorkerPool:
    """Maintains the number of workers.

    Args:
        engines: All engines; each group of workers carries some of them.
        report: Takes the messages of the workers, on any thread.
        settings: Number of threads, and when a task or a start is given up.
        backends: How a worker of each kind is made; None takes threads and event loops of this process.
    """

    def __init__(
        self,
        engines: Sequence[EngineSpec],
        report: Report,
        settings: Settings,
        backends: Mapping[str, StartWorker] | None = None,
    ) -> None:
        self._report = report
        self._backends = backends or in_process()
        self._hang_s, self._restart_s, self._close_s = settings.hang_s, settings.restart_s, settings.close_s
        self._groups = _groups(engines, settings.num_threads)
        self._numbers = itertools.count()
        self._members: dict[str, _Member] = {}
        self._usual_s: dict[tuple[str, bool], float] = {}  # time of tasks of a kind
        self._num_free = 0  # slots

    @property
    def has_free_slot(self) -> bool:
        """True if any worker waits for a task."""
        return self._num_free > 0

    def carries(self, engine: str) -> bool:
        """True if a worker with this engine is there, or being started."""
        return any(member.group.carries(engine) for member in self._members.values())

    def start_first(self, inbox: SimpleQueue[Message], now: float) -> list[WorkerReady]:
        """Start one worker of each group, and wait until they are ready: the others follow once these work.

        Args:
            inbox: Queue of their first messages.
            now: Seconds.

        Raises:
            Exception: Whatever building their engines raised.
        """
        try:
            for group in self._groups:
                self._start(group, now)
            return [_announcement(inbox.get()) for _ in self._groups]
        except BaseException:
            self.stop()
            self.join(self._close_s)
            raise

    def fill(self, now: float) -> None:
        """Start the workers that are missing, unless one of their kind could not be started lately."""
        for group in self._groups:
            while group.num_started < group.size and now >= group.restart_at_s:
                self._start(group, now)

    def up(self, message: WorkerReady) -> bool:
        """Note that a worker is ready; return whether it is still wanted."""
        if (member := self._members.get(message.worker)) is None:
            return False
        member.limit_s, member.slots, member.can_cancel = float("inf"), message.slots, message.can_cancel
        self._num_free += message.slots
        return True

    def submit(self, name: str, task: Task, now: float) -> None:
        """Give a task to a worker with a free slot."""
        member = self._members[name]
        kind = task.engine, task.is_plan
        builds = task.renew and not member.can_cancel  # tasks that can be cancelled share their engine
        limit_s = max(self._hang_s, PATIENCE * self._usual_s.get(kind, 0.0)) + (START_S if builds else 0.0)
        member.runs[task.task_id] = RunningTask(task, kind, now + limit_s)
        self._num_free -= 1
        member.worker.submit(task)

    def over(self, message: TaskDone | TaskFailed) -> RunningTask | None:
        """Note that a task is over, and return it; None if its worker was given up before."""
        member = self._members.get(message.worker)
        run = member.runs.pop(message.task_id, None) if member else None
        self._num_free += run is not None
        return run

    def took(self, run: RunningTask, took_s: float) -> None:
        """Note how long a task took that has succeeded."""
        usual_s = self._usual_s.get(run.kind, took_s)
        self._usual_s[run.kind] = usual_s + (1 - _KEPT) * (took_s - usual_s)

    def cancel(self, task_id: int, now: float) -> None:
        """End a task early, if its worker can."""
        for member in self._members.values():
            if member.can_cancel and (run := member.runs.get(task_id)) and not run.is_cancelled:
                run.is_cancelled, run.limit_s = True, now + GRACE_S
                member.worker.cancel(task_id)

    def release(self, name: str, engine: str, utterance: Utterance) -> None:
        """Let a worker drop the state of an utterance, if the worker is there."""
        if (member := self._members.get(name)) is not None:
            member.worker.release(Release(engine, utterance))

    def hung(self, now: float) -> Iterator[str]:
        """Cancel the tasks that take far too long; yield the workers that must be given up instead."""
        for name, member in list(self._members.items()):
            if now >= member.limit_s + OVERSLEPT_S:
                member.limit_s = now + GRACE_S
            for run in member.runs.values():
                if now >= run.limit_s + OVERSLEPT_S:
                    run.limit_s = now + GRACE_S
            late = [run for run in member.runs.values() if now >= run.limit_s]
            if now >= member.limit_s or any(run.is_cancelled or not member.can_cancel for run in late):
                yield name
            else:
                for run in late:
                    _log.error("task_hung", name=name, engine=run.task.engine)
                    self.cancel(run.task.task_id, now)

    def give_up(self, name: str, now: float) -> LostWorker | None:
        """Forget a lost worker, which ends should it ever come back; None if it was given up before."""
        if (member := self._members.pop(name, None)) is None:
            return None
        member.worker.stop()
        member.group.num_started -= 1
        if member.is_up:
            self._num_free -= member.slots - len(member.runs)
        else:
            member.group.restart_at_s = now + self._restart_s
        return LostWorker(not member.is_up, tuple(run.task for run in member.runs.values()))

    def next_wake(self) -> float:
        """Return when to look again: a task may hang, or a missing worker may be started; infinity if never."""
        wake_s = float("inf")
        for group in self._groups:
            if group.num_started < group.size:
                wake_s = min(wake_s, group.restart_at_s)
        for member in self._members.values():
            wake_s = min(wake_s, member.limit_s)
            for run in member.runs.values():
                wake_s = min(wake_s, run.limit_s)
        return wake_s

    def stop(self) -> None:
        """Let all workers end."""
        for member in self._members.values():
            member.worker.stop()

    def join(self, timeout_s: float) -> list[str]:
        """Wait until all workers have ended; return the names of those that have not in time."""
        until_s = time.monotonic() + timeout_s
        return [
            name
            for name, member in self._members.items()
            if not member.worker.join(max(0.0, until_s - time.monotonic()))
        ]

    def _start(self, group: _PoolGroup, now: float) -> str:
        name = f"worker-{next(self._numbers)}"
        worker = self._backends[group.kind](name, group.specs, self._report)
        self._members[name] = _Member(worker, group, now + START_S)
        group.num_started += 1
        worker.start()
        return name


@dataclass(frozen=True, slots=True)
class LostWorker:
    """Work of a worker that was given up."""

    starting: bool
    """True if it had not announced itself yet."""
    tasks: tuple[Task, ...]


def in_process() -> Mapping[str, StartWorker]:
    """Return the backends of this process: threads and event loops, which share one loader."""
    loader = Loader()
    return {"thread": partial(WorkerThread, loader=loader), "async": partial(WorkerLoop, loader=loader)}


def _announcement(message: Message) -> WorkerReady:
    """Return the first message of a worker, or raise the error that kept it from starting."""
    if isinstance(message, WorkerDied):
        raise message.error
    assert isinstance(message, WorkerReady)  # noqa: S101 - it has had no task to report
    return message


def _groups(engines: Sequence[EngineSpec], num_threads: int) -> list[_PoolGroup]:
    """Engines that compute share the threads; others have workers of their own."""
    shared = tuple(spec for spec in engines if spec.kind == "thread" and spec.num_workers is None)
    own = [_PoolGroup(spec.kind, (spec,), spec.num_workers or 1) for spec in engines if spec not in shared]
    return [_PoolGroup("thread", shared, num_threads), *own] if shared else own
