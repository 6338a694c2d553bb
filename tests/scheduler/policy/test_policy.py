"""The rules of the policy by example, on a virtual clock: the order of work and its size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from yuliu.scheduler.policy.admission import BULK_PER_SLOT, MAX_RETRY_S, MIN_RETRY_S
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
    StepOrder,
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
from yuliu.scheduler.policy.policy import RECHECK_S, Policy
from yuliu.scheduler.policy.run_queue import AGEING_S, GUARD_S, PATIENCE_S
from yuliu.scheduler.policy.state import FRESH_S, MAX_PACE, MAX_UNREAD_S, NOTHING_S
from yuliu.scheduler.policy.tuning import ClassRules, Tuning
from yuliu.scheduler.policy.workers import MOMENT_S, RESERVE_S
from yuliu.types import StreamClass

FPS = 80.0
CHEAP = EngineFacts(FPS, rtf=0.01)
INTERACTIVE, STANDARD, BULK = (Terms(stream_class) for stream_class in StreamClass)


class PolicyDriver:
    """A policy with its clock."""

    def __init__(
        self, num_workers: int = 1, tuning: Tuning | None = None, facts: EngineFacts = CHEAP, **engines: EngineFacts
    ) -> None:
        self.policy = Policy(engines or {"a": facts, "b": facts}, tuning)
        self.now = 0.0
        for number in range(num_workers):
            assert self.report(WorkerUp(f"worker-{number}")) == []

    def report(self, *events: Event, at: float | None = None) -> list[Action]:
        self.now = self.now if at is None else at
        return [action for event in events for action in self.policy.handle(event, self.now)]

    def open(self, *stream_ids: int, terms: Terms = STANDARD) -> None:
        for stream_id in stream_ids:
            assert self.report(StreamOpened(stream_id, ("a",), terms)) == [Admit(stream_id)]

    def text(self, stream_id: int, job_id: int, engine: str = "a") -> list[Action]:
        return self.report(SegmentReady(stream_id, job_id, engine))

    def planned(self, job_id: int, num_frames: int | None = 8000, worker: str = "worker-0") -> list[Action]:
        return self.report(PlanFinished(worker, job_id, num_frames, done=False))

    def stepped(self, job_id: int, audio_s: float, *, done: bool = False, worker: str = "worker-0") -> list[Action]:
        """Report a step that took as long as the policy estimates."""
        facts = next(iter(self.policy._estimates.engines.values()))
        part = StepPart(job_id, round(audio_s * FPS), audio_s, done)
        return self.report(StepFinished(worker, (part,), took_s=facts.rtf * audio_s))

    def speaking(self, stream_id: int, job_id: int, audio_s: float) -> list[Action]:
        """Open a stream with one long segment, and report one step of it with all its audio handed out."""
        if stream_id not in self.policy._streams:
            self.open(stream_id)
        actions = self.text(stream_id, job_id)
        assert actions == [Plan("worker-0", job_id)]
        assert only_step(self.planned(job_id)).parts[0].job_id == job_id
        self.report(SoundTaken(stream_id, audio_s))
        return self.stepped(job_id, audio_s)


def only_step(actions: list[Action]) -> Step:
    (action,) = actions
    assert isinstance(action, Step)
    return action


def chosen(actions: list[Action]) -> list[int]:
    """Return the jobs that were given a worker."""
    return [
        job_id
        for action in actions
        if isinstance(action, Plan | Step)
        for job_id in ([action.job_id] if isinstance(action, Plan) else [part.job_id for part in action.parts])
    ]


# One stream.


def test_a_segment_is_planned_then_rendered() -> None:
    """The first step is small, and nothing is left when the utterance is done."""
    driver = PolicyDriver()
    driver.open(1)
    assert driver.text(1, 10) == [Plan("worker-0", 10)]
    assert driver.planned(10, 200) == [Step("worker-0", (StepOrder(10, 16),))]
    assert driver.stepped(10, 2.5, done=True) == []
    assert (driver.policy.num_jobs, driver.policy.num_streams) == (0, 1)


def test_a_segment_without_audio_is_done_when_planned() -> None:
    """The next segment follows at once."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    driver.text(1, 11)
    assert driver.report(PlanFinished("worker-0", 10, 0, done=True)) == [Plan("worker-0", 11)]


def test_the_lead_counts_only_released_audio() -> None:
    """Audio held back by effects does not count: the stream counts as silent and gets its next step at once."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    driver.planned(10)
    held = StepPart(10, 16, 0.2, done=False, heard_s=0.0)
    (again,) = driver.report(StepFinished("worker-0", (held,), took_s=0.02))
    assert isinstance(again, Step)
    stream = driver.policy._streams[1]
    assert (stream.made_s, stream.lead_s(driver.now)) == (0.0, 0.0)
    driver.report(StepFinished("worker-0", (StepPart(10, 16, 0.2, done=True, heard_s=0.1),), took_s=0.02))
    assert stream.made_s == 0.1


def test_steps_grow_with_the_lead() -> None:
    """Steps are 0.2, 0.4, 0.8 s: at most twice the last step and at most twice the lead."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    sizes_s, actions = [], driver.planned(10)
    for _ in range(4):
        sizes_s.append(only_step(actions).parts[0].num_frames / FPS)
        driver.report(SoundTaken(1, sizes_s[-1]))
        actions = driver.stepped(10, sizes_s[-1])
    assert sizes_s == pytest.approx([0.2, 0.4, 0.8, 1.6])


