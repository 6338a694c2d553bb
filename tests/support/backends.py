"""The backends that the worker contract is tested on, and a worker driven by hand."""

from __future__ import annotations

import pickle
import queue
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from scheduler_streams import PATIENCE_S

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import AsyncToneEngine, ToneEngine
from yuliu.scheduler.workers import pool
from yuliu.scheduler.workers.api import TaskDone, TaskFailed, WorkerReady

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.engines.registry import EngineSpec
    from yuliu.engines.tone import ToneScript
    from yuliu.scheduler.workers.api import Message, Release, Report, StartWorker, Task, Worker

    AnyTone = ToneEngine | AsyncToneEngine

T = TypeVar("T")


def copied(value: T) -> T:
    """Return a copy that shares nothing with the value, as if it came from another process."""
    return pickle.loads(pickle.dumps(value))  # type: ignore[no-any-return]


class PickledWorker:
    """A worker that sees and sends only copies of messages, as one in another process would."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.start, self.cancel, self.stop, self.join = worker.start, worker.cancel, worker.stop, worker.join

    def submit(self, task: Task) -> None:
        self._worker.submit(copied(task))

    def release(self, release: Release) -> None:
        self._worker.release(copied(release))


def pickled(start: StartWorker) -> StartWorker:
    """Return a backend whose messages, and specs, are all pickled on their way."""

    def started(name: str, specs: tuple[EngineSpec, ...], report: Report) -> Worker:
        return PickledWorker(start(name, copied(specs), lambda message: report(copied(message))))

    return started


@dataclass(frozen=True)
class Backend:
    """A kind of worker, and how its messages travel."""

    kind: Literal["thread", "async"]
    is_pickled: bool

    def engine(self, script: ToneScript | None = None, **options: Any) -> AnyTone:
        """Return an engine for such workers; of known length unless told otherwise."""
        if self.kind == "async":
            return AsyncToneEngine(script, **({"manner": "frames"} | options))
        return ToneEngine(script, **options)

    def spec(self, make: Callable[[], AnyTone], name: str = "tone", **options: Any) -> EngineSpec:
        """Return a spec of an engine for such workers."""
        return local_spec(name, make, kind=self.kind, **options)

    def starters(self) -> Mapping[str, StartWorker]:
        """Return what makes such workers, for a scheduler."""
        found = pool.in_process()
        return {kind: pickled(start) for kind, start in found.items()} if self.is_pickled else found


BACKENDS = {
    "thread": Backend("thread", is_pickled=False),
    "thread-pickled": Backend("thread", is_pickled=True),
    "async": Backend("async", is_pickled=False),
    "async-pickled": Backend("async", is_pickled=True),
}


class WorkerByHand:
    """One worker without a scheduler."""

    def __init__(self, backend: Backend, *specs: EngineSpec) -> None:
        self.reports: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.worker = backend.starters()[backend.kind]("w", specs, self.reports.put)
        self.worker.start()

    def next(self) -> Message:
        """Wait for the next report."""
        return self.reports.get(timeout=PATIENCE_S)

    def up(self) -> WorkerReady:
        """Wait for its announcement."""
        message = self.next()
        assert isinstance(message, WorkerReady), message
        return message

    def run(self, task: Task) -> TaskDone:
        """Run a task to its end."""
        self.worker.submit(task)
        message = self.next()
        assert isinstance(message, TaskDone), message
        assert message.task_id == task.task_id
        return message

    def fail(self, task: Task) -> TaskFailed:
        """Run a task that fails."""
        self.worker.submit(task)
        message = self.next()
        assert isinstance(message, TaskFailed), message
        assert message.task_id == task.task_id
        return message

    def end(self) -> None:
        """Stop the worker and wait for it."""
        self.worker.stop()
        assert self.worker.join(PATIENCE_S)
