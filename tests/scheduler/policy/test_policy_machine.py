"""Invariants of the policy under any order of events."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from yuliu.scheduler.policy.costs import EngineFacts
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
    Terms,
    TextEnded,
    Ticked,
    Tuned,
    WorkerLost,
    WorkerUp,
    WorkFailed,
)
from yuliu.scheduler.policy.policy import Policy
from yuliu.scheduler.policy.state import MAX_UNREAD_S, MIN_LEAD_S
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.types import StreamClass

FPS = 80.0
ENGINES = {"alone": EngineFacts(FPS, rtf=0.05), "together": EngineFacts(FPS, max_batch=3, rtf=0.005)}
TERMS = st.builds(
    Terms,
    st.sampled_from(StreamClass),
    weight=st.sampled_from([0.5, 1.0, 2.0]),
    max_lead_s=st.sampled_from([None, 0.1, 1.0, 3.0]),
    max_planned=st.integers(1, 3),
    ttfp_target_s=st.sampled_from([None, 0.01, 1.0]),
)
SEGMENTS = st.lists(
    st.tuples(
        st.sampled_from(["alone", "together", "together"]),
        st.integers(1, 400) | st.just(2000),
        st.booleans(),  # length known
        st.sampled_from([False, False, False, True]),  # audio cached
    ),
    min_size=1,
    max_size=4,
)
"""Engine, number of frames and both flags of each segment."""


@dataclass
class ModelStream:
    """Requests and results of a stream, from the view of its owner."""

    terms: Terms
    jobs: list[int] = field(default_factory=list)
    admitted: bool = False
    closed: bool = False
    made_s: float = 0.0
    taken_s: float = 0.0
    playing_since_s: float | None = None
    """Start of playback, shifted by every silence: the time since then is the audio played."""
    served_at_s: float = 0.0
    """Time at which it last got a worker, or had no work."""


@dataclass
class ModelJob:
    stream_id: int
    engine: str
    num_frames: int
    known: bool
    cached: bool
    planned: bool = False
    num_made: int = 0
    num_failures: int = 0


class PolicyMachine(RuleBasedStateMachine):
    """A scheduler with correct workers, driven at random."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = Policy(ENGINES, Tuning())
        self.now = 0.0
        self.ids = itertools.count(1)
        self.streams: dict[int, ModelStream] = {}
        self.jobs: dict[int, ModelJob] = {}
        self.workers: dict[str, Plan | Step | None] = {}
        self.num_terminal: dict[int, int] = {}

    # Actions.

    def report(self, event: Event) -> None:
        for action in self.policy.handle(event, self.now):
            self.take(action)

    def take(self, action: Action) -> None:
        match action:
            case Admit():
                stream = self.streams[action.stream_id]
                assert not stream.admitted
                assert not stream.closed
                stream.admitted = True
            case Reject():
                assert 1.0 <= action.retry_after_s <= 60.0
                assert not self.streams[action.stream_id].admitted
                self.end(action.stream_id)
            case Fail():
                assert self.jobs[action.job_id].stream_id == action.stream_id
                self.end(action.stream_id)
            case Serve():
                self.serve(action.job_id)
            case Plan():
                self.occupy(action.worker, action)
                self.check_plan(action.job_id)
            case Step():
                self.occupy(action.worker, action)
                self.check_step(action)

    def occupy(self, worker: str, action: Plan | Step) -> None:
        assert self.workers[worker] is None, "a worker does one thing at a time"
        others = {job_id for other in self.workers.values() if other is not None for job_id in jobs_of(other)}
        assert not others & set(jobs_of(action)), "a job is on one worker at a time"
        self.workers[worker] = action
        for job_id in jobs_of(action):
            stream = self.streams[self.jobs[job_id].stream_id]
            assert stream.admitted, "nothing is done for who is not let in"
            assert not stream.closed, "nothing is done for who is gone"
            stream.served_at_s = self.now

    def check_plan(self, job_id: int) -> None:
        job = self.jobs[job_id]
        stream = self.streams[job.stream_id]
        assert not job.planned, "a segment is planned once"
        assert not job.cached
        assert stream.jobs.index(job_id) < stream.terms.max_planned

    def check_step(self, action: Step) -> None:
        engines = {self.jobs[order.job_id].engine for order in action.parts}
        assert len(engines) == 1
        assert 1 <= len(action.parts) <= ENGINES[engines.pop()].max_batch
        assert len({order.job_id for order in action.parts}) == len(action.parts)
        sizes = [order.num_frames for order in action.parts]
        assert max(sizes) <= 1.5 * min(sizes), "little is computed for nothing"
        for order in action.parts:
            job = self.jobs[order.job_id]
            stream = self.streams[job.stream_id]
            assert job.planned
            assert stream.jobs[0] == order.job_id, "segments are rendered in order"
            assert order.num_frames >= 1
            assert not job.known or order.num_frames <= job.num_frames - job.num_made, "no frame is made twice"
            assert stream.made_s - stream.taken_s <= MAX_UNREAD_S, "who does not read gets nothing"
            self.check_lead(stream)

    def check_lead(self, stream: ModelStream) -> None:
        lead_s = stream.terms.max_lead_s
        if lead_s is not None and stream.playing_since_s is not None:
            ahead_s = stream.made_s - (self.now - stream.playing_since_s)
            assert ahead_s <= max(lead_s, MIN_LEAD_S) + 1e-6, "who has enough gets nothing"

    def serve(self, job_id: int) -> None:
        job = self.jobs[job_id]
        stream = self.streams[job.stream_id]
        assert stream.admitted
        assert not stream.closed
        assert job.cached
        assert stream.jobs[0] == job_id, "also what is at hand is served in order"
        self.check_lead(stream)
        assert stream.made_s - stream.taken_s <= MAX_UNREAD_S
        self.sound(stream, job.num_frames / FPS)
        self.finish(job_id)

    def end(self, stream_id: int) -> None:
        assert not self.streams[stream_id].closed, "a stream ends once"
        self.streams[stream_id].closed = True

    def sound(self, stream: ModelStream, audio_s: float) -> None:
        if stream.playing_since_s is None:
            stream.playing_since_s = self.now
        stream.playing_since_s = max(stream.playing_since_s, self.now - stream.made_s)
        stream.made_s += audio_s

    def finish(self, job_id: int) -> None:
        self.streams[self.jobs[job_id].stream_id].jobs.remove(job_id)

    def open_streams(self) -> list[int]:
        return [stream_id for stream_id, stream in self.streams.items() if not stream.closed]

    # Rules.

    @initialize(num_workers=st.integers(1, 3))
    def workers_up(self, num_workers: int) -> None:
        for _ in range(num_workers):
            self.worker_up()

    @rule(terms=TERMS, segments=SEGMENTS)
    def open(self, terms: Terms, segments: list[tuple[str, int, bool, bool]]) -> None:
        stream_id = next(self.ids)
        self.streams[stream_id] = ModelStream(terms, served_at_s=self.now)
        self.report(StreamOpened(stream_id, ("alone", "together"), terms))
        self.add(stream_id, segments)

    @precondition(lambda self: self.open_streams())
    @rule(data=st.data(), segments=SEGMENTS)
    def add_text(self, data: st.DataObject, segments: list[tuple[str, int, bool, bool]]) -> None:
        self.add(data.draw(st.sampled_from(self.open_streams())), segments)

    def add(self, stream_id: int, segments: list[tuple[str, int, bool, bool]]) -> None:
        for engine, num_frames, known, cached in segments:
            if self.streams[stream_id].closed:
                return
            job_id = next(self.ids)
            self.jobs[job_id] = ModelJob(stream_id, engine, num_frames, known, cached)
            self.streams[stream_id].jobs.append(job_id)
            self.report(SegmentReady(stream_id, job_id, engine, num_frames / FPS if cached else None))

    @precondition(lambda self: any(self.workers.values()))
    @rule(data=st.data(), took_s=st.floats(0, 0.01), share=st.sampled_from([0.0, 0.5, 1.0, 1.0]))
    def work_done(self, data: st.DataObject, took_s: float, share: float) -> None:
        worker = data.draw(st.sampled_from([name for name, task in self.workers.items() if task]))
        self.now += took_s
        task, self.workers[worker] = self.workers[worker], None
        assert task is not None
        if isinstance(task, Plan):
            self.plan_done(worker, task.job_id, took_s)
            return
        parts = [self.part_done(order.job_id, order.num_frames, share) for order in task.parts]
        self.report(StepFinished(worker, tuple(parts), took_s))

    def plan_done(self, worker: str, job_id: int, took_s: float) -> None:
        job = self.jobs[job_id]
        job.planned, job.num_failures = True, 0
        self.report(PlanFinished(worker, job_id, job.num_frames if job.known else None, False, took_s))

    def part_done(self, job_id: int, num_asked: int, share: float) -> StepPart:
        """Return a part of the requested frames; all at the end; sometimes none if the length is not known."""
        job = self.jobs[job_id]
        num_frames = min(num_asked, job.num_frames - job.num_made)
        if share < 1.0:
            num_frames = max(1 if job.known else 0, int(num_frames * share))
        job.num_made += num_frames
        job.num_failures = 0
        done = job.num_made == job.num_frames
        stream = self.streams[job.stream_id]
        if not stream.closed:
            self.sound(stream, num_frames / FPS)
            if done:
                self.finish(job_id)
        return StepPart(job_id, num_frames, num_frames / FPS, done)

    @precondition(lambda self: any(self.workers.values()))
    @rule(num_rounds=st.integers(2, 30))
    def work_goes_on(self, num_rounds: int) -> None:
        """Let workers go on for a while, with or without reading."""
        for _ in range(num_rounds):
            self.now += 0.005
            for worker, task in list(self.workers.items()):
                if task is not None:
                    self.finish_task(worker)

    @precondition(lambda self: any(self.workers.values()))
    @rule(data=st.data(), lost=st.booleans(), final=st.sampled_from([False, False, True]))
    def work_fails(self, data: st.DataObject, lost: bool, final: bool) -> None:
        worker = data.draw(st.sampled_from([name for name, task in self.workers.items() if task]))
        task = self.workers[worker]
        assert task is not None
        job_ids = jobs_of(task)
        must_fail: set[int] = set()
        for job_id in job_ids:
            job = self.jobs[job_id]
            job.num_failures += 1
            if not self.streams[job.stream_id].closed and (final or job.num_failures > 1):
                must_fail.add(job.stream_id)
        self.workers[worker] = None
        if lost:
            del self.workers[worker]
        final_ids = tuple(job_ids) if final else ()
        self.report(WorkerLost(worker, final_ids) if lost else WorkFailed(worker, tuple(job_ids), final_ids))
        if lost:  # its late report is ignored
            late = [StepPart(job_id, 1, 1 / FPS, True) for job_id in job_ids]
            self.report(
                PlanFinished(worker, job_ids[0], 5, True)
                if isinstance(task, Plan)
                else StepFinished(worker, tuple(late))
            )
        for job_id in job_ids:
            stream_id = self.jobs[job_id].stream_id
            assert self.streams[stream_id].closed or stream_id not in must_fail, "what fails twice ends its stream"

    @precondition(lambda self: len(self.workers) < 4)
    @rule()
    def worker_up(self) -> None:
        name = f"worker-{next(self.ids)}"
        self.workers[name] = None
        self.report(WorkerUp(name))

    @precondition(lambda self: self.open_streams())
    @rule(data=st.data(), share=st.floats(0, 1))
    def take_sound(self, data: st.DataObject, share: float) -> None:
        stream_id = data.draw(st.sampled_from(self.open_streams()))
        stream = self.streams[stream_id]
        audio_s = share * (stream.made_s - stream.taken_s)
        if audio_s and not stream.taken_s:
            stream.playing_since_s = self.now
        stream.taken_s += audio_s
        self.report(SoundTaken(stream_id, audio_s))

    @precondition(lambda self: self.open_streams())
    @rule(data=st.data(), share=st.floats(0, 1))
    def report_position(self, data: st.DataObject, share: float) -> None:
        stream_id = data.draw(st.sampled_from(self.open_streams()))
        stream = self.streams[stream_id]
        position_s = share * stream.taken_s
        stream.playing_since_s = self.now - position_s
        self.report(PlayedTo(stream_id, position_s))

    @precondition(lambda self: self.open_streams())
    @rule(data=st.data())
    def end_text(self, data: st.DataObject) -> None:
        self.report(TextEnded(data.draw(st.sampled_from(self.open_streams()))))

    @precondition(lambda self: self.open_streams())
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        stream_id = data.draw(st.sampled_from(self.open_streams()))
        self.end(stream_id)
        self.report(StreamClosed(stream_id))

    @precondition(lambda self: len(self.streams) % 3 == 0)
    @rule(num_workers=st.sampled_from([None, 1, 2]), throughput=st.booleans(), budget_s=st.floats(0.01, 0.04))
    def tune(self, num_workers: int | None, throughput: bool, budget_s: float) -> None:
        self.report(Tuned(Tuning(num_workers=num_workers, throughput=throughput, step_budget_s=budget_s)))

    @rule(seconds=st.floats(0, 3))
    def wait(self, seconds: float) -> None:
        """Let time pass, with a tick whenever one is requested."""
        until_s = self.now + seconds
        while (wake_s := self.policy.next_wake(self.now)) is not None and wake_s <= until_s:
            self.now = max(self.now + 1e-4, wake_s)
            self.report(Ticked())
        self.now = max(self.now, until_s)

    # Invariants.

    @invariant()
    def closed_streams_leave_no_state(self) -> None:
        alive = {stream_id for stream_id, stream in self.streams.items() if not stream.closed}
        assert self.policy.num_streams == len(alive)
        assert self.policy.num_jobs == sum(len(self.streams[stream_id].jobs) for stream_id in alive)

    @invariant()
    def counts_agree(self) -> None:
        found = self.policy.snapshot(self.now)
        assert sum(found.streams.values()) == self.policy.num_streams
        assert found.num_workers_busy == sum(task is not None for task in self.workers.values())

    @invariant()
    def no_worker_is_idle_while_work_is_ready(self) -> None:
        """Exceptions are bulk work while workers are reserved, and the worker on which a job failed."""
        num_usable = self.policy.snapshot(self.now).num_workers
        usable = list(self.workers)[:num_usable]
        if any(self.workers[worker] is None for worker in usable):
            for stream_id in self.open_streams():
                assert not self.is_neglected(self.streams[stream_id]), stream_id

    def is_neglected(self, stream: ModelStream) -> bool:
        if not stream.jobs or not stream.admitted or stream.terms.stream_class is StreamClass.BULK:
            return False
        job = self.jobs[stream.jobs[0]]
        if any(stream.jobs[0] in jobs_of(task) for task in self.workers.values() if task):
            return False
        return not job.planned and not job.cached and not job.num_failures

    def teardown(self) -> None:
        """With workers, readers and no more failures, everything comes to an end."""
        for worker, task in list(self.workers.items()):
            if task is not None:
                self.finish_task(worker)
        self.report(Tuned(Tuning()))
        while len(self.workers) < 2:
            self.worker_up()
        for _ in range(5000):
            if not any(self.streams[each].jobs for each in self.open_streams()):
                break
            self.step_everything()
        for stream_id in self.open_streams():
            assert not self.streams[stream_id].jobs, "all requested audio was made"
        for job in self.jobs.values():
            if not self.streams[job.stream_id].closed and not job.cached:
                assert job.num_made == job.num_frames, "every frame was made once"

    def finish_task(self, worker: str) -> None:
        task, self.workers[worker] = self.workers[worker], None
        assert task is not None
        if isinstance(task, Plan):
            self.plan_done(worker, task.job_id, 0.001)
        else:
            parts = tuple(self.part_done(order.job_id, order.num_frames, 1.0) for order in task.parts)
            self.report(StepFinished(worker, parts, 0.001))

    def step_everything(self) -> None:
        self.now += 0.01
        for worker, task in list(self.workers.items()):
            if task is not None:
                self.finish_task(worker)
        for stream_id in self.open_streams():
            stream = self.streams[stream_id]
            if not stream.admitted:
                self.end(stream_id)
                self.report(StreamClosed(stream_id))
            elif stream.made_s > stream.taken_s:
                if not stream.taken_s:
                    stream.playing_since_s = self.now
                audio_s, stream.taken_s = stream.made_s - stream.taken_s, stream.made_s
                self.report(SoundTaken(stream_id, audio_s))
        wake_s = self.policy.next_wake(self.now)
        if wake_s is not None and not any(self.workers.values()):
            self.now = max(self.now, wake_s)
        self.report(Ticked())


def jobs_of(task: Plan | Step) -> list[int]:
    return [task.job_id] if isinstance(task, Plan) else [order.job_id for order in task.parts]


TestPolicy = PolicyMachine.TestCase
TestPolicy.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
