"""Who is served next, and how much: each rule by example, on a virtual clock."""

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


class Desk:
    """A policy, its clock, and what it has ordered."""

    def __init__(
        self, num_workers: int = 1, tuning: Tuning | None = None, facts: EngineFacts = CHEAP, **engines: EngineFacts
    ) -> None:
        self.policy = Policy(engines or {"a": facts, "b": facts}, tuning)
        self.now = 0.0
        for number in range(num_workers):
            assert self.tell(WorkerUp(f"worker-{number}")) == []

    def tell(self, *events: Event, at: float | None = None) -> list[Action]:
        self.now = self.now if at is None else at
        return [action for event in events for action in self.policy.handle(event, self.now)]

    def open(self, *stream_ids: int, terms: Terms = STANDARD) -> None:
        for stream_id in stream_ids:
            assert self.tell(StreamOpened(stream_id, ("a",), terms)) == [Admit(stream_id)]

    def text(self, stream_id: int, job_id: int, engine: str = "a") -> list[Action]:
        return self.tell(SegmentReady(stream_id, job_id, engine))

    def planned(self, job_id: int, num_frames: int | None = 8000, worker: str = "worker-0") -> list[Action]:
        return self.tell(PlanFinished(worker, job_id, num_frames, done=False))

    def stepped(self, job_id: int, audio_s: float, *, done: bool = False, worker: str = "worker-0") -> list[Action]:
        """It takes as long as the engine is thought to take."""
        facts = next(iter(self.policy._estimates.engines.values()))
        part = StepPart(job_id, round(audio_s * FPS), audio_s, done)
        return self.tell(StepFinished(worker, (part,), took_s=facts.rtf * audio_s))

    def speaking(self, stream_id: int, job_id: int, audio_s: float) -> list[Action]:
        """A stream whose only segment, a long one, has given and handed out so much sound; the worker is let go on."""
        if stream_id not in self.policy._streams:
            self.open(stream_id)
        actions = self.text(stream_id, job_id)
        assert actions == [Plan("worker-0", job_id)]
        assert one(self.planned(job_id)).parts[0].job_id == job_id
        self.tell(SoundTaken(stream_id, audio_s))
        return self.stepped(job_id, audio_s)


def one(actions: list[Action]) -> Step:
    (action,) = actions
    assert isinstance(action, Step)
    return action


def chosen(actions: list[Action]) -> list[int]:
    """The jobs that were given a worker."""
    return [
        job_id
        for action in actions
        if isinstance(action, Plan | Step)
        for job_id in ([action.job_id] if isinstance(action, Plan) else [part.job_id for part in action.parts])
    ]


# A stream alone.


def test_a_segment_is_planned_then_rendered() -> None:
    """The first step is small, and nothing is left when the utterance is done."""
    desk = Desk()
    desk.open(1)
    assert desk.text(1, 10) == [Plan("worker-0", 10)]
    assert desk.planned(10, 200) == [Step("worker-0", (StepOrder(10, 16),))]
    assert desk.stepped(10, 2.5, done=True) == []
    assert (desk.policy.num_jobs, desk.policy.num_streams) == (0, 1)


def test_a_segment_without_sound_is_done_when_planned() -> None:
    """The next one's turn comes at once."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    desk.text(1, 11)
    assert desk.tell(PlanFinished("worker-0", 10, 0, done=True)) == [Plan("worker-0", 11)]


def test_a_listener_s_lead_is_what_he_gets() -> None:
    """What effects hold back is not there yet: the stream counts as silent, and is stepped on at once."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    desk.planned(10)
    held = StepPart(10, 16, 0.2, done=False, heard_s=0.0)
    (again,) = desk.tell(StepFinished("worker-0", (held,), took_s=0.02))
    assert isinstance(again, Step)
    stream = desk.policy._streams[1]
    assert (stream.made_s, stream.lead_s(desk.now)) == (0.0, 0.0)
    desk.tell(StepFinished("worker-0", (StepPart(10, 16, 0.2, done=True, heard_s=0.1),), took_s=0.02))
    assert stream.made_s == 0.1


