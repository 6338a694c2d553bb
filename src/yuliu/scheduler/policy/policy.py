"""The scheduling policy: which stream gets the next step, of what size. Pure: ``handle(event, now) -> actions``.

The rules are told in docs/design/scheduling.md: earliest deadline first, small steps, admission by measured cost, one
repetition of what failed. State is in ``book``, what could be done in ``agenda``; here it is decided what follows.

``handle`` is called for every step and every chunk taken, while the lock of the worker is held: an event makes anew
what it changes for its own streams, and nothing looks at all streams unless one of them waits to be admitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.scheduler.policy.admission import BULK_PER_SLOT, Admission, Room
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
    StepOrder,
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
from yuliu.scheduler.policy.run_queue import RANK, Candidate, Pool, RunQueue, deadline_s, pool_of
from yuliu.scheduler.policy.state import NOTHING_S, JobState, StreamState
from yuliu.scheduler.policy.steps import may_wait_until_s
from yuliu.scheduler.policy.workers import MOMENT_S, RESERVE_S, Workers
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from yuliu.scheduler.policy.costs import EngineFacts
    from yuliu.scheduler.policy.snapshot import Snapshot
    from yuliu.scheduler.policy.steps import StepShare
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
        self._wakes: dict[int, float] = {}  # when held streams may be stepped again
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
        self._wake(now, actions)
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
        times = [*self._wakes.values()]
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
        self._run_queue.remove(stream.offered)
        self._wakes.pop(stream.stream_id, None)
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

    # What could be done.

    def _wake(self, now: float, actions: list[Action]) -> None:
        """Queue the work of streams that were held until now."""
        if self._wakes and min(self._wakes.values()) <= now:
            for stream_id in [each for each, at_s in self._wakes.items() if at_s <= now]:
                self._refresh(self._streams[stream_id], now, actions)

    def _refresh(self, stream: StreamState, now: float, actions: list[Action]) -> None:
        """Find the runnable work of a stream anew, and serve cached audio whose turn it is."""
        self._run_queue.remove(stream.offered)
        self._wakes.pop(stream.stream_id, None)
        stream.offered = ()
        if not stream.admitted:
            return
        held_until_s = stream.held_until_s(now)
        while stream.jobs and held_until_s <= now and (job := self._jobs[stream.jobs[0]]).cached_s is not None:
            stream.make(job.cached_s, now)
            self._drop(job, stream)
            actions.append(Serve(job.job_id))
            held_until_s = stream.held_until_s(now)
        if stream.jobs:
            self._offer(stream, held_until_s, now)

    def _offer(self, stream: StreamState, held_until_s: float, now: float) -> None:
        head = self._jobs[stream.jobs[0]]
        pool, at_s = pool_of(stream, head), deadline_s(stream, head, self._estimates.tuning, now)
        rank, lightness = RANK[stream.terms.stream_class], -stream.terms.weight
        before_s = 0.0  # sound of the segments before that is still to be made
        for place, job_id in enumerate(stream.jobs):
            if place >= max(1, stream.terms.max_planned):
                break
            job = self._jobs[job_id]
            if self._is_runnable(job, place, held_until_s, now):
                due_s = at_s if pool is Pool.BULK else at_s + before_s - self._estimates.before_step_s(job)
                self._run_queue.add(pool, Candidate(due_s, rank, lightness, job.ready_at_s, place, job_id), now)
                stream.offered += (job_id,)
            before_s += self._estimates.left_s(job)

    def _is_runnable(self, job: JobState, place: int, held_until_s: float, now: float) -> bool:
        """Return whether a worker could plan the job, or step it if it is its stream's first."""
        if job.busy:
            return False
        if not job.planned and job.cached_s is None:
            return True
        until_s = max(held_until_s, job.not_before_s)
        if place or until_s > now:
            if not place and until_s != float("inf"):
                self._wakes[job.stream_id] = until_s
            return False
        job.runnable_at_s = now if job.runnable_at_s is None else job.runnable_at_s
        return True

    def _admit(self, now: float, actions: list[Action]) -> None:
        """Admit the streams that fit; reject those that have waited too long."""
        self._look, self._looked_at_s = False, now
        for stream in self._admission.next(self._rooms(now), self._estimates.rtf_of, self._pools_of):
            stream.let_in(now, throughput=self._estimates.tuning.throughput)
            actions.append(Admit(stream.stream_id, stream.throughput))
            self._refresh(stream, now, actions)
        admitted = [stream for stream in self._streams.values() if stream.admitted]
        for stream, reason, retry_after_s in list(self._admission.give_up(now, self._estimates.tuning, admitted)):
            self._close(stream, now)
            actions.append(Reject(stream.stream_id, reason, retry_after_s))

    def _rooms(self, now: float) -> list[Room]:
        """Return what is left in each pool of workers."""
        first = self._room(self._workers.num_slots, now, None)
        others = enumerate(self._workers.pools[1:], 1)
        return [first, *(self._room(slots, now, pool) for pool, slots in others)]

    def _room(self, num_slots: int, now: float, pool: int | None) -> Room:
        """Return what is left in a pool; None is that of all workers."""

        def counts(stream: StreamState) -> bool:
            return pool is None or pool in self._pools_of(stream)

        demand = self._estimates.demand(now, counts)
        num_bulk = sum(stream.admitted and stream.is_bulk and counts(stream) for stream in self._streams.values())
        slots = num_slots * self._estimates.tuning.max_load - demand
        return Room(slots, max(0, BULK_PER_SLOT * num_slots - num_bulk), bool(num_slots) and not demand)

    def _pools_of(self, stream: StreamState) -> set[int]:
        return self._workers.pools_of(stream.engines)

    # Assignment of work.

    def _assign(self, now: float, actions: list[Action]) -> None:
        """Give each idle worker the most urgent work."""
        if self._num_urgent:
            self._urgent_at_s = now
        for worker in self._workers.idle():
            while self._employ(worker, now, actions) and self._workers.has_free_slot(worker):
                pass

    def _employ(self, worker: str, now: float, actions: list[Action]) -> bool:
        """Give a worker the most urgent task that it may run; return whether there is one."""
        barred = self._workers.barred_from(worker, (self._jobs[job_id] for job_id in self._run_queue))
        while (best := self._best(worker, barred, now)) is not None:
            job = self._jobs[best.job_id]
            if not job.planned:
                self._give(worker, (best.job_id,), now, actions)
                actions.append(Plan(worker, best.job_id))
                return True
            parts = self._parts(best, job, barred, now)
            if not self._waits_for_company(best, job, len(parts), now):
                self._give(worker, tuple(part.job_id for part in parts), now, actions)
                actions.append(Step(worker, tuple(StepOrder(part.job_id, part.num_frames) for part in parts)))
                return True
            barred.add(best.job_id)
        return False

    def _best(self, worker: str, barred: set[int], now: float) -> Candidate | None:
        return self._run_queue.best(
            now,
            until_sound_s=lambda job_id: self._estimates.first_s(self._jobs[job_id]),
            listening_s=self._estimates.tuning.step_budget_s / self._workers.slots_like(worker),
            bulk=self._takes_bulk(worker, barred, now),
            barred=barred,
        )

    def _takes_bulk(self, worker: str, barred: set[int], now: float) -> bool:
        """Return whether a worker may take bulk work: on a reserved slot only a task that is over in a moment."""
        reserved = self._estimates.tuning.reserved_workers if now - self._urgent_at_s < RESERVE_S else 0
        if self._workers.may_take_bulk(worker, reserved):
            return True
        found = self._run_queue.next_bulk(barred)
        return found is not None and self._estimates.work_s(self._jobs[found.job_id], now) <= MOMENT_S

    def _parts(self, best: Candidate, job: JobState, barred: set[int], now: float) -> list[StepShare]:
        """Return the step of the most urgent job with others that go with it; a job that has failed goes alone."""
        if self._estimates.engines[job.engine].max_batch == 1 or job.failures:
            return [self._estimates.part(job, now)]
        is_bulk = best.rank == RANK[StreamClass.BULK]
        others = [
            other
            for each in self._run_queue.in_order(bulk=is_bulk, barred={*barred, job.job_id})
            if (other := self._jobs[each.job_id]).planned and other.engine == job.engine and not other.failures
        ]
        return self._estimates.parts(job, others, now)

    def _waits_for_company(self, best: Candidate, job: JobState, size: int, now: float) -> bool:
        """Return whether a step is not urgent and will have company of its engine in a moment."""
        if size >= self._estimates.engines[job.engine].max_batch or job.failures or best.rank == RANK[StreamClass.BULK]:
            return False
        until_s = may_wait_until_s(best.deadline_s, job.runnable_at_s or now, now)
        return until_s > now and any(
            at_s <= until_s and self._jobs[self._streams[stream_id].jobs[0]].engine == job.engine
            for stream_id, at_s in self._wakes.items()
        )

    def _give(self, worker: str, job_ids: tuple[int, ...], now: float, actions: list[Action]) -> None:
        """Start jobs on a worker."""
        jobs = [self._jobs[job_id] for job_id in job_ids]
        streams = [self._streams[job.stream_id] for job in jobs]
        is_bulk = streams[0].is_bulk and self._estimates.work_s(jobs[0], now) > MOMENT_S
        self._workers.start(worker, job_ids, bulk=is_bulk)
        for job, stream in zip(jobs, streams, strict=True):
            job.busy = True
            self._refresh(stream, now, actions)
            if stream.is_bulk:
                self._run_queue.bulk_served(stream.turn, now)
