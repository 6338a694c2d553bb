"""Which stream gets the next step, and how large it is. Pure: ``handle(event, now) -> actions``.

The rules are told in docs/design/scheduling.md: earliest deadline first, small steps, admission by measured cost, one
repetition of what failed. State is in :mod:`yuliu.scheduler.book`; here it is decided what follows from it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from yuliu.scheduler.admission import Admission
from yuliu.scheduler.book import Job, Stream, deadline_s
from yuliu.scheduler.costs import Costs
from yuliu.scheduler.events import (
    Action,
    Admit,
    Event,
    Fail,
    LaneLost,
    LaneUp,
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
    StreamClosed,
    StreamOpened,
    TextEnded,
    Ticked,
    Tuned,
    WorkFailed,
)
from yuliu.scheduler.steps import step_frames
from yuliu.scheduler.tuning import Tuning
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from yuliu.scheduler.costs import EngineFacts

MAX_UNREAD_S = 4.0
"""Sound that may wait for its reader before the stream is paused, seconds (384 kB at 24 kHz)."""
RESERVE_S = 1.0
"""Bulk work keeps one lane free for so long after the last stream of another class, seconds."""

_RANK = {StreamClass.INTERACTIVE: 0, StreamClass.STANDARD: 1, StreamClass.BULK: 2}


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """Work that a lane could do; the least is the most urgent."""

    deadline_s: float
    rank: int
    lightness: float
    ready_at_s: float
    place: int
    job_id: int


class Policy:
    """The state of all streams and lanes.

    Args:
        engines: What is known of each engine, by its name.
        tuning: What holds at first.
    """

    def __init__(self, engines: Mapping[str, EngineFacts], tuning: Tuning | None = None) -> None:
        self._engines = dict(engines)
        self._costs = {name: Costs(facts) for name, facts in engines.items()}
        self._tuning = tuning or Tuning()
        self._lanes: dict[str, tuple[int, ...]] = {}  # the jobs that each lane is busy with
        self._streams: dict[int, Stream] = {}
        self._jobs: dict[int, Job] = {}
        self._admission = Admission()
        self._urgent_at_s = float("-inf")  # when a stream that is not bulk was open last

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take note of an event and say what is to be done.

        Args:
            event: What happened. Events about streams or jobs that are closed are ignored.
            now: Seconds on any monotonic clock.
        """
        actions: list[Action] = list(self._note(event, now))
        actions += self._admit(now)
        actions += self._serve(now)
        actions += self._assign(now)
        return actions

    @property
    def num_streams(self) -> int:
        """Streams open now, those that wait to be admitted counted."""
        return len(self._streams)

    @property
    def num_jobs(self) -> int:
        """Segments not rendered to their end."""
        return len(self._jobs)

    def next_wake(self, now: float) -> float | None:
        """When to send ``Ticked`` if nothing else happens: a stream may be stepped again, or has waited too long."""
        leads = (s.dry_at_s - s.terms.max_lead_s for s in self._streams.values() if s.jobs and s.terms.max_lead_s)
        times = [time for time in leads if time > now]
        if (until := self._admission.next_timeout_s(self._tuning)) is not None:
            times.append(until)
        return min(times, default=None)

    def _note(self, event: Event, now: float) -> Iterator[Action]:
        match event:
            case StreamOpened():
                stream = Stream(event.stream_id, event.engines, event.terms, opened_at_s=now)
                self._streams[event.stream_id] = stream
                self._admission.ask(stream)
            case SegmentReady():
                self._segment_ready(event, now)
            case PlanFinished():
                self._plan_finished(event)
            case StepFinished():
                self._step_finished(event, now)
            case WorkFailed():
                yield from self._work_failed(event)
            case LaneUp():
                self._lanes[event.lane] = ()
            case LaneLost():
                yield from self._work_failed(WorkFailed(event.lane, self._lanes.get(event.lane, ())))
                self._lanes.pop(event.lane, None)
            case Tuned():
                self._tuning = event.tuning
            case Ticked():
                pass
            case _:
                self._note_of_stream(event, now)

    def _note_of_stream(self, event: TextEnded | SoundTaken | PlayedTo | StreamClosed, now: float) -> None:
        if (stream := self._streams.get(event.stream_id)) is None:
            return
        match event:
            case TextEnded():
                stream.text_ended = True
            case SoundTaken():
                stream.take(event.audio_s, now)
            case PlayedTo():
                stream.play_to(event.position_s, now)
            case StreamClosed():
                self._close(event.stream_id)
            case _:
                assert_never(event)

    def _segment_ready(self, event: SegmentReady, now: float) -> None:
        if stream := self._streams.get(event.stream_id):
            self._jobs[event.job_id] = Job(event.stream_id, event.engine, now, event.cached_s)
            stream.jobs.append(event.job_id)

    def _plan_finished(self, event: PlanFinished) -> None:
        self._lanes[event.lane] = ()
        if job := self._jobs.get(event.job_id):
            self._costs[job.engine].planned(event.took_s)
            job.busy, job.planned, job.frames_left = False, True, event.num_frames
            if event.done:
                self._drop(event.job_id, job)

    def _step_finished(self, event: StepFinished, now: float) -> None:
        self._lanes[event.lane] = ()
        audio_s = sum(part.audio_s for part in event.parts)
        for part in event.parts:
            if job := self._jobs.get(part.job_id):
                self._costs[job.engine].stepped(event.took_s * (part.audio_s / audio_s if audio_s else 1), part.audio_s)
                job.busy, job.failures = False, 0
                if job.frames_left is not None:
                    job.frames_left -= part.num_frames
                self._streams[job.stream_id].make(part.audio_s, now)
                if part.done:
                    self._drop(part.job_id, job)

    def _work_failed(self, event: WorkFailed) -> Iterator[Action]:
        self._lanes[event.lane] = ()
        for job_id in event.job_ids:
            if job := self._jobs.get(job_id):
                job.busy, job.failures, job.failed_on = False, job.failures + 1, event.lane
                if job.failures > 1:
                    yield Fail(job.stream_id, job_id)
                    self._close(job.stream_id)

    def _drop(self, job_id: int, job: Job) -> None:
        del self._jobs[job_id]
        self._streams[job.stream_id].jobs.remove(job_id)

    def _close(self, stream_id: int) -> None:
        self._admission.forget(stream_id)
        if stream := self._streams.pop(stream_id, None):
            for job_id in stream.jobs:
                del self._jobs[job_id]

    def _admit(self, now: float) -> Iterator[Action]:
        """Let in who can be carried, turn away who has waited too long."""
        demand = sum(self._demand(stream, now) for stream in self._streams.values() if stream.admitted)
        room = len(self._usable()) * self._tuning.max_load - demand
        for stream in self._admission.next(room, self._demand_of):
            stream.admitted, stream.throughput = True, self._tuning.throughput
            yield Admit(stream.stream_id, stream.throughput)
        for stream, reason, retry_after_s in self._admission.give_up(now, self._tuning):
            self._streams.pop(stream.stream_id, None)
            yield Reject(stream.stream_id, reason, retry_after_s)

    def _demand_of(self, stream: Stream) -> float:
        return max((self._costs[engine].rtf for engine in stream.engines), default=0.0)

    def _demand(self, stream: Stream, now: float) -> float:
        """Share of a lane that an admitted stream needs as long as it has something to say."""
        return self._demand_of(stream) if stream.is_active(now) else 0.0

    def _serve(self, now: float) -> Iterator[Action]:
        """Cached sound whose turn it is."""
        for stream in self._streams.values():
            while stream.jobs and stream.admitted and not self._is_held(stream, now):
                job_id = stream.jobs[0]
                job = self._jobs[job_id]
                if job.cached_s is None:
                    break
                stream.make(job.cached_s, now)
                self._drop(job_id, job)
                yield Serve(job_id)

    def _usable(self) -> list[str]:
        """The lanes that may be given work."""
        return list(self._lanes)[: self._tuning.num_lanes]

    def _assign(self, now: float) -> Iterator[Action]:
        """The most urgent work for each idle lane."""
        if any(stream.terms.stream_class is not StreamClass.BULK for stream in self._streams.values()):
            self._urgent_at_s = now
        idle = deque(lane for lane in self._usable() if not self._lanes[lane])
        while idle:
            lane = idle.popleft()
            best = min(self._runnable(lane, len(idle), now), default=None)
            if best is not None:
                yield self._order(lane, best.job_id, now)

    def _order(self, lane: str, job_id: int, now: float) -> Plan | Step:
        job = self._jobs[job_id]
        stream = self._streams[job.stream_id]
        job.busy, stream.served_at_s = True, now
        self._lanes[lane] = (job_id,)
        if not job.planned:
            return Plan(lane, job_id)
        costs, facts = self._costs[job.engine], self._engines[job.engine]
        num_frames = step_frames(stream, job, costs=costs, facts=facts, tuning=self._tuning, now=now)
        return Step(lane, (StepOrder(job_id, num_frames),))

    def _runnable(self, lane: str, num_other_idle: int, now: float) -> Iterator[_Candidate]:
        reserved = not num_other_idle and len(self._usable()) > 1 and now - self._urgent_at_s < RESERVE_S
        for stream in self._streams.values():
            if stream.admitted and not (reserved and stream.terms.stream_class is StreamClass.BULK):
                yield from self._runnable_of(stream, lane, now)

    def _runnable_of(self, stream: Stream, lane: str, now: float) -> Iterator[_Candidate]:
        held = self._is_held(stream, now)
        before_s = 0.0  # sound of the segments before that is still to be made
        for place, job_id in enumerate(stream.jobs):
            if place == stream.terms.max_planned:
                break
            job = self._jobs[job_id]
            elsewhere = job.failed_on == lane and len(self._usable()) > 1
            if not (job.busy or elsewhere or job.cached_s is not None or (job.planned and (place or held))):
                yield _Candidate(
                    deadline_s(stream, job, self._tuning, now) + before_s,
                    _RANK[stream.terms.stream_class],
                    -stream.terms.weight,
                    job.ready_at_s,
                    place,
                    job_id,
                )
            left = job.frames_left
            before_s += 1.0 if left is None else left / self._engines[job.engine].frames_per_s

    def _is_held(self, stream: Stream, now: float) -> bool:
        """Whether no more sound of it may be made now."""
        if stream.made_s - stream.taken_s > MAX_UNREAD_S:
            return True
        lead_s = stream.terms.max_lead_s
        return lead_s is not None and stream.made_s > 0 and stream.dry_at_s - now >= lead_s
