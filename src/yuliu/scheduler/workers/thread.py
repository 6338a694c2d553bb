"""A worker that is a thread of this process: it owns an instance of each of its engines and runs one task at a time."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, cast

from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.logger import event_logger
from yuliu.scheduler.workers.api import Release, Task, TaskDone, TaskFailed, WorkerDied, WorkerReady
from yuliu.scheduler.workers.calls import failure, place_of, plan_of, planned, requests_of, stepped
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.engines.api import Engine, StatefulEngine
    from yuliu.engines.registry import EngineSpec, Loader
    from yuliu.scheduler.workers.api import JobResult, Report
    from yuliu.types import Segment

_log = event_logger("yuliu.scheduler.workers")


class WorkerThread:
    """One worker thread.

    Args:
        name: Name of the worker, never used twice.
        specs: Its engines.
        report: Takes its messages, on its thread.
        loader: Builds the engines, on its thread.
    """

    def __init__(self, name: str, specs: tuple[EngineSpec, ...], report: Report, *, loader: Loader) -> None:
        self._name = name
        self._specs = {spec.name: spec for spec in specs}
        self._report = report
        self._loader = loader
        self._engines: dict[str, Engine] = {}
        self._stopping = False
        self._inbox: queue.SimpleQueue[Task | Release | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"yuliu-{name}", daemon=True)

    def start(self) -> None:
        """Start the thread, which builds the engines."""
        self._thread.start()

    def submit(self, task: Task) -> None:
        """Run a task; the worker must be idle."""
        self._inbox.put(task)

    def cancel(self, task_id: int) -> None:
        """Do nothing: a thread cannot be interrupted. The task ends when the engine returns."""

    def release(self, release: Release) -> None:
        """Drop the state of an utterance, after the task under way."""
        self._inbox.put(release)

    def stop(self) -> None:
        """End after the task under way, and close the engines."""
        self._stopping = True
        self._inbox.put(None)

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until the thread has ended; return whether it has."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for name in self._specs:
                if not self._stopping:
                    self._engines[name] = self._build(name)
            engines = {name: engine.capabilities for name, engine in self._engines.items()}
            if not self._stopping:
                self._report(WorkerReady(self._name, engines))
            while (message := self._inbox.get()) is not None:
                self._handle(message)
                del message  # an idle worker keeps nothing of its last task
        except BaseException as error:  # noqa: BLE001 - whatever it is, the worker is lost, and the scheduler must know
            self._report(WorkerDied(self._name, error, place_of(error)))
        finally:
            for engine in self._engines.values():
                self._close(engine)

    def _build(self, name: str) -> Engine:
        """Load an engine and let it speak once."""
        spec = self._specs[name]
        engine = cast("Engine", self._loader.load(spec))
        try:
            _warm_up(engine, spec.warm_up)
        except BaseException:
            self._close(engine)
            raise
        return engine

    def _handle(self, message: Task | Release) -> None:
        if isinstance(message, Task):
            self._report(self._perform(message))
        else:
            engine = cast("StatefulEngine", self._engines[message.engine])
            self._guarded(lambda: engine.release(message.utterance), "state_not_released")

    def _close(self, engine: Engine) -> None:
        self._guarded(engine.close, "engine_not_closed")

    def _guarded(self, call: Callable[[], None], event: str) -> None:
        """End something that nothing depends on; log its failure."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - foreign code; nothing depends on the outcome
            _log.error(event, worker=self._name, error=type(error).__name__, at=place_of(error))

    def _perform(self, task: Task) -> TaskDone | TaskFailed:
        if task.renew:
            self._close(self._engines.pop(task.engine))  # first, since it may be large
            self._engines[task.engine] = self._build(task.engine)
        began_s = time.perf_counter()
        try:
            results = self._call(self._engines[task.engine], task)
        except MemoryError:
            raise  # the engine's state can no longer be trusted
        except Exception as error:  # noqa: BLE001 - the boundary to foreign code: the error is passed on
            return TaskFailed(self._name, task.task_id, failure(error, self._name))
        return TaskDone(self._name, task.task_id, results, time.perf_counter() - began_s)

    @staticmethod
    def _call(engine: Engine, task: Task) -> tuple[JobResult, ...]:
        if task.is_plan:
            job = plan_of(task)
            return planned(task, engine.plan(job.segment, job.options))
        requests = requests_of(task)
        return stepped(task, requests, engine.step(requests), engine.capabilities)


def _warm_up(engine: Engine, segments: Sequence[Segment]) -> None:
    for segment in segments:
        utterance = engine.plan(segment, PlanOptions(SpeakOptions(), lead_s=0.0, tail_s=0.0))
        while not utterance.done:
            (result,) = engine.step([StepRequest(utterance, utterance.num_frames or 1)])
            utterance = result.utterance