def test_steps_grow_with_the_lead() -> None:
    """0.2, 0.4, 0.8 s: never more than twice the last step or twice what is left to play."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    sizes_s, actions = [], desk.planned(10)
    for _ in range(4):
        sizes_s.append(one(actions).parts[0].num_frames / FPS)
        desk.tell(SoundTaken(1, sizes_s[-1]))
        actions = desk.stepped(10, sizes_s[-1])
    assert sizes_s == pytest.approx([0.2, 0.4, 0.8, 1.6])


def test_segments_are_rendered_in_order_and_planned_ahead() -> None:
    """While the first is rendered one more is planned on another worker, and no third."""
    desk = Desk(num_workers=3)
    desk.open(1)
    assert desk.text(1, 10) == [Plan("worker-0", 10)]
    assert desk.text(1, 11, "b") == [Plan("worker-1", 11)]
    assert desk.text(1, 12) == []
    assert desk.planned(11, 20, "worker-1") == []
    assert chosen(desk.planned(10, 20)) == [10]
    assert chosen(desk.stepped(10, 0.25, done=True)) == [11, 12]


def test_the_next_segment_is_planned_before_others_run_dry_for_it() -> None:
    """Its deadline is that of its stream plus the sound that is still to come before it."""
    desk = Desk()
    desk.open(1, 2)
    desk.speaking(1, 10, 0.3)  # 100 s are planned and still to be made
    desk.text(1, 11)
    desk.text(2, 20)
    assert chosen(desk.stepped(10, 0.4)) == [20]  # the newcomer
    desk.planned(20)
    assert chosen(desk.stepped(20, 3.0)) == [10]  # 0.7 s ahead, before 20 with 3 s
    assert chosen(desk.stepped(10, 4.0)) == [20]
    desk.tell(SoundTaken(2, 5.0))
    assert chosen(desk.stepped(20, 2.0)) == [20]  # 10 is held, its reader does not read; the plan of 11 has time


def test_nothing_is_made_beyond_the_lead() -> None:
    """A stream with enough ahead is not stepped until its listener has played some; its next segment is planned."""
    desk = Desk()
    desk.open(1, terms=replace(STANDARD, max_lead_s=3.0))
    desk.speaking(1, 10, 2.0)
    desk.text(1, 11)
    desk.tell(SoundTaken(1, 2.0))
    assert desk.stepped(10, 2.0) == [Plan("worker-0", 11)]
    assert desk.planned(11) == []
    assert desk.policy.next_wake(desk.now) == pytest.approx(1.0)
    assert desk.tell(Ticked(), at=0.99) == []
    assert chosen(desk.tell(Ticked(), at=1.0)) == [10]


def test_a_reported_position_counts_more_than_the_clock() -> None:
    """Who says that nothing was played yet has still all of it."""
    desk = Desk()
    desk.open(1, terms=replace(STANDARD, max_lead_s=3.0))
    desk.speaking(1, 10, 2.0)
    desk.tell(SoundTaken(1, 2.0))
    assert desk.stepped(10, 2.0) == []
    assert desk.tell(PlayedTo(1, 0.0), at=2.0) == []
    assert desk.policy.next_wake(desk.now) == pytest.approx(3.0)
    assert chosen(desk.tell(PlayedTo(1, 1.5), at=2.5)) == [10]


@pytest.mark.parametrize("position_s", [-5.0, 1000.0])
def test_an_impossible_position_is_taken_for_the_nearest_possible(position_s: float) -> None:
    """Before the beginning or beyond what was made."""
    desk = Desk()
    desk.open(1, terms=replace(STANDARD, max_lead_s=3.0))
    desk.speaking(1, 10, 2.0)
    desk.tell(SoundTaken(1, 2.0))
    desk.stepped(10, 2.0)
    desk.tell(PlayedTo(1, position_s))
    stream = desk.policy._streams[1]
    assert 0.0 <= stream.lead_s(desk.now) <= stream.made_s


def test_who_claims_to_have_heard_more_than_can_be_is_not_served_before_others() -> None:
    """Nobody plays faster than sound lasts, but for a little: the deadline stays where the clock says it is."""
    desk = Desk()
    desk.speaking(1, 10, 0.5)
    made_s = 0.5
    while made_s < 20.0:
        desk.tell(SoundTaken(1, 1.0), PlayedTo(1, made_s))
        desk.stepped(10, 1.0)
        made_s += 1.0
    desk.tell(SoundTaken(1, 1.0), PlayedTo(1, made_s))
    stream = desk.policy._streams[1]
    assert stream.lead_s(desk.now) == pytest.approx(made_s / MAX_PACE)
    desk.open(2)
    desk.text(2, 20)
    assert chosen(desk.stepped(10, 1.0)) == [20]


def test_a_clock_that_goes_a_little_faster_is_believed() -> None:
    """Clocks of players differ; what is reported of them counts."""
    desk = Desk()
    desk.open(1, terms=replace(STANDARD, max_lead_s=10.0))
    desk.speaking(1, 10, 10.0)
    desk.tell(PlayedTo(1, 8.2), at=8.0)
    assert desk.policy._streams[1].lead_s(desk.now) == pytest.approx(10.0 - 8.2)


def test_unread_sound_pauses_a_stream_and_nobody_else() -> None:
    """A stalled reader stops its own stream; reading again wakes it."""
    desk = Desk()
    desk.open(1, 2)
    desk.text(1, 10)
    desk.planned(10, None)
    assert desk.stepped(10, MAX_UNREAD_S + 1) == []
    assert desk.policy.next_wake(desk.now) is None
    assert desk.text(2, 20) == [Plan("worker-0", 20)]
    assert chosen(desk.planned(20, 100)) == [20]
    assert desk.stepped(20, 1.25, done=True) == []
    assert chosen(desk.tell(SoundTaken(1, 2.0))) == [10]


def test_a_reader_that_does_not_read_is_not_in_a_hurry() -> None:
    """Its listener cannot run dry before it has what waits for it: others go first."""
    desk = Desk()
    desk.open(1, 2)
    desk.text(1, 10)
    desk.planned(10, None)
    desk.now = 0.0
    desk.stepped(10, 2.0)  # not read
    desk.now = 1.9
    desk.text(2, 20)
    assert chosen(desk.stepped(10, 0.5)) == [20]
    desk.tell(SoundTaken(2, 1.0))
    desk.planned(20)
    assert chosen(desk.stepped(20, 1.0)) == [20]


def test_sound_at_hand_is_served_when_it_is_its_turn() -> None:
    """Not before the segments before it, and no worker is needed."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    assert desk.tell(SegmentReady(1, 11, "a", cached_s=1.0)) == []
    desk.planned(10, 20)
    assert desk.stepped(10, 0.25, done=True) == [Serve(11)]
    assert desk.tell(SegmentReady(1, 12, "a", cached_s=1.0)) == [Serve(12)]
    assert desk.policy.num_jobs == 0


