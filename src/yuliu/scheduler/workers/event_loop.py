"""A worker that is an event loop of this process: it carries many tasks of engines that wait for a network.

A task that waits holds a slot and no thread; it can be cancelled at any moment. ``Task.renew`` is ignored, since other
tasks share the engine: an engine for a network reconnects by itself.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.errors import SynthesisFailed
from yuliu.logger import event_logger
from yuliu.scheduler.workers.api import TaskDone, TaskFailed, WorkerDied, WorkerReady
from yuliu.scheduler.workers.calls import failure, place_of, plan_of, planned, requests_of, stepped
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from yuliu.engines.api import AsyncEngine, AsyncStatefulEngine
    from yuliu.engines.registry import EngineSpec, Loader
    from yuliu.scheduler.workers.api import JobResult, Release, Report, Task
    from yuliu.types import Segment

_log = event_logger("yuliu.scheduler.workers")

CANCELLED = "the call of the engine was cancelled"


class WorkerLoop:
    """One event loop on a thread of its own.

    Args:
        name: Name of the worker, never used twice.
        specs: Its engines; it has as many slots as the one with the fewest.
        report: Takes its messages, on its thread.
        loader: Builds the engines, on its thread.
    """

    def __init__(self, name: str, specs: tuple[EngineSpec, ...], report: Report, *, loader: Loader) -> None:
        self._name = name
        self._specs = specs
        self._report = report
        self._loader = loader
        self._engines: dict[str, AsyncEngine] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._releasing: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, name=f"yuliu-{name}", daemon=True)

    def start(self) -> None:
        """Start the loop, which builds the engines."""
        self._thread.start()

    def submit(self, task: Task) -> None:
        """Run a task; a slot must be free."""
        self._post(lambda: self._begin(task))

    def cancel(self, task_id: int) -> None:
        """End a task early: it is reported as failed, unless it is over already."""
        self._post(lambda: self._cancel(task_id))

    def release(self, release: Release) -> None:
        """Drop the state of an utterance."""
        self._post(lambda: self._begin_release(release))

    def stop(self) -> None:
        """End: tasks under way are cancelled and not reported, the engines are closed."""
        self._post(lambda: self._end(None))

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until the loop has ended; return whether it has."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _post(self, act: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended, which its report has said or will say
            self._loop.call_soon_threadsafe(act)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the worker is lost, and the scheduler must know
            self._report(WorkerDied(self._name, error, place_of(error)))

    async def _serve(self) -> None:
        try:
            for spec in self._specs:
                await self._build(spec)
            slots = min(spec.slots for spec in self._specs)
            engines = {name: engine.capabilities for name, engine in self._engines.items()}
            if not self._over.done():
                self._report(WorkerReady(self._name, engines, slots, can_cancel=True))
            await self._over
        finally:
            for task in [*self._running.values(), *self._releasing]:
                task.cancel()
            await asyncio.gather(*self._running.values(), *self._releasing, return_exceptions=True)
            for engine in self._engines.values():
                await self._close(engine)

    async def _build(self, spec: EngineSpec) -> None:
        """Load an engine and let it speak once."""
        engine = self._engines[spec.name] = cast("AsyncEngine", self._loader.load(spec))
        await _warm_up(engine, spec.warm_up)

    def _end(self, error: BaseException | None) -> None:
        if self._over.done():
            return
        if error is None:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)

    def _begin(self, task: Task) -> None:
        running = self._running[task.task_id] = self._loop.create_task(self._perform(task))
        running.add_done_callback(lambda _: self._end_unbegun(task.task_id))

    def _end_unbegun(self, task_id: int) -> None:
        """Report a task that was cancelled before it ran at all."""
        if self._running.pop(task_id, None) is not None and not self._over.done():
            self._report(TaskFailed(self._name, task_id, SynthesisFailed(CANCELLED)))

    def _cancel(self, task_id: int) -> None:
        if (running := self._running.get(task_id)) is not None:
            running.cancel()

    async def _perform(self, task: Task) -> None:
        began_s = time.perf_counter()
        try:
            results = await self._call(task)
            message: TaskDone | TaskFailed = TaskDone(self._name, task.task_id, results, time.perf_counter() - began_s)
        except asyncio.CancelledError:
            message = TaskFailed(self._name, task.task_id, SynthesisFailed(CANCELLED))
        except MemoryError as error:
            return self._end(error)
        except Exception as error:  # noqa: BLE001 - the boundary to foreign code: the error is passed on
            message = TaskFailed(self._name, task.task_id, failure(error, self._name))
        except BaseException as error:  # noqa: BLE001 - as on a thread: the worker is lost
            return self._end(error)
        finally:
            del self._running[task.task_id]
        if not self._over.done():
            self._report(message)
        return None

    async def _call(self, task: Task) -> tuple[JobResult, ...]:
        engine = self._engines[task.engine]
        if task.is_plan:
            job = plan_of(task)
            return planned(task, await engine.plan(job.segment, job.options))
        requests = requests_of(task)
        return stepped(task, requests, await engine.step(requests), engine.capabilities)

    def _begin_release(self, release: Release) -> None:
        engine = cast("AsyncStatefulEngine", self._engines[release.engine])
        task = self._loop.create_task(self._guarded(engine.release(release.utterance), "state_not_released"))
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)

    async def _close(self, engine: AsyncEngine) -> None:
        await self._guarded(engine.close(), "engine_not_closed")

    async def _guarded(self, call: Coroutine[None, None, None], event: str) -> None:
        """Await the end of something that nothing depends on; log its failure."""
        try:
            await call
        except Exception as error:  # noqa: BLE001 - foreign code; nothing depends on the outcome
            _log.error(event, worker=self._name, error=type(error).__name__, at=place_of(error))


async def _warm_up(engine: AsyncEngine, segments: Sequence[Segment]) -> None:
    for segment in segments:
        utterance = await engine.plan(segment, PlanOptions(SpeakOptions(), lead_s=0.0, tail_s=0.0))
        while not utterance.done:
            (result,) = await engine.step([StepRequest(utterance, utterance.num_frames or 1)])
            utterance = result.utterance