def test_segments_are_rendered_in_order_and_planned_ahead() -> None:
    """While the first one is rendered, another worker plans one more, but not a third."""
    driver = PolicyDriver(num_workers=3)
    driver.open(1)
    assert driver.text(1, 10) == [Plan("worker-0", 10)]
    assert driver.text(1, 11, "b") == [Plan("worker-1", 11)]
    assert driver.text(1, 12) == []
    assert driver.planned(11, 20, "worker-1") == []
    assert chosen(driver.planned(10, 20)) == [10]
    assert chosen(driver.stepped(10, 0.25, done=True)) == [11, 12]


def test_the_next_segment_is_planned_before_others_run_dry_for_it() -> None:
    """Its deadline is that of its stream plus the audio due before it."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.speaking(1, 10, 0.3)  # 100 s are planned and not rendered yet
    driver.text(1, 11)
    driver.text(2, 20)
    assert chosen(driver.stepped(10, 0.4)) == [20]  # the new stream
    driver.planned(20)
    assert chosen(driver.stepped(20, 3.0)) == [10]  # 0.7 s ahead, before 20 with 3 s
    assert chosen(driver.stepped(10, 4.0)) == [20]
    driver.report(SoundTaken(2, 5.0))
    assert chosen(driver.stepped(20, 2.0)) == [20]  # 10 is held, since it is not read; the plan of 11 can wait


def test_no_audio_is_made_beyond_the_maximum_lead() -> None:
    """A stream with enough ahead gets no step until its listener has played some; its next segment is planned."""
    driver = PolicyDriver()
    driver.open(1, terms=replace(STANDARD, max_lead_s=3.0))
    driver.speaking(1, 10, 2.0)
    driver.text(1, 11)
    driver.report(SoundTaken(1, 2.0))
    assert driver.stepped(10, 2.0) == [Plan("worker-0", 11)]
    assert driver.planned(11) == []
    assert driver.policy.next_wake(driver.now) == pytest.approx(1.0)
    assert driver.report(Ticked(), at=0.99) == []
    assert chosen(driver.report(Ticked(), at=1.0)) == [10]


def test_a_reported_position_overrides_the_clock() -> None:
    """A client that reports position 0 still has all its audio ahead."""
    driver = PolicyDriver()
    driver.open(1, terms=replace(STANDARD, max_lead_s=3.0))
    driver.speaking(1, 10, 2.0)
    driver.report(SoundTaken(1, 2.0))
    assert driver.stepped(10, 2.0) == []
    assert driver.report(PlayedTo(1, 0.0), at=2.0) == []
    assert driver.policy.next_wake(driver.now) == pytest.approx(3.0)
    assert chosen(driver.report(PlayedTo(1, 1.5), at=2.5)) == [10]


@pytest.mark.parametrize("position_s", [-5.0, 1000.0])
def test_an_impossible_position_is_clamped(position_s: float) -> None:
    """The position is negative or beyond the audio made."""
    driver = PolicyDriver()
    driver.open(1, terms=replace(STANDARD, max_lead_s=3.0))
    driver.speaking(1, 10, 2.0)
    driver.report(SoundTaken(1, 2.0))
    driver.stepped(10, 2.0)
    driver.report(PlayedTo(1, position_s))
    stream = driver.policy._streams[1]
    assert 0.0 <= stream.lead_s(driver.now) <= stream.made_s


def test_an_exaggerated_position_gains_no_priority() -> None:
    """Playback is hardly faster than real time: the deadline stays close to that of the clock."""
    driver = PolicyDriver()
    driver.speaking(1, 10, 0.5)
    made_s = 0.5
    while made_s < 20.0:
        driver.report(SoundTaken(1, 1.0), PlayedTo(1, made_s))
        driver.stepped(10, 1.0)
        made_s += 1.0
    driver.report(SoundTaken(1, 1.0), PlayedTo(1, made_s))
    stream = driver.policy._streams[1]
    assert stream.lead_s(driver.now) == pytest.approx(made_s / MAX_PACE)
    driver.open(2)
    driver.text(2, 20)
    assert chosen(driver.stepped(10, 1.0)) == [20]


def test_a_slightly_fast_playback_clock_is_accepted() -> None:
    """Clocks of players differ; the reported position counts."""
    driver = PolicyDriver()
    driver.open(1, terms=replace(STANDARD, max_lead_s=10.0))
    driver.speaking(1, 10, 10.0)
    driver.report(PlayedTo(1, 8.2), at=8.0)
    assert driver.policy._streams[1].lead_s(driver.now) == pytest.approx(10.0 - 8.2)


def test_unread_audio_pauses_only_its_own_stream() -> None:
    """A stalled reader pauses its own stream; reading resumes it."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.text(1, 10)
    driver.planned(10, None)
    assert driver.stepped(10, MAX_UNREAD_S + 1) == []
    assert driver.policy.next_wake(driver.now) is None
    assert driver.text(2, 20) == [Plan("worker-0", 20)]
    assert chosen(driver.planned(20, 100)) == [20]
    assert driver.stepped(20, 1.25, done=True) == []
    assert chosen(driver.report(SoundTaken(1, 2.0))) == [10]


