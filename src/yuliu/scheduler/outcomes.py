"""What came of tasks, as the policy and those who watch are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.scheduler.policy.costs import EngineFacts
from yuliu.scheduler.policy.events import PlanFinished, StepFinished, StepPart

if TYPE_CHECKING:
    from yuliu.engines.api import Capabilities
    from yuliu.scheduler.lane import Made, Outcome
    from yuliu.scheduler.observer import Observer


def facts_of(found: Capabilities) -> EngineFacts:
    """What the policy knows of an engine."""
    frames_per_s = found.format.sample_rate / found.hop_samples
    return EngineFacts(frames_per_s, found.max_batch, context_frames=found.context_frames)


def event_of(outcome: Outcome) -> PlanFinished | StepFinished:
    """A task that was done."""
    lane, took_s = outcome.lane.name, outcome.took_s
    if outcome.task.num_frames is None:
        (made,) = outcome.made
        return PlanFinished(lane, made.work.job_id, made.utterance.num_frames, made.utterance.done, took_s)
    return StepFinished(lane, tuple(map(_part, outcome.made)), took_s)


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
