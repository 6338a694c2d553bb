"""Between the policy and the workers: actions become tasks, messages of workers become events.

No locks here: :class:`yuliu.scheduler.scheduler.Scheduler` guards it with its own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from yuliu.errors import Overloaded, SynthesisFailed
from yuliu.logger import event_logger
from yuliu.scheduler.outputs import Admitted
from yuliu.scheduler.policy.costs import EngineFacts
from yuliu.scheduler.policy.events import (
    Action,
    Admit,
    Fail,
    Plan,
    PlanFinished,
    Reject,
    Serve,
    Step,
    StepFinished,
    StepPart,
    WorkerLost,
    WorkerUp,
    WorkFailed,
)
from yuliu.scheduler.workers.api import PlanJob, StepJob, Task, TaskDone, TaskFailed, WorkerDied, WorkerReady
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from yuliu.engines.api import Capabilities, Utterance
    from yuliu.scheduler.observer import Observer
    from yuliu.scheduler.policy.tuning import Tuning
    from yuliu.scheduler.requests import Request
    from yuliu.scheduler.stream_table import StreamTable
    from yuliu.scheduler.workers.api import Job, JobResult, Message
    from yuliu.scheduler.workers.pool import WorkerPool

    WorkerEvent = PlanFinished | StepFinished | WorkFailed | WorkerUp | WorkerLost

NO_SAMPLES = np.zeros(0, np.float32)
_log = event_logger("yuliu.scheduler")


class Dispatcher:
    """Carries out the policy's actions, and turns the reports of workers into events.

    Args:
        streams: The open streams and their requests.
        pool: The workers.
        observer: Observes plans, steps, retries and cancellations.
    """

    def __init__(self, streams: StreamTable, pool: WorkerPool, observer: Observer) -> None:
        self._streams, self._pool, self._observer = streams, pool, observer
        self._task_ids = itertools.count()
        self._at_work: dict[int, tuple[Request, ...]] = {}  # the requests of each task under way
        self._cancelled_at_s: dict[int, float] = {}  # of streams that workers are still busy with

    # Actions.

    def follow(self, action: Action, tuning: Tuning, now: float) -> None:
        """Carry out one action.

        Args:
            action: A decision of the policy.
            tuning: The tuning in force.
            now: Seconds, monotonic.
        """
        match action:
            case Step():
                requests = tuple(self._streams.request(part.job_id) for part in action.parts)
                jobs = [
                    StepJob(request.job_id, request.utterance, part.num_frames)
                    for request, part in zip(requests, action.parts, strict=True)
                    if request.utterance is not None
                ]
                self._submit(action.worker, requests, jobs, now)
            case Plan():
                request = self._streams.request(action.job_id)
                job = PlanJob(request.job_id, request.segment, request.options)
                self._submit(action.worker, (request,), [job], now)
            case Serve():
                self._streams.serve(self._streams.request(action.job_id), now)
            case Admit() | Reject() | Fail():
                self._decide(action, tuning)

    def _decide(self, action: Admit | Reject | Fail, tuning: Tuning) -> None:
        """Tell a stream the policy's decision."""
        if (stream := self._streams.get(action.stream_id)) is None:
            return
        match action:
            case Admit():
                self._observer.admission(stream.stream_class, "admitted")
                is_dialogue = stream.stream_class is StreamClass.INTERACTIVE
                stream.sink(Admitted(action.throughput, tuning.first_weight_scale if is_dialogue else 1.0))
            case Reject():
                self._observer.admission(stream.stream_class, "rejected", reason=action.reason)
                message = "more streams are being spoken than this machine can carry; try again later"
                self._streams.close_with(action.stream_id, Overloaded(message, retry_after_s=action.retry_after_s))
            case Fail():
                unknown = SynthesisFailed("the engine failed twice while speaking; see the log")
                self._streams.close_with(action.stream_id, stream.error or unknown)

    def _submit(self, worker: str, requests: tuple[Request, ...], jobs: Sequence[Job], now: float) -> None:
        """Give a task to a worker; with a new instance of the engine if this one has just failed at it."""
        engine = requests[0].engine
        for request in requests:
            if request.failed_on is not None:
                self._observer.retried(engine)
        renew = any(request.failed_on == worker for request in requests) and not self._streams.has_state(worker, engine)
        task = Task(next(self._task_ids), engine, tuple(jobs), renew)
        self._at_work[task.task_id] = requests
        self._pool.submit(worker, task, now)

    # Messages.

    def event_of(self, message: Message, now: float) -> WorkerEvent | None:
        """Take a message of a worker; return the event for the policy, None if the worker was given up before."""
        match message:
            case TaskDone():
                return self._done(message, now)
            case TaskFailed():
                return self._task_failed(message, now)
            case WorkerReady():
                is_wanted = self._pool.up(message)
                return WorkerUp(message.worker, tuple(message.engines), message.slots) if is_wanted else None
            case WorkerDied():
                error = type(message.error).__name__
                return self.lost(message.worker, "crashed", now, error=error, place=message.place)

    def _done(self, message: TaskDone, now: float) -> PlanFinished | StepFinished | WorkFailed | None:
        """Hand the results of a task on."""
        if (run := self._pool.over(message)) is None:
            return None
        self._pool.took(run, message.took_s)
        by_id = {request.job_id: request for request in self._end(run.task, now)}
        found = [(by_id[result.job_id], result) for result in message.results]
        engine, is_plan = run.kind
        self._observe(engine, message, found, is_plan=is_plan)
        if (error := self._streams.stillness(found, now)) is not None:
            return self._failed(message.worker, tuple(by_id.values()), error)
        if self._streams.capabilities[engine].local_state:
            for request, result in found:
                if not self._streams.knows(request) and not result.utterance.done:
                    self._release(request, message.worker, result.utterance)
        if is_plan:
            ((request, result),) = found
            self._streams.planned(request, result.utterance, message.worker, took_s=message.took_s, now=now)
            num_frames, done = result.utterance.num_frames, result.utterance.done
            return PlanFinished(message.worker, request.job_id, num_frames, done, message.took_s)
        parts = tuple(self._part(request, result, message.took_s, now) for request, result in found)
        return StepFinished(message.worker, parts, message.took_s)

    def _task_failed(self, message: TaskFailed, now: float) -> WorkFailed | None:
        if (run := self._pool.over(message)) is None:
            return None
        error = _lost_error("hung") if run.is_cancelled else message.error
        return self._failed(message.worker, self._end(run.task, now), error)

    def lost(
        self,
        worker: str,
        reason: Literal["crashed", "hung"],
        now: float,
        *,
        error: str | None = None,
        place: str | None = None,
    ) -> WorkerLost | None:
        """Give up a worker, its tasks and the state it held; return the event for the policy, None if done before."""
        if (lost := self._pool.give_up(worker, now)) is None:
            return None
        _log.error("worker_lost", name=worker, reason=reason, starting=lost.starting, error=error, at=place)
        self._observer.worker_replaced(reason)
        cause = _lost_error(reason)
        requests = tuple(request for task in lost.tasks for request in self._end(task, now))
        final = self._streams.failed(requests, worker, cause)
        return WorkerLost(worker, final + self._streams.orphaned(worker, cause))

    def cancelled(self, stream_id: int, now: float) -> None:
        """Note that a stream was cancelled, to measure how long workers stay busy with it."""
        if any(request.stream_id == stream_id for requests in self._at_work.values() for request in requests):
            self._cancelled_at_s[stream_id] = now
        else:
            self._observer.cancelled(0.0)

    def forget(self, stream_id: int, now: float) -> None:
        """Drop the requests of a stream that the policy has forgotten: cancel their tasks, release their state."""
        requests = self._streams.forget(stream_id)
        busy: set[int] = set()
        for task_id, at_work in self._at_work.items():
            busy.update(request.job_id for request in at_work)
            if not any(map(self._streams.knows, at_work)):
                self._pool.cancel(task_id, now)
        for request in requests:
            if request.job_id not in busy and request.home is not None:
                self._release(request, request.home, request.utterance)

    def _part(self, request: Request, result: JobResult, took_s: float, now: float) -> StepPart:
        """Pass on the result of a step for one request."""
        sample_rate = self._streams.capabilities[request.engine].format.sample_rate
        before, after = request.utterance, result.utterance
        samples = result.samples if result.samples is not None else NO_SAMPLES
        unheard = request.unheard(samples)
        self._streams.rendered(request, after, unheard, took_s=took_s, now=now)
        audio_s, unheard_s = len(samples) / sample_rate, len(unheard) / sample_rate
        heard_s = request.heard_s(unheard_s, done=after.done)
        if heard_s is None and len(unheard) < len(samples):
            heard_s = unheard_s
        num_frames = after.next_frame - (before.next_frame if before is not None else 0)
        return StepPart(request.job_id, num_frames, audio_s, after.done, heard_s)

    def _failed(self, worker: str, requests: tuple[Request, ...], error: SynthesisFailed) -> WorkFailed:
        for request in requests:
            if request.home is not None:
                self._release(request, worker, request.utterance)
        final = self._streams.failed(requests, worker, error)
        return WorkFailed(worker, tuple(request.job_id for request in requests), final)

    def _end(self, task: Task, now: float) -> tuple[Request, ...]:
        """Forget a task that is over, and tell how long ago its streams were cancelled; return its requests."""
        requests = self._at_work.pop(task.task_id)
        for stream_id in self._cancelled_at_s.keys() & {request.stream_id for request in requests}:
            if not any(request.stream_id == stream_id for each in self._at_work.values() for request in each):
                self._observer.cancelled(now - self._cancelled_at_s.pop(stream_id))
        return requests

    def _release(self, request: Request, worker: str, utterance: Utterance | None) -> None:
        """Let a worker drop the state of an utterance, if the engine keeps any there."""
        if utterance is not None and self._streams.capabilities[request.engine].local_state:
            self._pool.release(worker, request.engine, utterance)

    def _observe(
        self, engine: str, message: TaskDone, found: Sequence[tuple[Request, JobResult]], *, is_plan: bool
    ) -> None:
        if is_plan:
            front_end_s = found[0][1].utterance.front_end_s
            self._observer.planned(engine, message.took_s, front_end_s=front_end_s)
        else:
            sample_rate = self._streams.capabilities[engine].format.sample_rate
            num_samples = sum(len(result.samples) for _, result in found if result.samples is not None)
            audio_s = num_samples / sample_rate
            self._observer.step(engine, message.took_s, audio_s=audio_s, batch=len(found))


def facts_of(found: Capabilities) -> EngineFacts:
    """Return the facts of an engine for the policy."""
    return EngineFacts(
        found.format.sample_rate / found.hop_samples,
        found.max_batch,
        context_frames=found.context_frames,
        local_state=found.local_state,
    )


def _lost_error(reason: Literal["crashed", "hung"]) -> SynthesisFailed:
    return SynthesisFailed(f"the engine {reason} while speaking; see the log")