def test_sound_at_hand_waits_for_its_reader_too() -> None:
    """A cache does not fill the buffers of who does not read, or runs ahead of who plays."""
    desk = Desk()
    desk.open(1, terms=replace(STANDARD, max_lead_s=2.0))
    assert desk.tell(SegmentReady(1, 10, "a", cached_s=3.0)) == [Serve(10)]
    assert desk.tell(SegmentReady(1, 11, "a", cached_s=3.0)) == []
    assert desk.tell(SoundTaken(1, 3.0)) == []
    assert desk.policy.next_wake(desk.now) == pytest.approx(1.0)
    assert desk.tell(Ticked(), at=1.0) == [Serve(11)]


def test_a_step_that_gave_nothing_is_not_repeated_at_once() -> None:
    """Sound that comes from elsewhere does not come sooner for asking; meanwhile others have the worker."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    desk.planned(10, None)
    assert desk.stepped(10, 0.0) == []
    assert desk.policy.next_wake(desk.now) == pytest.approx(NOTHING_S)
    assert chosen(desk.tell(Ticked(), at=NOTHING_S)) == [10]
    assert desk.tell(StepFinished("worker-0", (StepPart(10, 0, 0.0, False),), took_s=0.05)) == []
    assert desk.policy.next_wake(desk.now) == pytest.approx(NOTHING_S + 0.05)


# Streams beside each other.


def test_a_newcomer_goes_before_those_who_can_wait() -> None:
    """It is served before the next step of one that has sound to play."""
    desk = Desk()
    desk.open(1, 2)
    desk.speaking(1, 10, 0.5)
    assert desk.text(2, 20) == []
    assert desk.stepped(10, 0.5) == [Plan("worker-0", 20)]
    assert chosen(desk.planned(20)) == [20]


def test_a_newcomer_does_not_make_a_listener_run_dry() -> None:
    """Who has less left than the newcomer's first sound costs goes first."""
    desk = Desk()
    desk.open(1, 2)
    desk.speaking(1, 10, 0.01 + GUARD_S / 2)
    desk.text(2, 20)
    assert chosen(desk.stepped(10, 0.0001)) == [10]


def test_many_listeners_together_can_wait_less_than_each_of_them() -> None:
    """Five with 0.12 s left each need five steps: the newcomer must wait, although each one alone could."""

    def served(num_listeners: int) -> list[int]:
        desk = Desk(num_workers=num_listeners)
        desk.open(*range(num_listeners))
        for number in range(num_listeners):
            desk.text(number, number)
        desk.tell(Tuned(Tuning(num_workers=1)))
        for number in range(num_listeners):
            desk.planned(number, worker=f"worker-{number}")
        ((busy,),) = desk.policy._workers.tasks("worker-0")
        for number in range(num_listeners):
            desk.policy._streams[number].make(0.12, desk.now)
            desk.tell(SoundTaken(number, 0.12))
        desk.open(99)
        desk.text(99, 990)
        return chosen(desk.stepped(busy, 0.2))

    assert served(1) == [990]
    assert served(6) != [990]


def test_a_newcomer_is_not_put_off_for_ever() -> None:
    """After so long it goes by its deadline, even if somebody must run dry."""
    desk = Desk()
    desk.open(1, 2)
    desk.speaking(1, 10, 0.02)
    desk.text(2, 20)
    actions: list[Action] = []
    for number in range(1, 1000):
        desk.now = 0.01 * number
        desk.tell(SoundTaken(1, 0.01))
        actions = desk.stepped(10, 0.01)
        if chosen(actions) == [20]:
            break
    target_s = Tuning().classes[StreamClass.STANDARD].ttfp_target_s
    assert desk.now == pytest.approx(target_s + PATIENCE_S, abs=0.03)


