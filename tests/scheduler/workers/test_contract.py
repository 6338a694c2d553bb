"""The contract of a worker: the same suite on every backend, alone and under a scheduler."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from backends import BACKENDS, Backend, WorkerByHand
from scheduler_streams import OPTIONS, PATIENCE_S, EngineFactory, Inbox, ManualClock, segment, sound, speak, until

from yuliu.engines.tone import ToneScript
from yuliu.errors import SynthesisFailed, VoiceNotReady
from yuliu.scheduler.outputs import Admitted, Planned, Rendered
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.scheduler.scheduler import Scheduler
from yuliu.scheduler.settings import Settings
from yuliu.scheduler.workers.api import PlanJob, Release, StepJob, Task, WorkerDied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends import AnyTone

    from yuliu.engines.api import Utterance
    from yuliu.engines.registry import EngineSpec

TEXT = "one two three four five six seven"
SEGMENT = segment(TEXT)
PLAN = Task(0, "tone", (PlanJob(7, SEGMENT, OPTIONS),))


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
def open_scheduler(backend: Backend) -> Iterator[Callable[..., Scheduler]]:
    """Yield a function that opens schedulers on the backend; they are closed at the end."""
    opened: list[Scheduler] = []

    def open_(*specs: EngineSpec, clock: ManualClock | None = None, **settings: Any) -> Scheduler:
        found = replace(Settings(num_workers=1, tuning=Tuning(max_load=1e6)), **settings)
        scheduler = Scheduler(specs, found, clock=clock or time.monotonic, backends=backend.starters())
        opened.append(scheduler)
        return opened[-1]

    yield open_
    for scheduler in opened:
        scheduler.close()


# One worker.


def test_a_worker_announces_its_engines_and_slots(backend: Backend) -> None:
    """The announcement has the capabilities of each engine, and names only engines that the worker carries."""
    hand = WorkerByHand(backend, backend.spec(backend.engine, slots=5))
    message = hand.up()
    assert message.worker == "w"
    assert dict(message.engines) == {"tone": backend.engine().capabilities}
    assert message.slots == (1 if backend.kind == "thread" else 5)
    hand.end()


def test_a_plan_and_its_steps_give_the_samples_of_the_segment(backend: Backend) -> None:
    """Each result carries the id of its job."""
    hand = WorkerByHand(backend, backend.spec(backend.engine))
    hand.up()
    (planned,) = hand.run(PLAN).results
    assert (planned.job_id, planned.samples, planned.utterance.segment) == (7, None, SEGMENT)
    utterance, chunks = planned.utterance, []
    for task_id in range(1, 100):
        if utterance.done:
            break
        (result,) = hand.run(Task(task_id, "tone", (StepJob(7, utterance, 11),))).results
        assert result.job_id == 7
        assert result.samples is not None
        chunks.append(result.samples)
        utterance = result.utterance
    assert np.array_equal(np.concatenate(chunks), sound(SEGMENT))
    hand.end()


def test_a_step_of_several_utterances_keeps_their_order(backend: Backend) -> None:
    """Two segments of one text are distinguished by their job ids."""
    hand = WorkerByHand(backend, backend.spec(backend.engine))
    hand.up()
    plan: Utterance = hand.run(PLAN).results[0].utterance
    jobs = (StepJob(8, plan, 20), StepJob(7, plan, 10), StepJob(9, plan, 30))
    results = hand.run(Task(1, "tone", jobs)).results
    assert [result.job_id for result in results] == [8, 7, 9]
    assert [result.utterance.next_frame for result in results] == [20, 10, 30]
    hand.end()


@pytest.mark.parametrize("error", [SynthesisFailed, ValueError])
def test_a_failed_task_is_reported_and_the_worker_continues(backend: Backend, error: type[Exception]) -> None:
    """The report never quotes a foreign error, since it may quote the text."""
    script = ToneScript(fail_plans=frozenset({0}), error=error)
    hand = WorkerByHand(backend, backend.spec(lambda: backend.engine(script)))
    hand.up()
    failed = hand.fail(PLAN)
    assert isinstance(failed.error, SynthesisFailed)
    assert error is SynthesisFailed or str(failed.error) == "the engine on w raised ValueError; see its log"
    hand.run(Task(1, "tone", PLAN.jobs))
    hand.end()


def test_an_engine_that_breaks_its_contract_fails_the_task(backend: Backend) -> None:
    """Nothing of the broken step is reported."""
    script = ToneScript(spoil="short", spoil_steps=frozenset({0}))
    hand = WorkerByHand(backend, backend.spec(lambda: backend.engine(script)))
    hand.up()
    plan = hand.run(PLAN).results[0].utterance
    failed = hand.fail(Task(1, "tone", (StepJob(7, plan, 10),)))
    assert "broke its contract" in str(failed.error)
    hand.end()


@pytest.mark.parametrize("error", [SystemExit, MemoryError])
def test_a_crash_is_the_last_report(backend: Backend, error: type[BaseException]) -> None:
    """It names the place, and the engines are closed."""
    made = EngineFactory(lambda: backend.engine(ToneScript(fail_plans=frozenset({0}), error=error)))
    hand = WorkerByHand(backend, backend.spec(made))
    hand.up()
    hand.worker.submit(PLAN)
    lost = hand.next()
    assert isinstance(lost, WorkerDied)
    assert type(lost.error) is error
    assert lost.place.startswith("tone.py:")
    assert hand.worker.join(PATIENCE_S)
    assert made.engines[0].closed
    hand.worker.submit(PLAN)
    hand.worker.cancel(0)
    hand.worker.stop()
    assert hand.reports.empty()


def test_engines_that_cannot_be_built_lose_the_worker(backend: Backend) -> None:
    """Engines built before are closed."""
    made = EngineFactory(backend.engine)

    def fail() -> AnyTone:
        raise VoiceNotReady("pull it")

    hand = WorkerByHand(backend, backend.spec(made, "good"), backend.spec(fail, "bad"))
    lost = hand.next()
    assert isinstance(lost, WorkerDied)
    assert isinstance(lost.error, VoiceNotReady)
    assert hand.worker.join(PATIENCE_S)
    assert made.engines[0].closed


def test_stopping_closes_the_engines(backend: Backend) -> None:
    """Nothing is reported after that."""
    made = EngineFactory(backend.engine)
    hand = WorkerByHand(backend, backend.spec(made))
    hand.up()
    hand.end()
    assert made.engines[0].closed
    assert hand.reports.empty()


def test_a_released_state_is_dropped(backend: Backend) -> None:
    """A step of the utterance fails afterwards."""
    made = EngineFactory(lambda: backend.engine(local_state=True))
    hand = WorkerByHand(backend, backend.spec(made))
    hand.up()
    plan = hand.run(PLAN).results[0].utterance
    assert len(made.engines[0].held) == 1
    hand.worker.release(Release("tone", plan))
    assert "not here" in str(hand.fail(Task(1, "tone", (StepJob(7, plan, 10),))).error)
    assert not made.engines[0].held
    hand.end()


def test_a_cancelled_task_ends_soon_or_when_the_engine_returns(backend: Backend) -> None:
    """A worker that cannot interrupt its engine still reports the result."""
    made = EngineFactory(lambda: backend.engine(ToneScript(hang_plans=frozenset({0}))))
    hand = WorkerByHand(backend, backend.spec(made))
    can_cancel = hand.up().can_cancel
    hand.worker.submit(PLAN)
    assert made.engines[0].hung.wait(PATIENCE_S)
    hand.worker.cancel(PLAN.task_id)
    if not can_cancel:
        made.engines[0].released.set()
    assert hand.next().task_id == PLAN.task_id  # type: ignore[union-attr]
    hand.run(Task(1, "tone", PLAN.jobs))
    hand.end()


def test_a_task_cancelled_at_once_is_reported_once(backend: Backend) -> None:
    """Even if nothing of it has run yet: without a report the worker would count as hung."""
    hand = WorkerByHand(backend, backend.spec(backend.engine))
    hand.up()
    for task_id in range(20):
        hand.worker.submit(Task(task_id, "tone", PLAN.jobs))
        hand.worker.cancel(task_id)
        assert hand.next().task_id == task_id  # type: ignore[union-attr]
    hand.run(Task(20, "tone", PLAN.jobs))
    hand.end()


def test_an_engine_is_warmed_up_before_it_is_announced(backend: Backend) -> None:
    """Each instance plans and renders the segments of its spec."""
    made = EngineFactory(backend.engine)
    spec = replace(backend.spec(made), warm_up=(SEGMENT, SEGMENT))
    hand = WorkerByHand(backend, spec)
    hand.up()
    assert (made.engines[0].num_plans, made.engines[0].num_steps) == (2, 2)
    hand.end()


# Workers of a scheduler.


def test_interleaved_streams_have_the_same_audio_as_alone(
    backend: Backend, open_scheduler: Callable[..., Scheduler]
) -> None:
    """Eight streams of two segments share one worker."""
    scheduler = open_scheduler(backend.spec(backend.engine, slots=4))
    inboxes = [speak(scheduler, [f"{TEXT} {number}", "and more"]) for number in range(8)]
    for number, inbox in enumerate(inboxes):
        inbox.wait_done(2)
        assert np.array_equal(inbox.samples(), sound(segment(f"{TEXT} {number}"), segment("and more")))
    assert (scheduler.num_jobs,) == (0,)


def test_equal_segments_are_distinguished(backend: Backend, open_scheduler: Callable[..., Scheduler]) -> None:
    """Outputs name their job, though the segments are equal."""
    scheduler, inbox = open_scheduler(backend.spec(backend.engine)), Inbox()
    stream_id = scheduler.open(inbox)
    job_ids = [scheduler.submit(stream_id, "tone", SEGMENT, OPTIONS) for _ in range(3)]
    inbox.wait_done(3)
    assert [output.job_id for output in inbox.planned] == job_ids
    assert sorted(dict.fromkeys(output.job_id for output in inbox.rendered)) == job_ids
    assert np.array_equal(inbox.samples(), sound(SEGMENT, SEGMENT, SEGMENT))


@pytest.mark.parametrize("num_calls", range(4))
def test_cancel_at_any_call(backend: Backend, open_scheduler: Callable[..., Scheduler], num_calls: int) -> None:
    """No further output comes, no state is left, and the worker serves the next stream."""
    script = ToneScript(
        hang_plans=frozenset({0} if num_calls == 0 else ()),
        hang_steps=frozenset({num_calls - 1} if num_calls else ()),
    )
    made = EngineFactory(lambda: backend.engine(script, local_state=True))
    scheduler, inbox = open_scheduler(backend.spec(made)), Inbox()
    stream_id = scheduler.open(inbox)
    scheduler.submit(stream_id, "tone", segment(TEXT * 5), OPTIONS)
    assert made.engines[0].hung.wait(PATIENCE_S)
    scheduler.close_stream(stream_id)
    outputs = [type(output) for output in inbox.outputs]
    assert outputs == [Admitted, Planned, Rendered, Rendered][: 1 + num_calls]
    made.engines[0].released.set()
    other = speak(scheduler, ["x"])
    other.wait_done()
    assert [type(output) for output in inbox.outputs] == outputs
    until(lambda: not made.engines[0].held)
    assert (scheduler.num_jobs, len(made.engines)) == (0, 1)


@pytest.mark.parametrize("local_state", [False, True])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_an_exact_engine_repeats_a_failed_step(
    backend: Backend, open_scheduler: Callable[..., Scheduler], number: int, local_state: bool
) -> None:
    """The listener does not notice; with local state the segment is planned again."""
    script = ToneScript(fail_steps=frozenset({number}))
    made = EngineFactory(
        lambda: backend.engine(script, local_state=local_state), lambda: backend.engine(local_state=local_state)
    )
    scheduler = open_scheduler(backend.spec(made))
    inbox = speak(scheduler, [TEXT * 5])
    inbox.wait_done()
    assert np.array_equal(inbox.samples(), sound(segment(TEXT * 5)))
    until(lambda: not any(engine.held for engine in made.engines))


@pytest.mark.parametrize("script", [{"fail_plans": frozenset(range(9))}, {"fail_steps": frozenset(range(9))}])
@pytest.mark.parametrize("local_state", [False, True])
def test_work_that_fails_twice_ends_its_stream(
    backend: Backend, open_scheduler: Callable[..., Scheduler], script: dict[str, frozenset[int]], local_state: bool
) -> None:
    """The error is its last output."""
    made = EngineFactory(lambda: backend.engine(ToneScript(**script), local_state=local_state))  # type: ignore[arg-type]
    scheduler = open_scheduler(backend.spec(made))
    inbox = speak(scheduler, [TEXT])
    inbox.wait_until(lambda i: bool(i.broken))
    assert inbox.outputs[-1] is inbox.broken[0]
    assert not inbox.rendered
    assert (scheduler.num_streams, scheduler.num_jobs) == (0, 0)


@pytest.mark.parametrize("local_state", [False, True])
@pytest.mark.parametrize("script", [{"fail_plans": frozenset({0})}, {"fail_steps": frozenset({2})}])
def test_a_crashed_worker_is_replaced(
    backend: Backend, open_scheduler: Callable[..., Scheduler], script: dict[str, frozenset[int]], local_state: bool
) -> None:
    """Streams of an exact engine continue without a gap, also those with state lost with the worker."""
    crashing = ToneScript(**script, error=SystemExit)  # type: ignore[arg-type]
    made = EngineFactory(
        lambda: backend.engine(crashing, local_state=local_state), lambda: backend.engine(local_state=local_state)
    )
    scheduler = open_scheduler(backend.spec(made, slots=2))
    inboxes = [speak(scheduler, [f"{TEXT} {number}" * 4]) for number in range(3)]
    for number, inbox in enumerate(inboxes):
        inbox.wait_done()
        assert np.array_equal(inbox.samples(), sound(segment(f"{TEXT} {number}" * 4)))
    assert len(made.engines) == 2
    until(lambda: not made.engines[1].held)


def test_lost_state_of_an_inexact_engine_fails_audible_streams(
    backend: Backend, open_scheduler: Callable[..., Scheduler]
) -> None:
    """A stream with audio out fails; one that is only planned is planned again."""
    made = EngineFactory(
        lambda: backend.engine(ToneScript(fail_steps=frozenset({1}), error=SystemExit), exact=False, local_state=True),
        lambda: backend.engine(exact=False, local_state=True),
    )
    scheduler = open_scheduler(backend.spec(made))
    heard = speak(scheduler, [TEXT * 5])
    heard.wait_until(lambda i: bool(i.broken))
    assert heard.rendered
    speak(scheduler, ["fine"]).wait_done()


@pytest.mark.parametrize("call", ["plan", "step"])
def test_a_call_that_hangs_is_repeated(backend: Backend, open_scheduler: Callable[..., Scheduler], call: str) -> None:
    """The worker is replaced, or the call is cancelled if that is possible. A late result is ignored."""
    script = ToneScript(**{f"hang_{call}s": frozenset({0})})  # type: ignore[arg-type]
    clock, made = ManualClock(), EngineFactory(lambda: backend.engine(script), backend.engine)
    scheduler = open_scheduler(backend.spec(made), clock=clock)
    inbox = speak(scheduler, [TEXT])
    assert made.engines[0].hung.wait(PATIENCE_S)
    clock.now_s += 9.9
    scheduler.tick()
    assert len(made.engines) == 1
    clock.now_s += 0.2
    scheduler.tick()
    inbox.wait_done()
    made.engines[0].released.set()
    assert np.array_equal(inbox.samples(), sound(SEGMENT))
    assert inbox.rendered[-1].num_retries == 1
    assert len(made.engines) == (1 if backend.kind == "async" else 2)


def test_closing_ends_the_workers_and_their_streams(backend: Backend, open_scheduler: Callable[..., Scheduler]) -> None:
    """Open streams get an error as their last output."""
    made = EngineFactory(backend.engine)
    scheduler = open_scheduler(backend.spec(made, num_workers=2))
    inbox = Inbox()
    scheduler.open(inbox)
    until(lambda: len(made.engines) == 2)
    scheduler.close()
    assert inbox.broken[0].error.code == "closed"
    assert all(engine.closed for engine in made.engines)


def test_a_worker_runs_one_task_per_slot(backend: Backend, open_scheduler: Callable[..., Scheduler]) -> None:
    """Further streams wait for a slot; a thread has one."""
    num_slots = 3 if backend.kind == "async" else 1
    made = EngineFactory(lambda: backend.engine(ToneScript(hang_plans=frozenset(range(9)))))
    scheduler = open_scheduler(backend.spec(made, slots=3))
    inboxes = [speak(scheduler, [f"{number}"]) for number in range(5)]
    until(lambda: made.engines[0].num_plans == num_slots)
    assert scheduler.snapshot().num_workers_busy == scheduler.snapshot().num_workers == num_slots
    made.engines[0].released.set()
    for inbox in inboxes:
        inbox.wait_done()


def test_a_job_goes_to_a_worker_with_its_engine(backend: Backend, open_scheduler: Callable[..., Scheduler]) -> None:
    """Workers differ; a stream may use engines of several."""
    made = {name: EngineFactory(backend.engine) for name in "abc"}
    scheduler = open_scheduler(*(backend.spec(make, name, num_workers=1) for name, make in made.items()))
    inbox = Inbox()
    stream_id = scheduler.open(inbox)
    for number, name in enumerate("abcab"):
        scheduler.submit(stream_id, name, segment(f"{name} {number}", 100 * number), OPTIONS)
    inbox.wait_done(5)
    assert {name: make.engines[0].num_plans for name, make in made.items()} == {"a": 2, "b": 2, "c": 1}
    assert np.array_equal(inbox.samples(), sound(*(segment(f"{name} {at}") for at, name in enumerate("abcab"))))


def test_steps_stay_with_the_worker_that_holds_the_state(
    backend: Backend, open_scheduler: Callable[..., Scheduler]
) -> None:
    """An engine with local state refuses utterances planned by another instance; with two workers none is refused."""
    made = EngineFactory(lambda: backend.engine(local_state=True))
    scheduler = open_scheduler(backend.spec(made, num_workers=2))
    until(lambda: scheduler.snapshot().num_workers == 2)
    inboxes = [speak(scheduler, [f"{TEXT} {number}" * 3, "more"]) for number in range(12)]
    for number, inbox in enumerate(inboxes):
        inbox.wait_done(2)
        assert np.array_equal(inbox.samples(), sound(segment(f"{TEXT} {number}" * 3), segment("more")))
        assert {output.num_retries for output in inbox.rendered} == {0}
    assert not any(engine.held for engine in made.engines)


def test_a_worker_that_cannot_start_fails_the_open_call(
    backend: Backend, open_scheduler: Callable[..., Scheduler]
) -> None:
    """The error of an engine that cannot be built is raised; all engines already built are closed."""
    made = EngineFactory(backend.engine)

    def fail() -> AnyTone:
        raise VoiceNotReady("pull it")

    with pytest.raises(VoiceNotReady, match="pull it"):
        open_scheduler(backend.spec(made, "good", num_workers=1), backend.spec(fail, "bad", num_workers=1))
    until(lambda: all(engine.closed for engine in made.engines))
