"""Workers that differ: placement, local state, slots, and admission by what each pool of workers can carry."""

from __future__ import annotations

from yuliu.scheduler.policy.autotune import Autotuner
from yuliu.scheduler.policy.costs import EngineFacts
from yuliu.scheduler.policy.events import (
    Action,
    Admit,
    Event,
    Fail,
    Plan,
    PlanFinished,
    SegmentReady,
    Step,
    StepFinished,
    StepPart,
    StreamClosed,
    StreamOpened,
    Terms,
    Ticked,
    Tuned,
    WorkerLost,
    WorkerUp,
    WorkFailed,
)
from yuliu.scheduler.policy.policy import Policy
from yuliu.scheduler.policy.state import JobState
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.scheduler.policy.workers import Workers
from yuliu.types import StreamClass

FPS = 80.0
CHEAP, LOCAL = EngineFacts(FPS, rtf=0.01), EngineFacts(FPS, rtf=0.01, local_state=True)
BULK = Terms(StreamClass.BULK)


def tell(policy: Policy, *events: Event, at_s: float = 0.0) -> list[Action]:
    return [action for event in events for action in policy.handle(event, at_s)]


def job(job_id: int, engine: str = "a") -> JobState:
    return JobState(job_id, job_id, engine, 0.0)


def test_a_job_goes_to_a_worker_with_its_engine() -> None:
    """The other worker stays idle, though it came first."""
    policy = Policy({"a": CHEAP, "b": CHEAP})
    tell(policy, WorkerUp("one", ("a",)), WorkerUp("two", ("b",)))
    assert tell(policy, StreamOpened(1, ("b",)), SegmentReady(1, 10, "b")) == [Admit(1), Plan("two", 10)]
    (step,) = tell(policy, PlanFinished("two", 10, 800, done=False))
    assert isinstance(step, Step)
    assert step.worker == "two"


def test_a_worker_runs_as_many_tasks_as_it_has_slots() -> None:
    """Each report frees the slot of its task; reports of tasks that it does not run are ignored."""
    policy = Policy({"a": CHEAP})
    tell(policy, WorkerUp("loop", ("a",), slots=2), *(StreamOpened(each, ("a",)) for each in (1, 2, 3)))
    actions = tell(policy, *(SegmentReady(each, 10 * each, "a") for each in (1, 2, 3)))
    assert actions == [Plan("loop", 10), Plan("loop", 20)]
    assert policy.snapshot(0.0).num_workers_busy == policy.snapshot(0.0).num_workers == 2
    assert tell(policy, PlanFinished("loop", 99, 5, done=True)) == []
    assert tell(policy, PlanFinished("loop", 20, 0, done=True)) == [Plan("loop", 30)]


def test_a_full_pool_holds_back_only_streams_that_need_it() -> None:
    """A stream for another worker is admitted past the waiting one; one that needs both waits as well."""
    policy = Policy({"a": EngineFacts(FPS, rtf=0.8), "b": CHEAP})
    tell(policy, WorkerUp("one", ("a",)), WorkerUp("two", ("b",)))
    assert tell(policy, StreamOpened(1, ("a",)), StreamOpened(2, ("a",))) == [Admit(1)]
    assert tell(policy, StreamOpened(3, ("a", "b"))) == []
    assert tell(policy, StreamOpened(4, ("b",))) == [Admit(4)]
    assert tell(policy, StreamClosed(1)) == [Admit(2)]


def test_a_stream_waits_while_no_worker_has_its_engine() -> None:
    """It is admitted when one comes, and turned away if none does in time."""
    policy = Policy({"a": CHEAP, "b": CHEAP})
    tell(policy, WorkerUp("one", ("a",)))
    assert tell(policy, StreamOpened(1, ("b",)), StreamOpened(2, ("b",), BULK)) == []
    assert tell(policy, WorkerUp("two", ("b",)), WorkerUp("two", ("b",))) == [Admit(1), Admit(2)]


def settled(*segments: tuple[int, int], more: tuple[Event, ...] = ()) -> Policy:
    """A policy with planned segments (stream, job) of an engine with local state, all on the worker ``one``."""
    policy = Policy({"a": LOCAL})
    tell(policy, WorkerUp("one"), *more)
    for stream_id, job_id in segments:
        tell(policy, StreamOpened(stream_id, ("a",)), SegmentReady(stream_id, job_id, "a"))
    for _, job_id in segments:
        tell(policy, PlanFinished("one", job_id, 80_000, done=False))
    return policy


def test_steps_stay_with_the_worker_that_planned() -> None:
    """An idle worker does not take them over; also not while the first may get no new work."""
    policy = settled((1, 10))
    assert tell(policy, WorkerUp("two")) == []
    tell(policy, Tuned(Tuning(num_workers=0)))
    (step,) = tell(policy, StepFinished("one", (StepPart(10, 16, 0.2, done=False),), 0.01))
    assert isinstance(step, Step)
    assert step.worker == "one"
    assert tell(policy, SegmentReady(1, 11, "a")) == []


def test_state_that_is_lost_with_its_worker_is_planned_anew() -> None:
    """On another worker; the step under way counts as a failure, idle state does not."""
    policy = settled((1, 10), (2, 20))
    tell(policy, WorkerUp("two"))
    actions = tell(policy, WorkerLost("one"))
    assert sorted(action.job_id for action in actions if isinstance(action, Plan)) == [10]
    assert tell(policy, PlanFinished("two", 10, 80_000, done=False)) == [Plan("two", 20)]