def test_who_runs_dry_first_is_served_first() -> None:
    """Of two streams with sound the one with less left gets the worker."""
    desk = Desk()
    desk.open(1, 2)
    desk.speaking(1, 10, 2.0)
    desk.text(2, 20)
    desk.stepped(10, 0.01)
    desk.planned(20)
    desk.tell(SoundTaken(2, 0.25))
    assert chosen(desk.stepped(20, 0.25)) == [20]
    assert chosen(desk.stepped(20, 3.0)) == [10]


def test_ties_go_to_the_higher_class_then_the_larger_weight_then_who_waits_longer() -> None:
    """Those who run dry at the same moment."""
    terms = [STANDARD, replace(STANDARD, weight=2.0), INTERACTIVE, replace(INTERACTIVE, weight=2.0)]
    desk = Desk(tuning=Tuning(num_workers=0))
    for number, each in enumerate(terms):
        desk.tell(StreamOpened(number, ("a",), replace(each, ttfp_target_s=each.weight)))
    desk.tell(Tuned(Tuning()))
    for number in range(4):
        desk.tell(SegmentReady(number, number, "a"))
    order = [desk.policy._workers.tasks("worker-0")[0][0]]
    for _ in range(3):
        desk.tell(StreamClosed(order[-1]))
        order.append(chosen(desk.planned(order[-1]))[0])
    assert order == [0, 3, 2, 1]  # the first was under way already


def test_the_class_gives_the_target_unless_the_stream_has_its_own() -> None:
    """An interactive newcomer overtakes a standard one that came a little sooner; a target of its own counts more."""
    for terms, expected in ((STANDARD, 30), (replace(STANDARD, ttfp_target_s=0.01), 20)):
        desk = Desk()
        desk.open(1)
        desk.open(2, terms=terms)
        desk.open(3, terms=INTERACTIVE)
        desk.text(1, 10)
        desk.text(2, 20)
        desk.now = 0.02
        desk.text(3, 30)
        assert chosen(desk.planned(10)) in ([10], [expected])
        order = [desk.policy._workers.tasks("worker-0")[0][0]]
        if order == [10]:
            order = chosen(desk.stepped(10, 5.0))
        assert order == [expected]


def test_a_gap_in_the_text_is_not_an_underrun() -> None:
    """Who has run dry for want of text is a newcomer again, behind one who would run dry for want of a worker."""
    desk = Desk()
    desk.open(1, 2)
    desk.speaking(1, 10, 0.5)
    desk.stepped(10, 0.5, done=True)
    desk.now = 5.0
    desk.speaking(2, 20, 0.03)
    desk.text(1, 11)
    assert chosen(desk.stepped(20, 0.01)) == [20]
    assert chosen(desk.stepped(20, 2.0)) == [11]


# Bulk work.


def test_bulk_takes_what_others_leave() -> None:
    """It is served only when nobody else can be."""
    desk = Desk()
    desk.open(1, terms=BULK)
    desk.open(2)
    desk.text(1, 10)
    desk.planned(10)
    desk.text(2, 20)
    assert chosen(desk.stepped(10, 1.0)) == [20]
    assert chosen(desk.planned(20, 100)) == [20]
    assert chosen(desk.stepped(20, 0.5)) == [20]
    assert chosen(desk.stepped(20, 0.75, done=True)) == [10]


