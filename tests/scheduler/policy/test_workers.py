"""Workers that differ: placement, local state, slots, and admission by the capacity of each pool of workers."""

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


def reported(policy: Policy, *events: Event, at_s: float = 0.0) -> list[Action]:
    return [action for event in events for action in policy.handle(event, at_s)]


def job(job_id: int, engine: str = "a") -> JobState:
    return JobState(job_id, job_id, engine, 0.0)


def test_a_job_goes_to_a_worker_with_its_engine() -> None:
    """The other worker stays idle, though it came first."""
    policy = Policy({"a": CHEAP, "b": CHEAP})
    reported(policy, WorkerUp("one", ("a",)), WorkerUp("two", ("b",)))
    assert reported(policy, StreamOpened(1, ("b",)), SegmentReady(1, 10, "b")) == [Admit(1), Plan("two", 10)]
    (step,) = reported(policy, PlanFinished("two", 10, 800, done=False))
    assert isinstance(step, Step)
    assert step.worker == "two"


def test_a_worker_runs_one_task_per_slot() -> None:
    """Each report frees the slot of its task; reports of unknown tasks are ignored."""
    policy = Policy({"a": CHEAP})
    reported(policy, WorkerUp("loop", ("a",), slots=2), *(StreamOpened(each, ("a",)) for each in (1, 2, 3)))
    actions = reported(policy, *(SegmentReady(each, 10 * each, "a") for each in (1, 2, 3)))
    assert actions == [Plan("loop", 10), Plan("loop", 20)]
    assert policy.snapshot(0.0).num_workers_busy == policy.snapshot(0.0).num_workers == 2
    assert reported(policy, PlanFinished("loop", 99, 5, done=True)) == []
    assert reported(policy, PlanFinished("loop", 20, 0, done=True)) == [Plan("loop", 30)]


def test_a_full_pool_holds_back_only_streams_that_need_it() -> None:
    """A stream for another worker is admitted past the waiting one; a stream that needs both waits as well."""
    policy = Policy({"a": EngineFacts(FPS, rtf=0.8), "b": CHEAP})
    reported(policy, WorkerUp("one", ("a",)), WorkerUp("two", ("b",)))
    assert reported(policy, StreamOpened(1, ("a",)), StreamOpened(2, ("a",))) == [Admit(1)]
    assert reported(policy, StreamOpened(3, ("a", "b"))) == []
    assert reported(policy, StreamOpened(4, ("b",))) == [Admit(4)]
    assert reported(policy, StreamClosed(1)) == [Admit(2)]


def test_a_stream_waits_while_no_worker_has_its_engine() -> None:
    """It is admitted once such a worker is up, and rejected if none comes in time."""
    policy = Policy({"a": CHEAP, "b": CHEAP})
    reported(policy, WorkerUp("one", ("a",)))
    assert reported(policy, StreamOpened(1, ("b",)), StreamOpened(2, ("b",), BULK)) == []
    assert reported(policy, WorkerUp("two", ("b",)), WorkerUp("two", ("b",))) == [Admit(1), Admit(2)]


def planned_policy(*segments: tuple[int, int], more: tuple[Event, ...] = ()) -> Policy:
    """Return a policy with planned segments (stream, job) of an engine with local state, all on the worker ``one``."""
    policy = Policy({"a": LOCAL})
    reported(policy, WorkerUp("one"), *more)
    for stream_id, job_id in segments:
        reported(policy, StreamOpened(stream_id, ("a",)), SegmentReady(stream_id, job_id, "a"))
    for _, job_id in segments:
        reported(policy, PlanFinished("one", job_id, 80_000, done=False))
    return policy


def test_steps_stay_with_the_worker_that_planned() -> None:
    """An idle worker does not take them over, even while the first worker gets no new work."""
    policy = planned_policy((1, 10))
    assert reported(policy, WorkerUp("two")) == []
    reported(policy, Tuned(Tuning(num_workers=0)))
    (step,) = reported(policy, StepFinished("one", (StepPart(10, 16, 0.2, done=False),), 0.01))
    assert isinstance(step, Step)
    assert step.worker == "one"
    assert reported(policy, SegmentReady(1, 11, "a")) == []


