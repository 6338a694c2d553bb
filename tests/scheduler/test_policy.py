"""Who is served next, and how much: the policy on a virtual clock."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from yuliu.scheduler.policy import (
    FIRST_STEP_S,
    LAST_STEP,
    MAX_PLANNED,
    MAX_STEP_S,
    MAX_UNREAD_S,
    STEP_PER_LEAD,
    Action,
    LaneFreed,
    Plan,
    PlanFinished,
    Policy,
    SegmentReady,
    SoundTaken,
    Step,
    StepFinished,
    StreamClosed,
    StreamOpened,
)

FPS = 80.0


def opened(policy: Policy, *stream_ids: int, now: float = 0.0) -> None:
    for stream_id in stream_ids:
        assert policy.handle(StreamOpened(stream_id), now) == []


def test_a_segment_is_planned_then_rendered() -> None:
    """The first step is small, and the lane is free again when the utterance is done."""
    policy = Policy({"a": FPS})
    opened(policy, 1)
    assert policy.handle(SegmentReady(1, 10, "a"), 0.0) == [Plan("a", 10)]
    assert policy.handle(PlanFinished(10, 200, done=False), 0.01) == [Step("a", 10, round(FIRST_STEP_S * FPS))]
    assert policy.handle(StepFinished(10, 200, 2.5, done=True), 0.02) == []
    assert policy.num_jobs == 0


def test_a_newcomer_goes_before_those_who_have_sound() -> None:
    """A stream without sound is served before the next step of one that has sound to play."""
    policy = Policy({"a": FPS})
    opened(policy, 1, 2)
    policy.handle(SegmentReady(1, 10, "a"), 0.0)
    policy.handle(PlanFinished(10, 800, done=False), 0.0)
    assert policy.handle(SegmentReady(2, 20, "a"), 0.0) == []
    assert policy.handle(StepFinished(10, 20, 0.25, done=False), 0.01) == [Plan("a", 20)]
    assert policy.handle(PlanFinished(20, 800, done=False), 0.02) == [Step("a", 20, 20)]


def test_who_runs_dry_first_is_served_first() -> None:
    """Of two streams with sound the one with the smaller lead gets the lane."""
    policy = Policy({"a": FPS})
    opened(policy, 1, 2)
    policy.handle(SegmentReady(1, 10, "a"), 0.0)
    policy.handle(PlanFinished(10, 2000, done=False), 0.0)
    policy.handle(SegmentReady(2, 20, "a"), 0.0)
    assert policy.handle(StepFinished(10, 160, 2.0, done=False), 0.0) == [Plan("a", 20)]
    policy.handle(PlanFinished(20, 2000, done=False), 0.0)
    (action,) = policy.handle(StepFinished(20, 20, 0.25, done=False), 0.0)
    assert action.job_id == 20
    (action,) = policy.handle(StepFinished(20, 240, 3.0, done=False), 0.0)
    assert action.job_id == 10


def test_steps_grow_with_the_lead_and_are_bounded() -> None:
    """After a small first step they are as large as the lead allows, up to the largest step."""
    policy = Policy({"a": FPS})
    opened(policy, 1)
    policy.handle(SegmentReady(1, 10, "a"), 0.0)
    (action,) = policy.handle(PlanFinished(10, None, done=False), 0.0)
    sizes_s = []
    for _ in range(5):
        assert isinstance(action, Step)
        sizes_s.append(action.num_frames / FPS)
        policy.handle(SoundTaken(1, sizes_s[-1]), 0.0)
        (action,) = policy.handle(StepFinished(10, action.num_frames, sizes_s[-1], done=False), 0.0)
    assert sizes_s == pytest.approx([0.25, min(STEP_PER_LEAD * 0.25, MAX_STEP_S), *[MAX_STEP_S] * 3])


def test_a_listener_near_running_dry_gets_small_steps_again() -> None:
    """When the lead is gone a step is as small as the first one."""
    policy = Policy({"a": FPS})
    opened(policy, 1)
    policy.handle(SegmentReady(1, 10, "a"), 0.0)
    policy.handle(PlanFinished(10, None, done=False), 0.0)
    assert policy.handle(StepFinished(10, 20, 0.25, done=False), 0.1) == [Step("a", 10, 80)]
    assert policy.handle(StepFinished(10, 80, 1.0, done=False), 1.25) == [Step("a", 10, 32)]
    assert policy.handle(StepFinished(10, 32, 0.4, done=False), 5.0) == [Step("a", 10, 20)]


def test_a_short_rest_is_taken_whole() -> None:
    """No tiny last step: it would compute more context than sound."""
    policy = Policy({"a": FPS})
    opened(policy, 1)
    policy.handle(SegmentReady(1, 10, "a"), 0.0)
    assert policy.handle(PlanFinished(10, 27, done=False), 0.0) == [Step("a", 10, 27)]


def test_unread_sound_pauses_a_stream_and_nobody_else() -> None:
    """A stalled reader stops its own stream; reading again wakes it."""
    policy = Policy({"a": FPS})
    opened(policy, 1, 2)
    policy.handle(SegmentReady(1, 10, "a"), 0.0)
    policy.handle(PlanFinished(10, None, done=False), 0.0)
    assert policy.handle(StepFinished(10, 400, MAX_UNREAD_S + 1, done=False), 0.0) == []
    assert policy.handle(SegmentReady(2, 20, "a"), 0.0) == [Plan("a", 20)]
    assert policy.handle(PlanFinished(20, 100, done=False), 0.0) == [Step("a", 20, 20)]
    assert policy.handle(StepFinished(20, 100, 1.25, done=True), 0.0) == []
    (action,) = policy.handle(SoundTaken(1, 2.0), 0.0)
    assert (type(action), action.job_id) == (Step, 10)


def test_the_next_segment_is_planned_on_another_lane_meanwhile() -> None:
    """A language switch does not wait: the other engine plans while this one renders, and renders in its turn."""
    policy = Policy({"zh": FPS, "en": FPS})
    opened(policy, 1)
    assert policy.handle(SegmentReady(1, 10, "zh"), 0.0) == [Plan("zh", 10)]
    assert policy.handle(SegmentReady(1, 11, "en"), 0.0) == [Plan("en", 11)]
    assert policy.handle(PlanFinished(11, 20, done=False), 0.0) == []
    assert policy.handle(PlanFinished(10, 20, done=False), 0.0) == [Step("zh", 10, 20)]
    assert policy.handle(StepFinished(10, 20, 0.25, done=True), 0.0) == [Step("en", 11, 20)]


def test_a_closed_stream_is_forgotten_at_once() -> None:
    """What is under way is let finish; nothing more of the stream is done."""
    policy = Policy({"a": FPS})
    opened(policy, 1)
    policy.handle(SegmentReady(1, 10, "a"), 0.0)
    policy.handle(SegmentReady(1, 11, "a"), 0.0)
    assert policy.handle(StreamClosed(1), 0.0) == []
    assert policy.handle(LaneFreed("a"), 0.0) == []
    assert (policy.num_streams, policy.num_jobs) == (0, 0)


@dataclass
class ListeningStream:
    """The model's view of a stream: what it asked for and what it got."""

    jobs: list[int] = field(default_factory=list)
    made_s: float = 0.0
    taken_s: float = 0.0