def test_bulk_is_never_starved_for_ever() -> None:
    """After a while it gets one step, then others again."""
    desk = Desk()
    desk.open(1, terms=BULK)
    desk.open(2)
    desk.text(1, 10)
    desk.planned(10)
    desk.text(2, 20)
    desk.stepped(10, 1.0)
    desk.planned(20)
    served_at_s = []
    for number in range(1, 1500):
        desk.now = 0.01 * number
        busy = desk.policy._workers.tasks("worker-0")[0][0]
        desk.tell(SoundTaken(busy // 10, 0.01))
        if chosen(desk.stepped(busy, 0.01)) == [10]:
            served_at_s.append(desk.now)
    assert served_at_s == pytest.approx([AGEING_S, 2 * AGEING_S], abs=0.05)


def test_bulk_leaves_workers_free_while_others_are_open() -> None:
    """And takes them a second after the last of them."""
    desk = Desk(num_workers=3, facts=EngineFacts(FPS, rtf=0.05))
    desk.open(9)
    desk.open(1, 2, 3, terms=BULK)
    assert [chosen(desk.text(number, 10 * number)) for number in (1, 2, 3)] == [[10], [20], []]
    assert chosen(desk.text(9, 90)) == [90]
    desk.tell(StreamClosed(9))
    desk.tell(PlanFinished("worker-2", 90, 10, done=False))
    assert desk.policy.next_wake(desk.now) == pytest.approx(RESERVE_S)
    assert chosen(desk.tell(Ticked(), at=RESERVE_S)) == [30]


def test_bulk_takes_reserved_workers_for_a_moment() -> None:
    """What is over before a newcomer would notice is done there too; what is not has to wait."""
    desk = Desk(num_workers=2)
    desk.open(9)
    desk.open(1, 2, terms=BULK)
    assert (
        CHEAP.rtf / 2 < MOMENT_S < CHEAP.rtf * 3 / 2
    )  # a guess: a plan takes a quarter of what two seconds of sound do
    assert [chosen(desk.text(number, 10 * number)) for number in (1, 2)] == [[10], [20]]
    assert chosen(desk.planned(10, worker="worker-0")) == [10]  # a step of two seconds takes longer than a moment
    assert chosen(desk.planned(20, worker="worker-1")) == []
    assert chosen(desk.stepped(10, 2.0)) == [20]


def test_bulk_has_the_only_worker_when_nobody_else_wants_it() -> None:
    """However many workers are to be left free, one is not."""
    desk = Desk(tuning=Tuning(reserved_workers=5))
    desk.open(9)
    desk.open(1, terms=BULK)
    assert chosen(desk.text(1, 10)) == [10]


def test_bulk_streams_share_by_weight() -> None:
    """Computing is what is shared, and who comes later does not catch up."""
    desk = Desk()
    desk.open(1, terms=BULK)
    desk.open(2, terms=replace(BULK, weight=3.0))

    def run(num_steps: int) -> dict[int, int]:
        counts = {10: 0, 20: 0}
        for _ in range(num_steps):
            ((job_id,),) = desk.policy._workers.tasks("worker-0")
            counts[job_id] += 1
            stream_id = job_id // 10
            desk.tell(SoundTaken(stream_id, 0.1))
            desk.tell(StepFinished("worker-0", (StepPart(job_id, 8, 0.1, False),), took_s=0.01))
        return counts

    desk.text(1, 10)
    desk.planned(10, None)
    assert run(100) == {10: 100, 20: 0}
    desk.text(2, 20)
    desk.tell(StepFinished("worker-0", (StepPart(10, 8, 0.1, False),), took_s=0.01))
    desk.planned(20, None)
    counts = run(400)
    assert counts[20] == pytest.approx(3 * counts[10], rel=0.1)


# Workers and failures.


def test_what_failed_is_repeated_once_on_another_worker() -> None:
    """Then the stream fails; it is forgotten."""
    desk = Desk(num_workers=2)
    desk.open(1)
    desk.text(1, 10)
    assert desk.tell(WorkFailed("worker-0", (10,))) == [Plan("worker-1", 10)]
    assert desk.tell(WorkFailed("worker-1", (10,))) == [Fail(1, 10)]
    assert (desk.policy.num_streams, desk.policy.num_jobs) == (0, 0)


def test_a_repetition_waits_for_another_worker() -> None:
    """The one where it failed is given to somebody else."""
    desk = Desk(num_workers=2)
    desk.open(1, 2, 3)
    desk.text(1, 10)
    desk.text(2, 20)
    desk.text(3, 30)
    assert desk.tell(WorkFailed("worker-0", (10,))) == [Plan("worker-0", 30)]
    assert chosen(desk.tell(PlanFinished("worker-1", 20, 100, done=False))) == [10]


def test_the_only_worker_repeats_it_itself() -> None:
    """There is no other; its engine is a new one by then."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    assert desk.tell(WorkFailed("worker-0", (10,))) == [Plan("worker-0", 10)]


def test_a_success_clears_a_failure() -> None:
    """Failures count in a row."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    desk.tell(WorkFailed("worker-0", (10,)))
    desk.planned(10)
    assert chosen(desk.tell(WorkFailed("worker-0", (10,)))) == [10]
    desk.stepped(10, 0.2)
    assert chosen(desk.tell(WorkFailed("worker-0", (10,)))) == [10]


def test_what_cannot_be_repeated_fails_at_once() -> None:
    """The worker knows."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    assert desk.tell(WorkFailed("worker-0", (10,), final_ids=(10,))) == [Fail(1, 10)]


def test_a_lost_worker_counts_as_a_failure_of_what_it_did() -> None:
    """Another one repeats it; a result that comes late is ignored."""
    desk = Desk(num_workers=2)
    desk.open(1)
    desk.text(1, 10)
    assert desk.tell(WorkerLost("worker-0")) == [Plan("worker-1", 10)]
    assert desk.planned(10, worker="worker-0") == []
    assert desk.policy.snapshot(desk.now).num_workers == 1
    assert chosen(desk.planned(10, worker="worker-1")) == [10]


def test_without_workers_work_waits_for_a_new_one() -> None:
    """Nothing is lost meanwhile."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    assert desk.tell(WorkerLost("worker-0")) == []
    assert desk.tell(WorkerUp("worker-1")) == [Plan("worker-1", 10)]


def test_a_worker_that_reports_twice_is_not_given_more() -> None:
    """It is busy."""
    desk = Desk()
    desk.open(1, 2)
    desk.text(1, 10)
    assert desk.text(2, 20) == []
    assert desk.tell(WorkerUp("worker-0")) == []


def test_a_closed_stream_is_forgotten_at_once() -> None:
    """What is under way is let finish; nothing more of the stream is done."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    desk.text(1, 11)
    assert desk.tell(StreamClosed(1), StreamClosed(1)) == []
    assert desk.planned(10) == []
    assert desk.tell(SegmentReady(1, 12, "a"), TextEnded(1), SoundTaken(1, 1.0), PlayedTo(1, 1.0)) == []
    assert (desk.policy.num_streams, desk.policy.num_jobs) == (0, 0)
    assert desk.policy.next_wake(desk.now) is None


def test_tuning_takes_effect_at_once() -> None:
    """Workers are added and taken away, steps change."""
    desk = Desk(num_workers=2, tuning=Tuning(num_workers=1))
    desk.open(1, 2)
    assert chosen(desk.text(1, 10) + desk.text(2, 20)) == [10]
    assert desk.tell(Tuned(Tuning(num_workers=2, first_step_s=0.5))) == [Plan("worker-1", 20)]
    assert one(desk.planned(20, worker="worker-1")).parts[0].num_frames == 40


# Who is let in.


def slow(rtf: float) -> EngineFacts:
    return EngineFacts(FPS, rtf=rtf)


def asked(desk: Desk, stream_id: int, terms: Terms = STANDARD, at: float | None = None) -> list[Action]:
    return desk.tell(StreamOpened(stream_id, ("a",), terms), at=at)


def test_no_more_are_let_in_than_the_workers_can_carry() -> None:
    """RTF 0.3 on one worker that may be used to 85 %: two; the third when one has ended."""
    desk = Desk(facts=slow(0.3))
    desk.open(1, 2)
    assert asked(desk, 3) == []
    assert desk.tell(StreamClosed(1)) == [Admit(3)]


def test_with_more_workers_more_are_let_in() -> None:
    """A worker that comes up lets those in who wait."""
    desk = Desk(facts=slow(0.3))
    desk.open(1, 2)
    assert asked(desk, 3) + asked(desk, 4) == []
    assert desk.tell(WorkerUp("worker-9")) == [Admit(3), Admit(4)]


def test_a_stream_alone_is_let_in_however_slow_its_engine_is() -> None:
    """Else it never would be; the next one waits."""
    desk = Desk(facts=slow(1.5))
    desk.open(1)
    assert asked(desk, 2) == []


def test_nobody_is_let_in_while_there_is_no_worker() -> None:
    """The first one lets in who waits."""
    desk = Desk(num_workers=0)
    assert asked(desk, 1) == []
    assert desk.tell(WorkerUp("worker-0")) == [Admit(1)]


def test_who_needs_nothing_any_more_makes_room() -> None:
    """Made to its end but still playing, or open without text for a while."""
    desk = Desk(facts=slow(0.6))
    desk.speaking(1, 10, 1.0)
    desk.tell(TextEnded(1))
    assert asked(desk, 2) == []
    assert desk.stepped(10, 20.0, done=True) == [Admit(2)]
    assert asked(desk, 3) == []
    assert desk.tell(Ticked(), at=desk.now + FRESH_S - 0.01) == []
    assert desk.tell(Ticked(), at=desk.now + 0.01) == [Admit(3)]


@pytest.mark.parametrize("max_lead_s", [None, 1.0])
def test_readers_that_do_not_read_keep_nobody_out(max_lead_s: float | None) -> None:
    """A stream that waits for its reader long after its listener could have run dry needs no share of the workers."""
    desk = Desk(facts=slow(0.6), tuning=Tuning(classes=dict.fromkeys(StreamClass, ClassRules(0.2, 10, 100.0))))
    desk.open(1, terms=replace(STANDARD, max_lead_s=max_lead_s))
    desk.text(1, 10)
    desk.planned(10)
    desk.stepped(10, MAX_UNREAD_S + 1)
    assert asked(desk, 2) == []
    dry_at_s = desk.now + MAX_UNREAD_S + 1
    assert desk.tell(Ticked(), at=dry_at_s + FRESH_S - 0.01) == []
    assert desk.tell(Ticked(), at=dry_at_s + FRESH_S + RECHECK_S) == [Admit(2)]
    again = desk.tell(SoundTaken(1, MAX_UNREAD_S + 1)) + desk.tell(Ticked(), at=desk.now + MAX_UNREAD_S + 1)
    assert chosen(again) == [10], "it goes on when it is read"


def test_who_waited_long_to_be_let_in_is_counted_until_there_is_text() -> None:
    """However long ago it asked: the next one must not take its place meanwhile."""
    desk = Desk(facts=slow(0.6), tuning=Tuning(classes=dict.fromkeys(StreamClass, ClassRules(0.2, 10, 100.0))))
    desk.speaking(1, 10, 1.0)
    assert asked(desk, 2) + asked(desk, 3) == []
    assert Admit(2) in desk.tell(StreamClosed(1), at=desk.now + 3 * FRESH_S)
    assert desk.tell(Ticked(), at=desk.now + FRESH_S - 0.01) == []


def test_room_that_comes_with_time_alone_is_found() -> None:
    """A wake is asked for while anybody waits."""
    desk = Desk(facts=slow(0.6), tuning=Tuning(classes=dict.fromkeys(StreamClass, ClassRules(0.2, 10, 100.0))))
    desk.open(1)
    assert asked(desk, 2) == []
    while not (actions := desk.tell(Ticked(), at=desk.policy.next_wake(desk.now))):
        assert desk.now < 10
    assert actions == [Admit(2)]
    assert desk.now == pytest.approx(FRESH_S, abs=RECHECK_S)


def test_what_a_stream_has_cost_counts_more_than_what_its_engines_cost() -> None:
    """A voice with a slow and a quick engine, of which a stream uses the quick one only."""
    desk = Desk(a=slow(0.4), b=slow(0.01))
    assert desk.tell(StreamOpened(1, ("a", "b"))) == [Admit(1)]
    assert desk.tell(StreamOpened(2, ("a", "b"))) == [Admit(2)]
    assert desk.tell(StreamOpened(3, ("a", "b"))) == []
    for stream_id in (1, 2):
        desk.tell(SegmentReady(stream_id, stream_id, "b"))
        desk.planned(stream_id)
        for number in range(8):
            desk.tell(SoundTaken(stream_id, 1.0))
            desk.tell(
                StepFinished("worker-0", (StepPart(stream_id, 80, 1.0, (stream_id, number) == (1, 7)),), took_s=0.01)
            )
    assert desk.tell(Ticked()) == [Admit(3)]


def test_higher_classes_and_heavier_streams_are_let_in_first() -> None:
    """And bulk streams do not overtake those who wait, although they need no room."""
    desk = Desk(facts=slow(0.3))
    desk.open(1, 2)
    wait = [STANDARD, replace(STANDARD, weight=2.0), BULK, INTERACTIVE]
    assert [asked(desk, 10 + number, terms) for number, terms in enumerate(wait)] == [[]] * 4
    assert desk.tell(StreamClosed(1)) == [Admit(13)]
    assert desk.tell(StreamClosed(2)) == [Admit(11)]
    assert desk.tell(StreamClosed(13)) == [Admit(10), Admit(12)]


def test_bulk_streams_need_no_room_but_are_limited_in_number() -> None:
    """They do not keep others out."""
    desk = Desk(facts=slow(0.4))
    desk.open(*range(BULK_PER_SLOT), terms=BULK)
    assert asked(desk, 50, BULK) == []
    desk.open(60, 61)
    assert asked(desk, 62) == []
    assert desk.tell(StreamClosed(0)) == []  # somebody waits who is not bulk
    assert desk.tell(StreamClosed(62)) == [Admit(50)]


def test_who_waits_too_long_or_is_one_too_many_is_turned_away() -> None:
    """The lightest, last come of a class that has too many."""
    rules = dict.fromkeys(StreamClass, ClassRules(ttfp_target_s=0.2, max_waiting=2, max_wait_s=1.0))
    desk = Desk(facts=slow(0.8), tuning=Tuning(classes=rules))
    desk.open(1)
    desk.text(1, 10)
    assert asked(desk, 2) + asked(desk, 3) == []
    (full,) = asked(desk, 4, replace(STANDARD, weight=3.0), at=0.5)
    assert isinstance(full, Reject)
    assert (full.stream_id, full.reason) == (3, "queue_full")
    assert desk.tell(Ticked(), at=0.99) == []
    assert [action.stream_id for action in desk.tell(Ticked(), at=1.0) if isinstance(action, Reject)] == [2]
    assert desk.policy.num_streams == 2


def test_retry_after_tells_when_there_will_be_room() -> None:
    """From how long streams last, how many there are and how many wait; within bounds."""

    def told(duration_s: float, num_waiting: int) -> float:
        rules = dict.fromkeys(StreamClass, ClassRules(ttfp_target_s=0.2, max_waiting=num_waiting, max_wait_s=100.0))
        desk = Desk(facts=slow(0.4), tuning=Tuning(classes=rules))
        desk.open(1, 2)
        desk.tell(StreamClosed(1), at=duration_s)
        desk.open(3)
        desk.tell(SegmentReady(2, 20, "a"), SegmentReady(3, 30, "a"))
        answers = [action for number in range(num_waiting + 1) for action in asked(desk, 10 + number)]
        (rejected,) = answers
        assert isinstance(rejected, Reject)
        return rejected.retry_after_s

    assert told(8.0, 0) == pytest.approx(4.0)
    assert told(8.0, 3) == pytest.approx(16.0)
    assert told(0.1, 0) == MIN_RETRY_S
    assert told(1000.0, 3) == MAX_RETRY_S


def test_throughput_streams_are_told_so_and_get_larger_steps() -> None:
    """Those that come while the mode holds; those from before go on as they were."""
    desk = Desk(facts=slow(0.2), tuning=Tuning(throughput=True, first_step_s=5.0, step_budget_s=0.02))
    assert asked(desk, 1) == [Admit(1, throughput=True)]
    desk.tell(Tuned(Tuning(first_step_s=5.0, step_budget_s=0.02)))
    assert asked(desk, 2) == [Admit(2)]
    desk.text(1, 10)
    large = one(desk.planned(10))
    desk.text(2, 20)
    desk.tell(StreamClosed(1))
    desk.stepped(10, 1.0)
    small = one(desk.planned(20))
    assert large.parts[0].num_frames > 2 * small.parts[0].num_frames


# Several at once.

BATCHING = EngineFacts(FPS, max_batch=3, rtf=0.001)


def test_steps_that_are_alike_go_together_in_order_of_urgency() -> None:
    """As many as the engine takes."""
    desk = Desk(num_workers=5, facts=BATCHING)
    desk.open(1, 2, 3, 4, 5)
    for number in range(1, 6):
        desk.text(number, number)
    desk.tell(Tuned(Tuning(num_workers=0)))
    for number in range(1, 6):
        desk.planned(number, 800, worker=f"worker-{number - 1}")
    desk.tell(*[WorkerLost(f"worker-{number}") for number in range(1, 5)])
    assert desk.tell(Tuned(Tuning())) == [Step("worker-0", tuple(StepOrder(number, 16) for number in (1, 2, 3)))]


def test_nobody_waits_for_somebody_who_will_not_come() -> None:
    """A step that is not urgent begins at once if no other stream of its engine is due."""
    desk = Desk(facts=BATCHING)
    desk.speaking(1, 10, 2.0)
    assert chosen(desk.stepped(10, 1.0)) == [10]


def test_a_step_that_is_not_urgent_waits_a_little_for_company() -> None:
    """Until the other is due, which is within a few hundredths of a second."""
    terms = replace(STANDARD, max_lead_s=3.0)
    desk = Desk(facts=BATCHING)
    desk.open(1, 2, terms=terms)
    desk.speaking(1, 10, 2.0)
    desk.tell(SoundTaken(1, 1.50))
    assert desk.stepped(10, 1.50) == []
    desk.speaking(2, 20, 2.0)
    desk.tell(SoundTaken(2, 1.51))
    assert desk.stepped(20, 1.51) == []
    assert desk.tell(Ticked(), at=0.50) == []
    assert desk.policy.next_wake(desk.now) == pytest.approx(0.51)
    assert sorted(chosen(desk.tell(Ticked(), at=0.51))) == [10, 20]


def test_a_part_of_a_step_that_failed_is_repeated_alone() -> None:
    """One utterance that breaks an engine does not take the others down with it twice."""
    desk = Desk(num_workers=2, facts=BATCHING)
    desk.open(1, 2)
    desk.text(1, 1)
    desk.text(2, 2)
    desk.tell(Tuned(Tuning(num_workers=0)))
    desk.planned(1)
    desk.planned(2, worker="worker-1")
    (step,) = desk.tell(Tuned(Tuning(num_workers=1)))
    assert isinstance(step, Step)
    assert chosen([step]) == [1, 2]
    desk.tell(Tuned(Tuning(num_workers=2)))
    failed = desk.tell(WorkFailed("worker-0", (1, 2)))
    assert failed == [Step("worker-1", (StepOrder(1, 16),))]


# What is told.


def test_the_snapshot_counts_streams_by_class_and_state() -> None:
    """And what waits, and who is busy."""
    desk = Desk(facts=slow(0.2))
    desk.speaking(1, 10, 1.0)
    desk.open(2, 3)
    desk.text(3, 30)
    desk.open(4, terms=INTERACTIVE)
    asked(desk, 5)
    found = desk.policy.snapshot(desk.now)
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


def test_the_snapshot_adds_up_the_time_that_workers_worked() -> None:
    """Of plans and steps, also for streams that are gone."""
    desk = Desk()
    desk.open(1)
    desk.text(1, 10)
    desk.tell(PlanFinished("worker-0", 10, 100, False, took_s=0.03))
    desk.tell(StreamClosed(1))
    desk.tell(StepFinished("worker-0", (StepPart(10, 16, 0.2, False),), took_s=0.02))
    assert desk.policy.snapshot(desk.now).busy_s == pytest.approx(0.05)


def test_what_has_failed_joins_no_step_of_others() -> None:
    """Neither as the first nor as company."""
    desk = Desk(num_workers=2, facts=BATCHING)
    desk.open(1)
    desk.open(2, terms=replace(STANDARD, ttfp_target_s=0.001))
    desk.text(1, 1)
    desk.text(2, 2)
    desk.planned(1, worker="worker-0")
    desk.tell(Tuned(Tuning(num_workers=0)))
    desk.planned(2, worker="worker-1")
    desk.tell(WorkFailed("worker-0", (1,)), WorkerLost("worker-0"))
    assert desk.tell(Tuned(Tuning())) == [Step("worker-1", (StepOrder(2, 16),))]