def test_lost_state_that_cannot_be_made_again_fails_its_stream() -> None:
    """All of the stream: its other segments as well."""
    policy = settled((1, 10), (2, 20))
    tell(policy, SegmentReady(2, 21, "a"))
    actions = tell(policy, WorkerLost("one", (10, 20, 21)))
    assert {action.stream_id for action in actions if isinstance(action, Fail)} == {1, 2}
    assert (policy.num_streams, policy.num_jobs) == (0, 0)


def test_two_segments_of_a_stream_whose_state_is_lost_fail_it_once() -> None:
    """The second one is gone with the first. Both wait on the worker, since nobody reads the stream."""
    policy = Policy({"a": LOCAL})
    tell(policy, WorkerUp("one"), StreamOpened(1, ("a",)), SegmentReady(1, 10, "a"), SegmentReady(1, 11, "a"))
    tell(policy, PlanFinished("one", 10, 80_000, done=False))
    assert tell(policy, StepFinished("one", (StepPart(10, 400, 5.0, done=False),), 0.01)) == [Plan("one", 11)]
    assert tell(policy, PlanFinished("one", 11, 80_000, done=False)) == []
    assert tell(policy, WorkerLost("one", (10, 11))) == [Fail(1, 10)]


def test_a_failed_step_of_local_state_is_planned_anew_once() -> None:
    """That the plan succeeds does not make the failure undone: a second failed step fails the stream."""
    policy = settled((1, 10))
    assert tell(policy, WorkFailed("one", (10,))) == [Plan("one", 10)]
    (step,) = tell(policy, PlanFinished("one", 10, 80_000, done=False))
    assert isinstance(step, Step)
    assert tell(policy, WorkFailed("one", (10,))) == [Fail(1, 10)]


def test_a_failed_job_goes_to_another_worker_with_its_engine() -> None:
    """Not to one without it: then it is repeated where it failed."""
    policy = Policy({"a": CHEAP, "b": CHEAP})
    tell(policy, WorkerUp("one", ("a",)), WorkerUp("two", ("b",)), StreamOpened(1, ("a",)), SegmentReady(1, 10, "a"))
    assert tell(policy, WorkFailed("one", (10,))) == [Plan("one", 10)]
    assert tell(policy, WorkerUp("three", ("a",)), WorkFailed("one", (10,))) == [Fail(1, 10)]
    tell(policy, StreamOpened(2, ("a",)), SegmentReady(2, 20, "a"))
    assert tell(policy, WorkFailed("one", (20,)), Ticked()) == [Plan("three", 20)]


def test_bulk_reserves_count_among_workers_that_are_alike() -> None:
    """Slots of another kind of worker neither lend room for bulk work nor lose any."""
    workers = Workers(("a", "b"))
    workers.add("one", ("a",))
    workers.add("two", ("a",))
    workers.add("loop", ("b",), slots=8)
    workers.start("one", (1,), bulk=True)
    assert not workers.may_take_bulk("two", reserved=1)
    assert workers.may_take_bulk("loop", reserved=1)
    assert workers.finish("one", (1,)) == (1,)
    assert workers.may_take_bulk("two", reserved=1)


def test_a_lost_worker_takes_its_bulk_work_with_it() -> None:
    """Its place counts no more; losing it twice changes nothing."""
    workers = Workers(("a",))
    workers.add("one")
    workers.add("two")
    workers.start("one", (1,), bulk=True)
    assert "one" in workers
    assert workers.remove("one") == workers.remove("one") == []
    assert workers.may_take_bulk("two", reserved=0)
    assert workers.tasks("one") == ()
    assert workers.finish("one", (1,)) == ()


def test_jobs_are_barred_by_engine_home_and_failure() -> None:
    """Without any of these nothing is barred, and nothing is looked at."""
    workers = Workers(("a", "b"))
    workers.add("one")
    workers.add("two")
    assert workers.barred_from("one", iter([job(1)])) == set()
    workers.settle(1, "two")
    workers.failed(2, "one")
    assert workers.barred_from("one", [job(1), job(2), job(3)]) == {1, 2}
    assert workers.barred_from("two", [job(1), job(2), job(3)]) == set()
    workers.forget(1)
    workers.forgive(2)
    assert workers.barred_from("one", [job(1), job(2)]) == set()


def test_text_of_a_waiting_stream_is_planned_once_it_is_admitted() -> None:
    """Until then no worker gets it."""
    policy = Policy({"a": CHEAP})
    assert tell(policy, StreamOpened(1, ("a",)), SegmentReady(1, 10, "a")) == []
    assert tell(policy, WorkerUp("one")) == [Admit(1), Plan("one", 10)]


def test_the_autotuner_asks_its_controller_once_a_second() -> None:
    """Without a controller, and in between, the tuning in force stays."""
    policy, tuning = Policy({"a": CHEAP}), Tuning()
    assert Autotuner(tuning).adapted(policy, tuning, 0.0) is tuning
    tuner = Autotuner(tuning, 4)
    adapted = tuner.adapted(policy, tuning, 0.0)
    assert adapted.num_workers == 4
    assert tuner.adapted(policy, adapted, 0.5) is adapted
