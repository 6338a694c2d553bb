"""The scheduling policy as a state machine. Pure: ``handle(event, now) -> actions``.

docs/design/scheduling.md gives the rules: earliest deadline first, small steps, admission by measured cost, one
repetition of failed work. An event first changes the state of its own streams and jobs, then waiting streams are
admitted and idle workers get tasks. ``runnable.py`` finds the work that could be done, ``task_choice.py`` chooses from
it.

``handle`` is called for every step and every chunk taken, while the lock of the scheduler is held: an event recomputes
only its own streams, and nothing looks at all streams unless one of them waits to be admitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.scheduler.policy.admission import Admission, rooms_left
from yuliu.scheduler.policy.estimates import Estimates
from yuliu.scheduler.policy.events import (
    Action,
    Admit,
    Event,
    Fail,
    Plan,
    PlanFinished,
    PlayedTo,
    Reject,
    SegmentReady,
    Serve,
    SoundTaken,
    Step,
    StepFinished,
    StepPart,
    StreamClosed,
    StreamOpened,
    TextEnded,
    Ticked,
    Tuned,
    WorkerLost,
    WorkerUp,
    WorkFailed,
)
from yuliu.scheduler.policy.run_queue import RunQueue
from yuliu.scheduler.policy.runnable import RunnableWork
from yuliu.scheduler.policy.state import NOTHING_S, JobState, StreamState
from yuliu.scheduler.policy.task_choice import TaskChooser
from yuliu.scheduler.policy.workers import MOMENT_S, RESERVE_S, Workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from yuliu.scheduler.policy.costs import EngineFacts
    from yuliu.scheduler.policy.snapshot import Snapshot
    from yuliu.scheduler.policy.tuning import Tuning

RECHECK_S = 0.05
"""While streams wait to be admitted it is looked at least so often whether there is room, seconds."""
_MAKES_ROOM = (StreamOpened, StreamClosed, TextEnded, WorkerUp, WorkerLost, Tuned, Ticked, WorkFailed)


class Policy:
    """The decisions, and the state of all streams and workers that they depend on.

    Args:
        engines: What is known of each engine, by its name.
        tuning: What holds at first.
    """

    def __init__(self, engines: Mapping[str, EngineFacts], tuning: Tuning | None = None) -> None:
        self._estimates = Estimates(engines, tuning)
        self._streams, self._jobs = self._estimates.streams, self._estimates.jobs
        self._workers = Workers(engines, self._estimates.tuning.num_workers)
        self._admission = Admission()
        self._run_queue = RunQueue()
        self._runnable = RunnableWork(self._estimates, self._run_queue)
        self._chooser = TaskChooser(self._estimates, self._workers, self._run_queue, self._runnable)
        self._look, self._looked_at_s = False, float("-inf")  # whether there may be room for those who wait
        self._num_urgent = 0  # streams that are not bulk
        self._urgent_at_s = float("-inf")  # when there was one last

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take note of an event and return the actions that follow.

        Args:
            event: What happened. Events about streams, jobs or workers that are gone are ignored.
            now: Seconds on any monotonic clock.
        """
        actions: list[Action] = []
        self._look |= isinstance(event, _MAKES_ROOM)
        self._note(event, now, actions)
        for stream_id in self._runnable.due(now):
            self._refresh(self._streams[stream_id], now, actions)
        if self._admission.num_waiting and (self._look or now >= self._looked_at_s + RECHECK_S):
            self._admit(now, actions)
        if not self._run_queue.is_empty:
            self._assign(now, actions)
        return actions

    @property
    def num_streams(self) -> int:
        """Number of open streams, including those that wait to be admitted."""
        return len(self._streams)

    @property
    def num_jobs(self) -> int:
        """Number of segments not rendered to their end."""
        return len(self._jobs)

    def next_wake(self, now: float) -> float | None:
        """Return the time to send ``Ticked`` if nothing else happens; None if never."""
        times = [] if (held_until_s := self._runnable.next_wake_s) is None else [held_until_s]
        if (until := self._admission.next_timeout_s(self._estimates.tuning)) is not None:
            times += [until, self._looked_at_s + RECHECK_S]
        if not self._run_queue.is_empty and not self._num_urgent and now < self._urgent_at_s + RESERVE_S:
            times.append(self._urgent_at_s + RESERVE_S)
        return min(times, default=None)

    def snapshot(self, now: float) -> Snapshot:
        """Return the state in numbers; looks at every stream."""
        num_slots, num_busy = self._workers.num_slots, self._workers.num_busy
        return self._estimates.snapshot(now, num_workers=num_slots, num_workers_busy=num_busy)

    def _note(self, event: Event, now: float, actions: list[Action]) -> None:
        match event:
            case StepFinished():
                self._step_finished(event, now, actions)
            case PlanFinished():
                self._plan_finished(event, now, actions)
            case SegmentReady():
                self._segment_ready(event, now, actions)
            case StreamOpened():
                self._open(event, now)
            case WorkFailed():
                self._work_failed(event, now, actions)
            case WorkerUp():
                self._workers.add(event.worker, event.engines, event.slots)
            case WorkerLost():
                self._worker_lost(event, now, actions)
            case Tuned():
                self._estimates.tuning = event.tuning
                self._workers.limit(event.tuning.num_workers)
            case Ticked():
                pass
            case _:
                self._note_of_stream(event, now, actions)

    def _note_of_stream(
        self, event: TextEnded | SoundTaken | PlayedTo | StreamClosed, now: float, actions: list[Action]
    ) -> None:
        if (stream := self._streams.get(event.stream_id)) is None:
            return
        match event:
            case TextEnded():
                stream.text_ended = True
                return
            case SoundTaken():
                stream.take(event.audio_s, now)
            case PlayedTo():
                stream.play_to(event.position_s, now)
            case _:  # StreamClosed
                self._close(stream, now)
                return
        self._refresh(stream, now, actions)

    def _open(self, event: StreamOpened, now: float) -> None:
        stream = StreamState(event.stream_id, event.engines, event.terms, opened_at_s=now)
        self._streams[event.stream_id] = stream
        self._num_urgent += not stream.is_bulk
        self._admission.ask(stream)

    def _segment_ready(self, event: SegmentReady, now: float, actions: list[Action]) -> None:
        if stream := self._streams.get(event.stream_id):
            if not stream.jobs:
                stream.turn = self._run_queue.catch_up(stream.turn)
            self._jobs[event.job_id] = JobState(event.job_id, event.stream_id, event.engine, now, event.cached_s)
            stream.jobs.append(event.job_id)
            self._refresh(stream, now, actions)

    def _plan_finished(self, event: PlanFinished, now: float, actions: list[Action]) -> None:
        self._estimates.busy_s += event.took_s
        for job in self._free(event.worker, (event.job_id,)):
            stream = self._streams[job.stream_id]
            self._estimates.costs[job.engine].planned(event.took_s)
            stream.spend(event.took_s, 0.0)
            job.planned, job.frames_left = True, event.num_frames
            job.failures = job.failures if job.planned_anew else 0
            self._workers.forgive(job.job_id)
            if event.done:
                self._drop(job, stream)
            elif self._estimates.engines[job.engine].local_state:
                self._workers.settle(job.job_id, event.worker)
            self._refresh(stream, now, actions)

    def _step_finished(self, event: StepFinished, now: float, actions: list[Action]) -> None:
        self._estimates.busy_s += event.took_s
        parts = {part.job_id: part for part in event.parts}
        audio_s = sum(part.audio_s for part in event.parts)
        jobs = list(self._free(event.worker, tuple(parts)))
        if jobs:
            num_frames = sum(part.num_frames for part in event.parts)
            self._estimates.costs[jobs[0].engine].stepped(event.took_s, audio_s, num_frames, len(parts))
        for job in jobs:
            part, stream = parts[job.job_id], self._streams[job.stream_id]
            share_s = event.took_s * (part.audio_s / audio_s if audio_s else 1 / len(parts))
            stream.spend(self._estimates.under_load_s(job, share_s, part.num_frames), part.gained_s)
            self._progress(job, stream, part, now)
            if not part.audio_s and not part.done:
                job.not_before_s = now + max(NOTHING_S, event.took_s)
            self._refresh(stream, now, actions)

    def _progress(self, job: JobState, stream: StreamState, part: StepPart, now: float) -> None:
        job.failures, job.planned_anew, job.runnable_at_s = 0, False, None
        self._workers.forgive(job.job_id)
        if job.frames_left is not None:
            job.frames_left = max(0, job.frames_left - part.num_frames)
        stream.make(part.gained_s, now)
        if part.done:
            self._drop(job, stream)

    def _work_failed(self, event: WorkFailed, now: float, actions: list[Action]) -> None:
        for job in self._free(event.worker, event.job_ids):
            stream = self._streams[job.stream_id]
            job.failures += 1
            if job.job_id in event.final_ids or job.failures > 1:
                actions.append(Fail(job.stream_id, job.job_id))
                self._close(stream, now)
                continue
            self._workers.failed(job.job_id, event.worker)
            if self._estimates.engines[job.engine].local_state:
                job.begin_anew()
            self._refresh(stream, now, actions)

    def _worker_lost(self, event: WorkerLost, now: float, actions: list[Action]) -> None:
        """Fail the worker's tasks; plan other jobs whose state it held anew, or fail their streams."""
        for task in self._workers.tasks(event.worker):
            self._work_failed(WorkFailed(event.worker, task, event.final_ids), now, actions)
        for job_id in self._workers.remove(event.worker):
            if (job := self._jobs.get(job_id)) is None:
                continue  # another one has failed its stream
            stream = self._streams[job.stream_id]
            if job_id in event.final_ids:
                actions.append(Fail(job.stream_id, job_id))
                self._close(stream, now)
            else:
                job.begin_anew()
                self._refresh(stream, now, actions)

    def _free(self, worker: str, job_ids: tuple[int, ...]) -> Iterator[JobState]:
        """Yield the jobs of a task that is over, except those of closed streams; none if the worker is gone."""
        done = self._workers.finish(worker, job_ids)
        for job_id in job_ids:
            if job_id in done and (job := self._jobs.get(job_id)):
                job.busy = False
                yield job

    def _drop(self, job: JobState, stream: StreamState) -> None:
        del self._jobs[job.job_id]
        self._workers.forget(job.job_id)
        stream.jobs.remove(job.job_id)
        self._look = True

    def _close(self, stream: StreamState, now: float) -> None:
        del self._streams[stream.stream_id]
        self._runnable.withdraw(stream)
        for job_id in stream.jobs:
            del self._jobs[job_id]
            self._workers.forget(job_id)
        if stream.admitted:
            self._admission.ended(stream, now)
        else:
            self._admission.forget(stream)
        if not stream.is_bulk:
            self._num_urgent -= 1
            self._urgent_at_s = now

    def _refresh(self, stream: StreamState, now: float, actions: list[Action]) -> None:
        """Find the runnable work of a stream anew, and serve cached audio whose turn it is."""
        self._runnable.withdraw(stream)
        if not stream.admitted:
            return
        held_until_s = stream.held_until_s(now)
        while stream.jobs and held_until_s <= now and (job := self._jobs[stream.jobs[0]]).cached_s is not None:
            stream.make(job.cached_s, now)
            self._drop(job, stream)
            actions.append(Serve(job.job_id))
            held_until_s = stream.held_until_s(now)
        if stream.jobs:
            self._runnable.offer(stream, held_until_s, now)

    def _admit(self, now: float, actions: list[Action]) -> None:
        """Admit the streams that fit; reject those that have waited too long."""
        self._look, self._looked_at_s = False, now
        rooms = rooms_left(self._estimates, self._workers, now)
        fitting = self._admission.next(
            rooms, self._estimates.rtf_of, lambda stream: self._workers.pools_of(stream.engines)
        )
        for stream in fitting:
            stream.let_in(now, throughput=self._estimates.tuning.throughput)
            actions.append(Admit(stream.stream_id, stream.throughput))
            self._refresh(stream, now, actions)
        admitted = [stream for stream in self._streams.values() if stream.admitted]
        for stream, reason, retry_after_s in list(self._admission.give_up(now, self._estimates.tuning, admitted)):
            self._close(stream, now)
            actions.append(Reject(stream.stream_id, reason, retry_after_s))

    def _assign(self, now: float, actions: list[Action]) -> None:
        """Give each idle worker the most urgent work."""
        if self._num_urgent:
            self._urgent_at_s = now
        for worker in self._workers.idle():
            num_reserved = self._estimates.tuning.reserved_workers if now - self._urgent_at_s < RESERVE_S else 0
            while (task := self._chooser.next_task(worker, num_reserved, now)) is not None:
                self._start(task, now, actions)
                if not self._workers.has_free_slot(worker):
                    break

    def _start(self, task: Plan | Step, now: float, actions: list[Action]) -> None:
        """Start a task on its worker."""
        job_ids = (task.job_id,) if isinstance(task, Plan) else tuple(part.job_id for part in task.parts)
        jobs = [self._jobs[job_id] for job_id in job_ids]
        streams = [self._streams[job.stream_id] for job in jobs]
        is_bulk = streams[0].is_bulk and self._estimates.work_s(jobs[0], now) > MOMENT_S
        self._workers.start(task.worker, job_ids, bulk=is_bulk)
        for job, stream in zip(jobs, streams, strict=True):
            job.busy = True
            self._refresh(stream, now, actions)
            if stream.is_bulk:
                self._run_queue.bulk_served(stream.turn, now)
        actions.append(task)
