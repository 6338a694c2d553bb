"""Estimates of the cost of streams' work, for the decisions of the policy. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.scheduler.policy.costs import Costs
from yuliu.scheduler.policy.snapshot import Snapshot
from yuliu.scheduler.policy.steps import StepShare, budget_s, company, fitted, step_frames
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.scheduler.policy.costs import EngineFacts
    from yuliu.scheduler.policy.state import JobState, StreamState

UNKNOWN_S = 1.0
"""Sound of a segment of which it is not known yet, seconds."""


class Estimates:
    """The open streams and jobs, with their costs.

    Args:
        engines: Facts of each engine, by its name.
        tuning: Initial tuning.
    """

    def __init__(self, engines: Mapping[str, EngineFacts], tuning: Tuning | None = None) -> None:
        self.engines = dict(engines)
        self.costs = {name: Costs(facts) for name, facts in engines.items()}
        self.tuning = tuning or Tuning()
        self.streams: dict[int, StreamState] = {}
        self.jobs: dict[int, JobState] = {}
        self.busy_s = 0.0
        """Time that workers have worked, seconds."""

    def rtf_of(self, stream: StreamState) -> float:
        """Share of a worker that a stream needs while its listener plays."""
        return stream.rtf(max((self.costs[engine].rtf for engine in stream.engines), default=0.0))

    def demand(self, now: float, counts: Callable[[StreamState], bool] | None = None) -> float:
        """Return the slots that admitted streams need while their listeners play.

        Args:
            now: Seconds.
            counts: True if a stream counts; None counts all.
        """
        return sum(
            self.rtf_of(stream)
            for stream in self.streams.values()
            if stream.admitted and not stream.is_bulk and stream.is_active(now) and (counts is None or counts(stream))
        )

    def before_step_s(self, job: JobState) -> float:
        """Compute that must be done before a job's first step, seconds."""
        return 0.0 if job.planned else self.costs[job.engine].plan_s

    def left_s(self, job: JobState) -> float:
        """Sound that a job will still give, seconds."""
        if job.cached_s is not None:
            return job.cached_s
        return UNKNOWN_S if job.frames_left is None else job.frames_left / self.engines[job.engine].frames_per_s

    def first_s(self, job: JobState) -> float:
        """Compute until a job gives its first sound, seconds."""
        return self.before_step_s(job) + self.costs[job.engine].step_s(self.first_frames(job))

    def work_s(self, job: JobState, now: float) -> float:
        """Compute of the next plan or step of a job, seconds."""
        costs = self.costs[job.engine]
        return costs.step_s(self.part(job, now).num_frames) if job.planned else costs.plan_s

    def under_load_s(self, job: JobState, took_s: float, num_frames: int) -> float:
        """Return the cost of a job's part in a step when there are many streams, seconds."""
        if self.engines[job.engine].max_batch == 1:
            return took_s
        return self.costs[job.engine].under_load(
            took_s, num_frames, budget_s=self.tuning.step_budget_s, least=self.first_frames(job)
        )

    def first_frames(self, job: JobState) -> int:
        """Frames of the first step of a stream."""
        return max(1, round(self.tuning.first_step_s * self.engines[job.engine].frames_per_s))

    def part(self, job: JobState, now: float, size: int = 1) -> StepShare:
        """Return the part of a job in the next step, as one of ``size`` jobs in it."""
        stream, costs, facts = self.streams[job.stream_id], self.costs[job.engine], self.engines[job.engine]
        num_frames = step_frames(stream, job, costs=costs, facts=facts, tuning=self.tuning, now=now)
        within_s = budget_s(stream, self.tuning, now)
        if size > 1:
            most = max(self.first_frames(job), costs.frames_within(within_s, size))
            num_frames = min(num_frames, fitted(most, job.frames_left))
        return StepShare(job.job_id, num_frames, within_s)

    def parts(self, job: JobState, others: list[JobState], now: float) -> list[StepShare]:
        """The step of a job and of those of some others, in their order, that go with it."""
        max_batch = self.engines[job.engine].max_batch
        size = min(max_batch, 1 + len(others))
        fitting = (self.part(other, now, size) for other in others)
        return company(self.part(job, now, size), fitting, costs=self.costs[job.engine], max_batch=max_batch)

    def snapshot(self, now: float, *, num_workers: int, num_workers_busy: int) -> Snapshot:
        """The state in numbers; looks at every stream."""
        states: dict[tuple[StreamClass, str], int] = {}
        depth = dict.fromkeys(StreamClass, 0)
        for stream in self.streams.values():
            key = (stream.terms.stream_class, _state_of(stream, now))
            states[key] = states.get(key, 0) + 1
            depth[stream.terms.stream_class] += not stream.admitted
        return Snapshot(
            streams=states,
            queue_depth=depth,
            num_workers=num_workers,
            num_workers_busy=num_workers_busy,
            throughput=self.tuning.throughput,
            demand=self.demand(now) / num_workers if num_workers else 0.0,
            backlog_s=sum(map(self._until_sound_s, self.streams.values())) / max(1, num_workers),
            busy_s=self.busy_s,
            rtf={name: costs.rtf for name, costs in self.costs.items()},
        )

    def _until_sound_s(self, stream: StreamState) -> float:
        """Compute until a stream that waits in silence has sound, seconds; 0 for others."""
        if stream.is_bulk or not stream.jobs:
            return 0.0
        head = self.jobs[stream.jobs[0]]
        return self.first_s(head) if stream.is_silent(head) and head.cached_s is None else 0.0


def _state_of(stream: StreamState, now: float) -> str:
    if not stream.admitted:
        return "waiting"
    if not stream.jobs:
        return "idle"
    if not stream.made_s:
        return "starting"
    return "held" if stream.held_until_s(now) > now else "speaking"