def test_a_stream_that_is_not_read_is_not_urgent() -> None:
    """Its listener must receive the unread audio before it can run dry: others go first."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.text(1, 10)
    driver.planned(10, None)
    driver.now = 0.0
    driver.stepped(10, 2.0)  # not read
    driver.now = 1.9
    driver.text(2, 20)
    assert chosen(driver.stepped(10, 0.5)) == [20]
    driver.report(SoundTaken(2, 1.0))
    driver.planned(20)
    assert chosen(driver.stepped(20, 1.0)) == [20]


def test_cached_audio_is_served_in_order() -> None:
    """It waits for the segments before it, and needs no worker."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    assert driver.report(SegmentReady(1, 11, "a", cached_s=1.0)) == []
    driver.planned(10, 20)
    assert driver.stepped(10, 0.25, done=True) == [Serve(11)]
    assert driver.report(SegmentReady(1, 12, "a", cached_s=1.0)) == [Serve(12)]
    assert driver.policy.num_jobs == 0


def test_cached_audio_respects_the_lead_and_the_reader() -> None:
    """The cache fills no buffer that is not read, and does not run ahead of playback."""
    driver = PolicyDriver()
    driver.open(1, terms=replace(STANDARD, max_lead_s=2.0))
    assert driver.report(SegmentReady(1, 10, "a", cached_s=3.0)) == [Serve(10)]
    assert driver.report(SegmentReady(1, 11, "a", cached_s=3.0)) == []
    assert driver.report(SoundTaken(1, 3.0)) == []
    assert driver.policy.next_wake(driver.now) == pytest.approx(1.0)
    assert driver.report(Ticked(), at=1.0) == [Serve(11)]


def test_an_empty_step_is_not_repeated_at_once() -> None:
    """Audio from a remote source does not come sooner for polling; meanwhile others get the worker."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    driver.planned(10, None)
    assert driver.stepped(10, 0.0) == []
    assert driver.policy.next_wake(driver.now) == pytest.approx(NOTHING_S)
    assert chosen(driver.report(Ticked(), at=NOTHING_S)) == [10]
    assert driver.report(StepFinished("worker-0", (StepPart(10, 0, 0.0, False),), took_s=0.05)) == []
    assert driver.policy.next_wake(driver.now) == pytest.approx(NOTHING_S + 0.05)


# Several streams.


def test_a_new_stream_goes_before_streams_that_can_wait() -> None:
    """It is served before the next step of a stream that has audio to play."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.speaking(1, 10, 0.5)
    assert driver.text(2, 20) == []
    assert driver.stepped(10, 0.5) == [Plan("worker-0", 20)]
    assert chosen(driver.planned(20)) == [20]


def test_a_new_stream_does_not_make_a_listener_run_dry() -> None:
    """A listener with less audio left than the first audio of the new stream costs goes first."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.speaking(1, 10, 0.01 + GUARD_S / 2)
    driver.text(2, 20)
    assert chosen(driver.stepped(10, 0.0001)) == [10]


def test_slack_of_several_listeners_is_computed_together() -> None:
    """Five with 0.12 s left need five steps: the new stream must wait, although each one alone could."""

    def served(num_listeners: int) -> list[int]:
        driver = PolicyDriver(num_workers=num_listeners)
        driver.open(*range(num_listeners))
        for number in range(num_listeners):
            driver.text(number, number)
        driver.report(Tuned(Tuning(num_workers=1)))
        for number in range(num_listeners):
            driver.planned(number, worker=f"worker-{number}")
        ((busy,),) = driver.policy._workers.tasks("worker-0")
        for number in range(num_listeners):
            driver.policy._streams[number].make(0.12, driver.now)
            driver.report(SoundTaken(number, 0.12))
        driver.open(99)
        driver.text(99, 990)
        return chosen(driver.stepped(busy, 0.2))

    assert served(1) == [990]
    assert served(6) != [990]


def test_a_new_stream_is_not_delayed_forever() -> None:
    """After a maximum delay its deadline counts, even if a listener runs dry."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.speaking(1, 10, 0.02)
    driver.text(2, 20)
    actions: list[Action] = []
    for number in range(1, 1000):
        driver.now = 0.01 * number
        driver.report(SoundTaken(1, 0.01))
        actions = driver.stepped(10, 0.01)
        if chosen(actions) == [20]:
            break
    target_s = Tuning().classes[StreamClass.STANDARD].ttfp_target_s
    assert driver.now == pytest.approx(target_s + PATIENCE_S, abs=0.03)


