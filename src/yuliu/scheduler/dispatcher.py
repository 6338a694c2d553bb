"""What the policy says is done here: work goes to the workers, streams are told what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.errors import Overloaded, SynthesisFailed
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
)
from yuliu.scheduler.workers.thread import Task
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.engines.api import Capabilities
    from yuliu.scheduler.observer import Observer
    from yuliu.scheduler.policy.tuning import Tuning
    from yuliu.scheduler.stream_table import StreamTable
    from yuliu.scheduler.workers.pool import WorkerPool
    from yuliu.scheduler.workers.thread import Made, Outcome, Work


def facts_of(found: Capabilities) -> EngineFacts:
    """What the policy knows of an engine."""
    frames_per_s = found.format.sample_rate / found.hop_samples
    return EngineFacts(frames_per_s, found.max_batch, context_frames=found.context_frames)


def event_of(outcome: Outcome) -> PlanFinished | StepFinished:
    """A task that was done."""
    worker, took_s = outcome.worker.name, outcome.took_s
    if outcome.task.num_frames is None:
        (made,) = outcome.made
        return PlanFinished(worker, made.work.job_id, made.utterance.num_frames, made.utterance.done, took_s)
    return StepFinished(worker, tuple(map(_part, outcome.made)), took_s)


def observe(outcome: Outcome, observer: Observer) -> None:
    """Tell how long a task took, if it was done."""
    if outcome.error is not None:
        return
    engine, is_plan = outcome.task.kind
    if is_plan:
        front_end_s = outcome.made[0].utterance.front_end_s
        observer.planned(engine, outcome.took_s, front_end_s=front_end_s)
    else:
        audio_s = sum(made.audio_s for made in outcome.made)
        observer.step(engine, outcome.took_s, audio_s=audio_s, batch=len(outcome.made))


def _part(made: Made) -> StepPart:
    before = made.before.next_frame if made.before is not None else 0
    num_frames, done = made.utterance.next_frame - before, made.utterance.done
    return StepPart(made.work.job_id, num_frames, made.audio_s, done, made.work.heard_s(made.audio_s, done=done))


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Follows the policy's actions; guarded by the scheduler's lock."""

    streams: StreamTable
    workers: WorkerPool
    observer: Observer

    def follow(self, action: Action, tuning: Tuning, now: float) -> None:
        """Do one action.

        Args:
            action: What the policy says.
            tuning: What holds.
            now: Seconds, monotonic.
        """
        match action:
            case Step():
                works = tuple(self.streams.work(part.job_id) for part in action.parts)
                self._give(action.worker, works, tuple(part.num_frames for part in action.parts), now)
            case Plan():
                self._give(action.worker, (self.streams.work(action.job_id),), None, now)
            case Serve():
                self.streams.serve(self.streams.work(action.job_id), now)
            case Admit() | Reject() | Fail():
                self._decide(action, tuning)

    def _decide(self, action: Admit | Reject | Fail, tuning: Tuning) -> None:
        """Tell a stream what becomes of it."""
        if (stream := self.streams.get(action.stream_id)) is None:
            return
        match action:
            case Admit():
                self.observer.admission(stream.stream_class, "admitted")
                is_dialogue = stream.stream_class is StreamClass.INTERACTIVE
                stream.sink(Admitted(action.throughput, tuning.first_weight_scale if is_dialogue else 1.0))
            case Reject():
                self.observer.admission(stream.stream_class, "rejected", reason=action.reason)
                message = "more streams are being spoken than this machine can carry; try again later"
                self.streams.close_with(action.stream_id, Overloaded(message, retry_after_s=action.retry_after_s))
            case Fail():
                unknown = SynthesisFailed("the engine failed twice while speaking; see the log")
                self.streams.close_with(action.stream_id, stream.error or unknown)

    def _give(self, worker: str, works: tuple[Work, ...], num_frames: tuple[int, ...] | None, now: float) -> None:
        """Let a worker work; with a new instance of the engine if it is the very one that failed."""
        for work in works:
            if work.failed_on is not None:
                self.observer.retried(work.engine)
        self.workers.give(worker, Task(works, num_frames, any(work.failed_on == worker for work in works)), now)