class PolicyMachine(RuleBasedStateMachine):
    """Any order of events: rules of the policy hold after each."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = Policy({"a": FPS, "b": FPS})
        self.now = 0.0
        self.ids = itertools.count(1)
        self.streams: dict[int, ListeningStream] = {}
        self.lane_of: dict[int, str] = {}
        self.frames_left: dict[int, int] = {}
        self.busy: dict[str, Action] = {}
        self.owner: dict[int, int] = {}

    def take(self, actions: list[Action]) -> None:
        for action in actions:
            assert action.lane not in self.busy, "a lane does one thing at a time"
            assert self.lane_of[action.job_id] == action.lane
            stream = self.streams[self.owner[action.job_id]]
            assert stream.jobs.index(action.job_id) < MAX_PLANNED
            if isinstance(action, Step):
                assert stream.jobs[0] == action.job_id, "segments are rendered in order"
                assert 1 <= action.num_frames <= LAST_STEP * MAX_STEP_S * FPS
                assert stream.made_s - stream.taken_s <= MAX_UNREAD_S
            else:
                assert action.job_id not in self.frames_left, "a segment is planned once"
            self.busy[action.lane] = action

    @rule()
    def open_stream(self) -> None:
        stream_id = next(self.ids)
        self.streams[stream_id] = ListeningStream()
        self.take(self.policy.handle(StreamOpened(stream_id), self.now))

    @precondition(lambda self: self.streams)
    @rule(data=st.data(), lane=st.sampled_from(["a", "b"]))
    def add_segment(self, data: st.DataObject, lane: str) -> None:
        stream_id = data.draw(st.sampled_from(sorted(self.streams)))
        job_id = next(self.ids)
        self.streams[stream_id].jobs.append(job_id)
        self.owner[job_id], self.lane_of[job_id] = stream_id, lane
        self.take(self.policy.handle(SegmentReady(stream_id, job_id, lane), self.now))

    @precondition(lambda self: self.busy)
    @rule(data=st.data(), frames=st.integers(0, 300), seconds=st.floats(0, 0.2))
    def finish_work(self, data: st.DataObject, frames: int, seconds: float) -> None:
        action = self.busy.pop(data.draw(st.sampled_from(sorted(self.busy))))
        self.now += seconds
        if action.job_id not in self.owner:
            self.take(self.policy.handle(LaneFreed(action.lane), self.now))
        elif isinstance(action, Plan):
            self.frames_left[action.job_id] = frames
            self.retire(action.job_id, frames == 0)
            self.take(self.policy.handle(PlanFinished(action.job_id, frames, done=frames == 0), self.now))
        else:
            self.finish_step(action)

    def finish_step(self, action: Step) -> None:
        num = min(action.num_frames, self.frames_left[action.job_id])
        self.frames_left[action.job_id] -= num
        self.streams[self.owner[action.job_id]].made_s += num / FPS
        done = self.frames_left[action.job_id] == 0
        self.retire(action.job_id, done)
        self.take(self.policy.handle(StepFinished(action.job_id, num, num / FPS, done=done), self.now))

    def retire(self, job_id: int, done: bool) -> None:
        if done:
            self.streams[self.owner.pop(job_id)].jobs.remove(job_id)

    @precondition(lambda self: self.streams)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        stream_id = data.draw(st.sampled_from(sorted(self.streams)))
        stream = self.streams[stream_id]
        audio_s, stream.taken_s = stream.made_s - stream.taken_s, stream.made_s
        self.take(self.policy.handle(SoundTaken(stream_id, audio_s), self.now))

    @precondition(lambda self: self.streams)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        stream_id = data.draw(st.sampled_from(sorted(self.streams)))
        for job_id in self.streams.pop(stream_id).jobs:
            del self.owner[job_id]
        self.take(self.policy.handle(StreamClosed(stream_id), self.now))

    @invariant()
    def no_lane_idles_while_it_could_work(self) -> None:
        for stream in self.streams.values():
            if stream.made_s - stream.taken_s <= MAX_UNREAD_S and stream.jobs:
                head = stream.jobs[0]
                assert self.lane_of[head] in self.busy, "the head of a stream waits only for a busy lane"

    @invariant()
    def nothing_is_kept_of_what_is_over(self) -> None:
        assert self.policy.num_streams == len(self.streams)
        assert self.policy.num_jobs == sum(len(stream.jobs) for stream in self.streams.values())


TestPolicy = PolicyMachine.TestCase