def test_the_stream_that_runs_dry_first_is_served_first() -> None:
    """Of two streams with audio the one with less left gets the worker."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.speaking(1, 10, 2.0)
    driver.text(2, 20)
    driver.stepped(10, 0.01)
    driver.planned(20)
    driver.report(SoundTaken(2, 0.25))
    assert chosen(driver.stepped(20, 0.25)) == [20]
    assert chosen(driver.stepped(20, 3.0)) == [10]


def test_ties_go_to_the_higher_class_then_weight_then_longest_wait() -> None:
    """All of them run dry at the same moment."""
    terms = [STANDARD, replace(STANDARD, weight=2.0), INTERACTIVE, replace(INTERACTIVE, weight=2.0)]
    driver = PolicyDriver(tuning=Tuning(num_workers=0))
    for number, each in enumerate(terms):
        driver.report(StreamOpened(number, ("a",), replace(each, ttfp_target_s=each.weight)))
    driver.report(Tuned(Tuning()))
    for number in range(4):
        driver.report(SegmentReady(number, number, "a"))
    order = [driver.policy._workers.tasks("worker-0")[0][0]]
    for _ in range(3):
        driver.report(StreamClosed(order[-1]))
        order.append(chosen(driver.planned(order[-1]))[0])
    assert order == [0, 3, 2, 1]  # the first one was already under way


def test_the_target_of_a_stream_overrides_that_of_its_class() -> None:
    """A new interactive stream overtakes a slightly earlier standard one that has no shorter target of its own."""
    for terms, expected in ((STANDARD, 30), (replace(STANDARD, ttfp_target_s=0.01), 20)):
        driver = PolicyDriver()
        driver.open(1)
        driver.open(2, terms=terms)
        driver.open(3, terms=INTERACTIVE)
        driver.text(1, 10)
        driver.text(2, 20)
        driver.now = 0.02
        driver.text(3, 30)
        assert chosen(driver.planned(10)) in ([10], [expected])
        order = [driver.policy._workers.tasks("worker-0")[0][0]]
        if order == [10]:
            order = chosen(driver.stepped(10, 5.0))
        assert order == [expected]


def test_a_gap_in_the_text_is_not_an_underrun() -> None:
    """A stream that ran dry for lack of text counts as new again, behind one about to run dry for lack of a worker."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.speaking(1, 10, 0.5)
    driver.stepped(10, 0.5, done=True)
    driver.now = 5.0
    driver.speaking(2, 20, 0.03)
    driver.text(1, 11)
    assert chosen(driver.stepped(20, 0.01)) == [20]
    assert chosen(driver.stepped(20, 2.0)) == [11]


# Bulk work.


def test_bulk_work_takes_idle_capacity() -> None:
    """It is served only when no other work is ready."""
    driver = PolicyDriver()
    driver.open(1, terms=BULK)
    driver.open(2)
    driver.text(1, 10)
    driver.planned(10)
    driver.text(2, 20)
    assert chosen(driver.stepped(10, 1.0)) == [20]
    assert chosen(driver.planned(20, 100)) == [20]
    assert chosen(driver.stepped(20, 0.5)) == [20]
    assert chosen(driver.stepped(20, 0.75, done=True)) == [10]