def test_state_lost_with_its_worker_is_planned_again() -> None:
    """Another worker plans it; the step under way counts as a failure, idle state does not."""
    policy = planned_policy((1, 10), (2, 20))
    reported(policy, WorkerUp("two"))
    actions = reported(policy, WorkerLost("one"))
    assert sorted(action.job_id for action in actions if isinstance(action, Plan)) == [10]
    assert reported(policy, PlanFinished("two", 10, 80_000, done=False)) == [Plan("two", 20)]


def test_lost_state_that_cannot_be_made_again_fails_its_stream() -> None:
    """The whole stream fails, with its other segments."""
    policy = planned_policy((1, 10), (2, 20))
    reported(policy, SegmentReady(2, 21, "a"))
    actions = reported(policy, WorkerLost("one", (10, 20, 21)))
    assert {action.stream_id for action in actions if isinstance(action, Fail)} == {1, 2}
    assert (policy.num_streams, policy.num_jobs) == (0, 0)


def test_a_stream_with_two_lost_segments_fails_once() -> None:
    """The second segment goes with the first. Both wait on the worker, since the audio of the stream is not read."""
    policy = Policy({"a": LOCAL})
    reported(policy, WorkerUp("one"), StreamOpened(1, ("a",)), SegmentReady(1, 10, "a"), SegmentReady(1, 11, "a"))
    reported(policy, PlanFinished("one", 10, 80_000, done=False))
    assert reported(policy, StepFinished("one", (StepPart(10, 400, 5.0, done=False),), 0.01)) == [Plan("one", 11)]
    assert reported(policy, PlanFinished("one", 11, 80_000, done=False)) == []
    assert reported(policy, WorkerLost("one", (10, 11))) == [Fail(1, 10)]


def test_a_failed_step_with_local_state_is_planned_again_once() -> None:
    """A successful plan does not clear the failure: a second failed step fails the stream."""
    policy = planned_policy((1, 10))
    assert reported(policy, WorkFailed("one", (10,))) == [Plan("one", 10)]
    (step,) = reported(policy, PlanFinished("one", 10, 80_000, done=False))
    assert isinstance(step, Step)
    assert reported(policy, WorkFailed("one", (10,))) == [Fail(1, 10)]


def test_a_failed_job_goes_to_another_worker_with_its_engine() -> None:
    """If no other worker has the engine, it is repeated on the same one."""
    policy = Policy({"a": CHEAP, "b": CHEAP})
    reported(
        policy, WorkerUp("one", ("a",)), WorkerUp("two", ("b",)), StreamOpened(1, ("a",)), SegmentReady(1, 10, "a")
    )
    assert reported(policy, WorkFailed("one", (10,))) == [Plan("one", 10)]
    assert reported(policy, WorkerUp("three", ("a",)), WorkFailed("one", (10,))) == [Fail(1, 10)]
    reported(policy, StreamOpened(2, ("a",)), SegmentReady(2, 20, "a"))
    assert reported(policy, WorkFailed("one", (20,)), Ticked()) == [Plan("three", 20)]


def test_bulk_reserves_count_per_kind_of_worker() -> None:
    """Slots of another kind of worker neither lend room to bulk work nor lose any."""
    workers = Workers(("a", "b"))
    workers.add("one", ("a",))
    workers.add("two", ("a",))
    workers.add("loop", ("b",), slots=8)
    workers.start("one", (1,), bulk=True)
    assert not workers.may_take_bulk("two", reserved=1)
    assert workers.may_take_bulk("loop", reserved=1)
    assert workers.finish("one", (1,)) == (1,)
    assert workers.may_take_bulk("two", reserved=1)


def test_bulk_work_of_a_lost_worker_is_not_counted() -> None:
    """Its slot counts no more; losing it twice changes nothing."""
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
    """Without any of these no job is barred, and no job is examined."""
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
    assert reported(policy, StreamOpened(1, ("a",)), SegmentReady(1, 10, "a")) == []
    assert reported(policy, WorkerUp("one")) == [Admit(1), Plan("one", 10)]


def test_the_autotuner_calls_its_controller_once_a_second() -> None:
    """Without a controller, and between calls, the tuning stays."""
    policy, tuning = Policy({"a": CHEAP}), Tuning()
    assert Autotuner(tuning).adapted(policy, tuning, 0.0) is tuning
    tuner = Autotuner(tuning, 4)
    adapted = tuner.adapted(policy, tuning, 0.0)
    assert adapted.num_workers == 4
    assert tuner.adapted(policy, adapted, 0.5) is adapted