def test_bulk_work_is_never_starved() -> None:
    """After a while it gets one step, then the others continue."""
    driver = PolicyDriver()
    driver.open(1, terms=BULK)
    driver.open(2)
    driver.text(1, 10)
    driver.planned(10)
    driver.text(2, 20)
    driver.stepped(10, 1.0)
    driver.planned(20)
    served_at_s = []
    for number in range(1, 1500):
        driver.now = 0.01 * number
        busy = driver.policy._workers.tasks("worker-0")[0][0]
        driver.report(SoundTaken(busy // 10, 0.01))
        if chosen(driver.stepped(busy, 0.01)) == [10]:
            served_at_s.append(driver.now)
    assert served_at_s == pytest.approx([AGEING_S, 2 * AGEING_S], abs=0.05)


def test_bulk_work_leaves_reserved_workers_free() -> None:
    """It takes them a second after the last of the other streams has closed."""
    driver = PolicyDriver(num_workers=3, facts=EngineFacts(FPS, rtf=0.05))
    driver.open(9)
    driver.open(1, 2, 3, terms=BULK)
    assert [chosen(driver.text(number, 10 * number)) for number in (1, 2, 3)] == [[10], [20], []]
    assert chosen(driver.text(9, 90)) == [90]
    driver.report(StreamClosed(9))
    driver.report(PlanFinished("worker-2", 90, 10, done=False))
    assert driver.policy.next_wake(driver.now) == pytest.approx(RESERVE_S)
    assert chosen(driver.report(Ticked(), at=RESERVE_S)) == [30]


def test_bulk_work_takes_reserved_workers_briefly() -> None:
    """Work that is short enough to go unnoticed runs there too; longer work has to wait."""
    driver = PolicyDriver(num_workers=2)
    driver.open(9)
    driver.open(1, 2, terms=BULK)
    assert CHEAP.rtf / 2 < MOMENT_S < CHEAP.rtf * 3 / 2  # estimate: a plan takes a quarter of the time of 2 s of audio
    assert [chosen(driver.text(number, 10 * number)) for number in (1, 2)] == [[10], [20]]
    assert chosen(driver.planned(10, worker="worker-0")) == [10]  # a step of two seconds takes longer than a moment
    assert chosen(driver.planned(20, worker="worker-1")) == []
    assert chosen(driver.stepped(10, 2.0)) == [20]


def test_bulk_work_takes_the_only_worker_when_idle() -> None:
    """One worker is always left to it, however large the reserve."""
    driver = PolicyDriver(tuning=Tuning(reserved_workers=5))
    driver.open(9)
    driver.open(1, terms=BULK)
    assert chosen(driver.text(1, 10)) == [10]


def test_bulk_streams_share_by_weight() -> None:
    """The compute time is shared, and a later stream does not catch up."""
    driver = PolicyDriver()
    driver.open(1, terms=BULK)
    driver.open(2, terms=replace(BULK, weight=3.0))

    def run(num_steps: int) -> dict[int, int]:
        counts = {10: 0, 20: 0}
        for _ in range(num_steps):
            ((job_id,),) = driver.policy._workers.tasks("worker-0")
            counts[job_id] += 1
            stream_id = job_id // 10
            driver.report(SoundTaken(stream_id, 0.1))
            driver.report(StepFinished("worker-0", (StepPart(job_id, 8, 0.1, False),), took_s=0.01))
        return counts

    driver.text(1, 10)
    driver.planned(10, None)
    assert run(100) == {10: 100, 20: 0}
    driver.text(2, 20)
    driver.report(StepFinished("worker-0", (StepPart(10, 8, 0.1, False),), took_s=0.01))
    driver.planned(20, None)
    counts = run(400)
    assert counts[20] == pytest.approx(3 * counts[10], rel=0.1)


# Workers and failures.


def test_failed_work_is_repeated_once_on_another_worker() -> None:
    """A second failure fails the stream, and it is forgotten."""
    driver = PolicyDriver(num_workers=2)
    driver.open(1)
    driver.text(1, 10)
    assert driver.report(WorkFailed("worker-0", (10,))) == [Plan("worker-1", 10)]
    assert driver.report(WorkFailed("worker-1", (10,))) == [Fail(1, 10)]
    assert (driver.policy.num_streams, driver.policy.num_jobs) == (0, 0)


def test_a_retry_waits_for_another_worker() -> None:
    """The worker where it failed gets other work."""
    driver = PolicyDriver(num_workers=2)
    driver.open(1, 2, 3)
    driver.text(1, 10)
    driver.text(2, 20)
    driver.text(3, 30)
    assert driver.report(WorkFailed("worker-0", (10,))) == [Plan("worker-0", 30)]
    assert chosen(driver.report(PlanFinished("worker-1", 20, 100, done=False))) == [10]


def test_the_only_worker_repeats_failed_work() -> None:
    """No other worker exists; it has a new engine by then."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    assert driver.report(WorkFailed("worker-0", (10,))) == [Plan("worker-0", 10)]


def test_a_success_clears_a_failure() -> None:
    """Only consecutive failures count."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    driver.report(WorkFailed("worker-0", (10,)))
    driver.planned(10)
    assert chosen(driver.report(WorkFailed("worker-0", (10,)))) == [10]
    driver.stepped(10, 0.2)
    assert chosen(driver.report(WorkFailed("worker-0", (10,)))) == [10]


def test_unrepeatable_work_fails_at_once() -> None:
    """The worker reports that it cannot be repeated."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    assert driver.report(WorkFailed("worker-0", (10,), final_ids=(10,))) == [Fail(1, 10)]


def test_a_lost_worker_counts_as_a_failure_of_its_work() -> None:
    """Another worker repeats it; a late result is ignored."""
    driver = PolicyDriver(num_workers=2)
    driver.open(1)
    driver.text(1, 10)
    assert driver.report(WorkerLost("worker-0")) == [Plan("worker-1", 10)]
    assert driver.planned(10, worker="worker-0") == []
    assert driver.policy.snapshot(driver.now).num_workers == 1
    assert chosen(driver.planned(10, worker="worker-1")) == [10]


def test_without_workers_work_waits_for_a_new_one() -> None:
    """Nothing is lost meanwhile."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    assert driver.report(WorkerLost("worker-0")) == []
    assert driver.report(WorkerUp("worker-1")) == [Plan("worker-1", 10)]


def test_a_worker_that_reports_twice_gets_no_more_work() -> None:
    """It is still busy."""
    driver = PolicyDriver()
    driver.open(1, 2)
    driver.text(1, 10)
    assert driver.text(2, 20) == []
    assert driver.report(WorkerUp("worker-0")) == []


def test_a_closed_stream_is_forgotten_at_once() -> None:
    """Work under way may finish; no further work of the stream starts."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    driver.text(1, 11)
    assert driver.report(StreamClosed(1), StreamClosed(1)) == []
    assert driver.planned(10) == []
    assert driver.report(SegmentReady(1, 12, "a"), TextEnded(1), SoundTaken(1, 1.0), PlayedTo(1, 1.0)) == []
    assert (driver.policy.num_streams, driver.policy.num_jobs) == (0, 0)
    assert driver.policy.next_wake(driver.now) is None


def test_tuning_takes_effect_at_once() -> None:
    """The number of workers and the size of steps change."""
    driver = PolicyDriver(num_workers=2, tuning=Tuning(num_workers=1))
    driver.open(1, 2)
    assert chosen(driver.text(1, 10) + driver.text(2, 20)) == [10]
    assert driver.report(Tuned(Tuning(num_workers=2, first_step_s=0.5))) == [Plan("worker-1", 20)]
    assert only_step(driver.planned(20, worker="worker-1")).parts[0].num_frames == 40


# Admission.


def slow(rtf: float) -> EngineFacts:
    return EngineFacts(FPS, rtf=rtf)


def request_admission(
    driver: PolicyDriver, stream_id: int, terms: Terms = STANDARD, at: float | None = None
) -> list[Action]:
    return driver.report(StreamOpened(stream_id, ("a",), terms), at=at)


def test_admitted_streams_fit_the_capacity_of_the_workers() -> None:
    """An RTF of 0.3 on one worker used to 85 % admits two; the third follows when one has ended."""
    driver = PolicyDriver(facts=slow(0.3))
    driver.open(1, 2)
    assert request_admission(driver, 3) == []
    assert driver.report(StreamClosed(1)) == [Admit(3)]


def test_more_workers_admit_more_streams() -> None:
    """A new worker admits waiting streams."""
    driver = PolicyDriver(facts=slow(0.3))
    driver.open(1, 2)
    assert request_admission(driver, 3) + request_admission(driver, 4) == []
    assert driver.report(WorkerUp("worker-9")) == [Admit(3), Admit(4)]


def test_a_stream_alone_is_admitted_with_any_engine() -> None:
    """Otherwise a slow engine would never be used; the next stream waits."""
    driver = PolicyDriver(facts=slow(1.5))
    driver.open(1)
    assert request_admission(driver, 2) == []


def test_no_stream_is_admitted_without_a_worker() -> None:
    """The first worker admits the waiting stream."""
    driver = PolicyDriver(num_workers=0)
    assert request_admission(driver, 1) == []
    assert driver.report(WorkerUp("worker-0")) == [Admit(1)]


def test_a_stream_without_further_need_makes_room() -> None:
    """It is complete but still playing, or has had no text for a while."""
    driver = PolicyDriver(facts=slow(0.6))
    driver.speaking(1, 10, 1.0)
    driver.report(TextEnded(1))
    assert request_admission(driver, 2) == []
    assert driver.stepped(10, 20.0, done=True) == [Admit(2)]
    assert request_admission(driver, 3) == []
    assert driver.report(Ticked(), at=driver.now + FRESH_S - 0.01) == []
    assert driver.report(Ticked(), at=driver.now + 0.01) == [Admit(3)]


@pytest.mark.parametrize("max_lead_s", [None, 1.0])
def test_stalled_readers_do_not_block_admission(max_lead_s: float | None) -> None:
    """A stream that waits for its reader long after its listener could have run dry needs no share of the workers."""
    driver = PolicyDriver(
        facts=slow(0.6), tuning=Tuning(classes=dict.fromkeys(StreamClass, ClassRules(0.2, 10, 100.0)))
    )
    driver.open(1, terms=replace(STANDARD, max_lead_s=max_lead_s))
    driver.text(1, 10)
    driver.planned(10)
    driver.stepped(10, MAX_UNREAD_S + 1)
    assert request_admission(driver, 2) == []
    dry_at_s = driver.now + MAX_UNREAD_S + 1
    assert driver.report(Ticked(), at=dry_at_s + FRESH_S - 0.01) == []
    assert driver.report(Ticked(), at=dry_at_s + FRESH_S + RECHECK_S) == [Admit(2)]
    again = driver.report(SoundTaken(1, MAX_UNREAD_S + 1)) + driver.report(Ticked(), at=driver.now + MAX_UNREAD_S + 1)
    assert chosen(again) == [10], "it goes on when it is read"


def test_a_stream_counts_from_admission_until_its_text_arrives() -> None:
    """The time of its request does not matter: the next stream must not take its place meanwhile."""
    driver = PolicyDriver(
        facts=slow(0.6), tuning=Tuning(classes=dict.fromkeys(StreamClass, ClassRules(0.2, 10, 100.0)))
    )
    driver.speaking(1, 10, 1.0)
    assert request_admission(driver, 2) + request_admission(driver, 3) == []
    assert Admit(2) in driver.report(StreamClosed(1), at=driver.now + 3 * FRESH_S)
    assert driver.report(Ticked(), at=driver.now + FRESH_S - 0.01) == []


def test_room_that_appears_over_time_is_used() -> None:
    """A wake-up is requested while any stream waits."""
    driver = PolicyDriver(
        facts=slow(0.6), tuning=Tuning(classes=dict.fromkeys(StreamClass, ClassRules(0.2, 10, 100.0)))
    )
    driver.open(1)
    assert request_admission(driver, 2) == []
    while not (actions := driver.report(Ticked(), at=driver.policy.next_wake(driver.now))):
        assert driver.now < 10
    assert actions == [Admit(2)]
    assert driver.now == pytest.approx(FRESH_S, abs=RECHECK_S)


def test_the_measured_cost_of_a_stream_overrides_that_of_its_engines() -> None:
    """The voice has a slow and a fast engine, and the stream uses only the fast one."""
    driver = PolicyDriver(a=slow(0.4), b=slow(0.01))
    assert driver.report(StreamOpened(1, ("a", "b"))) == [Admit(1)]
    assert driver.report(StreamOpened(2, ("a", "b"))) == [Admit(2)]
    assert driver.report(StreamOpened(3, ("a", "b"))) == []
    for stream_id in (1, 2):
        driver.report(SegmentReady(stream_id, stream_id, "b"))
        driver.planned(stream_id)
        for number in range(8):
            driver.report(SoundTaken(stream_id, 1.0))
            driver.report(
                StepFinished("worker-0", (StepPart(stream_id, 80, 1.0, (stream_id, number) == (1, 7)),), took_s=0.01)
            )
    assert driver.report(Ticked()) == [Admit(3)]


def test_higher_classes_and_heavier_streams_are_admitted_first() -> None:
    """Bulk streams do not overtake waiting ones, although they need no room."""
    driver = PolicyDriver(facts=slow(0.3))
    driver.open(1, 2)
    wait = [STANDARD, replace(STANDARD, weight=2.0), BULK, INTERACTIVE]
    assert [request_admission(driver, 10 + number, terms) for number, terms in enumerate(wait)] == [[]] * 4
    assert driver.report(StreamClosed(1)) == [Admit(13)]
    assert driver.report(StreamClosed(2)) == [Admit(11)]
    assert driver.report(StreamClosed(13)) == [Admit(10), Admit(12)]


def test_bulk_streams_need_no_room_but_are_limited_in_number() -> None:
    """They do not keep others out."""
    driver = PolicyDriver(facts=slow(0.4))
    driver.open(*range(BULK_PER_SLOT), terms=BULK)
    assert request_admission(driver, 50, BULK) == []
    driver.open(60, 61)
    assert request_admission(driver, 62) == []
    assert driver.report(StreamClosed(0)) == []  # a stream that is not bulk waits
    assert driver.report(StreamClosed(62)) == [Admit(50)]


def test_streams_beyond_the_queue_or_past_the_wait_are_rejected() -> None:
    """In a class with too many streams, the lightest and latest are rejected."""
    rules = dict.fromkeys(StreamClass, ClassRules(ttfp_target_s=0.2, max_waiting=2, max_wait_s=1.0))
    driver = PolicyDriver(facts=slow(0.8), tuning=Tuning(classes=rules))
    driver.open(1)
    driver.text(1, 10)
    assert request_admission(driver, 2) + request_admission(driver, 3) == []
    (full,) = request_admission(driver, 4, replace(STANDARD, weight=3.0), at=0.5)
    assert isinstance(full, Reject)
    assert (full.stream_id, full.reason) == (3, "queue_full")
    assert driver.report(Ticked(), at=0.99) == []
    assert [action.stream_id for action in driver.report(Ticked(), at=1.0) if isinstance(action, Reject)] == [2]
    assert driver.policy.num_streams == 2


def test_retry_after_estimates_the_time_until_there_is_room() -> None:
    """It follows from the duration of streams, their number and the length of the queue, within bounds."""

    def told(duration_s: float, num_waiting: int) -> float:
        rules = dict.fromkeys(StreamClass, ClassRules(ttfp_target_s=0.2, max_waiting=num_waiting, max_wait_s=100.0))
        driver = PolicyDriver(facts=slow(0.4), tuning=Tuning(classes=rules))
        driver.open(1, 2)
        driver.report(StreamClosed(1), at=duration_s)
        driver.open(3)
        driver.report(SegmentReady(2, 20, "a"), SegmentReady(3, 30, "a"))
        answers = [action for number in range(num_waiting + 1) for action in request_admission(driver, 10 + number)]
        (rejected,) = answers
        assert isinstance(rejected, Reject)
        return rejected.retry_after_s

    assert told(8.0, 0) == pytest.approx(4.0)
    assert told(8.0, 3) == pytest.approx(16.0)
    assert told(0.1, 0) == MIN_RETRY_S
    assert told(1000.0, 3) == MAX_RETRY_S


def test_throughput_mode_gives_new_streams_larger_steps() -> None:
    """Streams admitted while the mode holds are informed of it; earlier ones go on as before."""
    driver = PolicyDriver(facts=slow(0.2), tuning=Tuning(throughput=True, first_step_s=5.0, step_budget_s=0.02))
    assert request_admission(driver, 1) == [Admit(1, throughput=True)]
    driver.report(Tuned(Tuning(first_step_s=5.0, step_budget_s=0.02)))
    assert request_admission(driver, 2) == [Admit(2)]
    driver.text(1, 10)
    large = only_step(driver.planned(10))
    driver.text(2, 20)
    driver.report(StreamClosed(1))
    driver.stepped(10, 1.0)
    small = only_step(driver.planned(20))
    assert large.parts[0].num_frames > 2 * small.parts[0].num_frames


# Batches.

BATCHING = EngineFacts(FPS, max_batch=3, rtf=0.001)


def test_similar_steps_are_batched_in_order_of_urgency() -> None:
    """A batch has at most the size that the engine takes."""
    driver = PolicyDriver(num_workers=5, facts=BATCHING)
    driver.open(1, 2, 3, 4, 5)
    for number in range(1, 6):
        driver.text(number, number)
    driver.report(Tuned(Tuning(num_workers=0)))
    for number in range(1, 6):
        driver.planned(number, 800, worker=f"worker-{number - 1}")
    driver.report(*[WorkerLost(f"worker-{number}") for number in range(1, 5)])
    assert driver.report(Tuned(Tuning())) == [Step("worker-0", tuple(StepOrder(number, 16) for number in (1, 2, 3)))]


def test_a_step_does_not_wait_without_a_possible_partner() -> None:
    """A step that is not urgent starts at once if no other stream of its engine is due."""
    driver = PolicyDriver(facts=BATCHING)
    driver.speaking(1, 10, 2.0)
    assert chosen(driver.stepped(10, 1.0)) == [10]


def test_a_step_that_is_not_urgent_waits_briefly_for_a_batch() -> None:
    """It waits until the other step is due, within a few hundredths of a second."""
    terms = replace(STANDARD, max_lead_s=3.0)
    driver = PolicyDriver(facts=BATCHING)
    driver.open(1, 2, terms=terms)
    driver.speaking(1, 10, 2.0)
    driver.report(SoundTaken(1, 1.50))
    assert driver.stepped(10, 1.50) == []
    driver.speaking(2, 20, 2.0)
    driver.report(SoundTaken(2, 1.51))
    assert driver.stepped(20, 1.51) == []
    assert driver.report(Ticked(), at=0.50) == []
    assert driver.policy.next_wake(driver.now) == pytest.approx(0.51)
    assert sorted(chosen(driver.report(Ticked(), at=0.51))) == [10, 20]


def test_each_part_of_a_failed_batch_is_repeated_alone() -> None:
    """An utterance that breaks an engine does not fail the others twice."""
    driver = PolicyDriver(num_workers=2, facts=BATCHING)
    driver.open(1, 2)
    driver.text(1, 1)
    driver.text(2, 2)
    driver.report(Tuned(Tuning(num_workers=0)))
    driver.planned(1)
    driver.planned(2, worker="worker-1")
    (step,) = driver.report(Tuned(Tuning(num_workers=1)))
    assert isinstance(step, Step)
    assert chosen([step]) == [1, 2]
    driver.report(Tuned(Tuning(num_workers=2)))
    failed = driver.report(WorkFailed("worker-0", (1, 2)))
    assert failed == [Step("worker-1", (StepOrder(1, 16),))]


# Snapshots.


def test_the_snapshot_counts_streams_by_class_and_state() -> None:
    """It also has the backlog and the number of busy workers."""
    driver = PolicyDriver(facts=slow(0.2))
    driver.speaking(1, 10, 1.0)
    driver.open(2, 3)
    driver.text(3, 30)
    driver.open(4, terms=INTERACTIVE)
    request_admission(driver, 5)
    found = driver.policy.snapshot(driver.now)
    assert dict(found.streams) == {
        (StreamClass.STANDARD, "speaking"): 1,
        (StreamClass.STANDARD, "idle"): 1,
        (StreamClass.STANDARD, "starting"): 1,
        (StreamClass.INTERACTIVE, "idle"): 1,
        (StreamClass.STANDARD, "waiting"): 1,
    }
    assert found.queue_depth == {StreamClass.INTERACTIVE: 0, StreamClass.STANDARD: 1, StreamClass.BULK: 0}
    assert (found.num_workers, found.num_workers_busy) == (1, 1)
    assert found.demand == pytest.approx(0.8, rel=0.2)
    assert 0.02 < found.backlog_s < 0.2
    assert found.worst_rtf == found.rtf["a"]


def test_the_snapshot_totals_the_busy_time_of_workers() -> None:
    """Plans and steps count, also those of closed streams."""
    driver = PolicyDriver()
    driver.open(1)
    driver.text(1, 10)
    driver.report(PlanFinished("worker-0", 10, 100, False, took_s=0.03))
    driver.report(StreamClosed(1))
    driver.report(StepFinished("worker-0", (StepPart(10, 16, 0.2, False),), took_s=0.02))
    assert driver.policy.snapshot(driver.now).busy_s == pytest.approx(0.05)


def test_failed_work_joins_no_batch() -> None:
    """It runs alone, whether it comes first or later in the order."""
    driver = PolicyDriver(num_workers=2, facts=BATCHING)
    driver.open(1)
    driver.open(2, terms=replace(STANDARD, ttfp_target_s=0.001))
    driver.text(1, 1)
    driver.text(2, 2)
    driver.planned(1, worker="worker-0")
    driver.report(Tuned(Tuning(num_workers=0)))
    driver.planned(2, worker="worker-1")
    driver.report(WorkFailed("worker-0", (1,)), WorkerLost("worker-0"))
    assert driver.report(Tuned(Tuning())) == [Step("worker-1", (StepOrder(2, 16),))]
