"""Workers that crash, hang or fail to start, and engines that fail or break their contract."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from scheduler_streams import PATIENCE_S, EngineFactory, Inbox, ManualClock, one_worker, segment, sound, speak, until

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import AsyncToneEngine, ToneEngine, ToneScript
from yuliu.errors import SynthesisFailed
from yuliu.scheduler.observer import Unobserved
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.scheduler.scheduler import Scheduler
from yuliu.scheduler.settings import Settings
from yuliu.scheduler.workers.pool import GRACE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALL = frozenset(range(10_000))
TEXT = "one two three four five six seven"
SECRET = "xylophone"


class FailureCounter(Unobserved):
    """Counts lost workers and retries."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        self.num_retries = 0

    def worker_replaced(self, reason: Literal["crashed", "hung"]) -> None:
        self.lost.append(reason)

    def retried(self, engine: str) -> None:
        self.num_retries += 1


@pytest.fixture
def opened() -> Iterator[list[Scheduler]]:
    """Return a list of schedulers to be closed at the end."""
    schedulers: list[Scheduler] = []
    yield schedulers
    for scheduler in schedulers:
        scheduler.close()


def scripted(**script: object) -> Callable[[], ToneEngine]:
    return lambda: ToneEngine(ToneScript(**script))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def ignore_shared_schedulers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no worker of a scheduler shared by other tests count here."""
    monkeypatch.setattr(f"{__name__}.OTHERS", frozenset(threading.enumerate()))


OTHERS: frozenset[threading.Thread] = frozenset()


def worker_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("yuliu-worker") and each not in OTHERS]


def advance_until(scheduler: Scheduler, clock: ManualClock, condition: Callable[[], bool]) -> None:
    """Advance the clock of a scheduler by a second at a time, while no worker is busy, until the condition holds."""

    def tick() -> None:
        if not scheduler.snapshot().num_workers_busy:
            clock.now_s += 1
            scheduler.tick()

    until(condition, tick)


@pytest.mark.parametrize("error", [SystemExit, MemoryError])
def test_a_crashed_worker_is_replaced_without_loss(opened: list[Scheduler], error: type[BaseException]) -> None:
    """Its step is repeated on another worker; streams on other workers are not affected."""
    make, losses = EngineFactory(scripted(fail_steps=frozenset({2}), error=error), ToneEngine), FailureCounter()
    opened.append(
        Scheduler([local_spec("tone", make)], Settings(num_workers=2, tuning=Tuning(max_load=1e6)), observer=losses)
    )
    inboxes: list[Inbox] = []
    until(lambda: bool(losses.lost), lambda: inboxes.append(speak(opened[0], [f"{TEXT} {len(inboxes)}", "and more"])))
    for number, inbox in enumerate(inboxes):
        inbox.wait_done(2)
        assert np.array_equal(inbox.samples(), sound(segment(f"{TEXT} {number}"), segment("and more")))
    assert losses.lost == ["crashed"]
    assert len(worker_threads()) == 2


def test_a_hung_worker_is_replaced_and_its_late_result_discarded(opened: list[Scheduler]) -> None:
    """The watchdog gives it up; if its engine returns later, it is closed and its result ignored."""
    clock, make, losses = (
        ManualClock(),
        EngineFactory(scripted(hang_steps=frozenset({1})), ToneEngine),
        FailureCounter(),
    )
    settings = Settings(num_workers=2, tuning=Tuning(max_load=1e6))
    opened.append(Scheduler([local_spec("tone", make)], settings, clock=clock, observer=losses))
    hanging, (worker, *_) = make.engines[0], worker_threads()
    inboxes: list[Inbox] = []
    until(hanging.hung.is_set, lambda: inboxes.append(speak(opened[0], [f"{TEXT} {len(inboxes)}"])))
    until(lambda: opened[0].snapshot().num_workers_busy == 1)  # the other worker must not appear to hang
    clock.now_s += 9.9
    opened[0].tick()
    assert not losses.lost
    clock.now_s += 0.2
    opened[0].tick()
    for number, inbox in enumerate(inboxes):
        inbox.wait_done()
        assert np.array_equal(inbox.samples(), sound(segment(f"{TEXT} {number}")))
    num_outputs = [len(inbox.outputs) for inbox in inboxes]
    hanging.released.set()
    worker.join(PATIENCE_S)
    assert hanging.closed
    assert [len(inbox.outputs) for inbox in inboxes] == num_outputs
    assert losses.lost == ["hung"]
    assert {output.num_retries for inbox in inboxes for output in inbox.rendered[-1:]} in ({0, 1}, {1})


def test_work_that_hangs_twice_fails_only_its_stream(opened: list[Scheduler]) -> None:
    """The error names the reason, and the workers serve other streams."""
    clock, make = (
        ManualClock(),
        EngineFactory(scripted(hang_steps=frozenset({0})), scripted(hang_steps=frozenset({0})), ToneEngine),
    )
    opened.append(Scheduler([local_spec("tone", make)], one_worker(), clock=clock))
    inbox = speak(opened[0], [TEXT])
    for number in range(2):
        advance_until(opened[0], clock, lambda number=number: len(make.engines) > number)  # type: ignore[misc]
        assert make.engines[number].hung.wait(PATIENCE_S)
        clock.now_s += 10.2
        opened[0].tick()
    inbox.wait_until(lambda i: bool(i.broken))
    assert "hung" in str(inbox.broken[0].error)
    speak(opened[0], ["fine"]).wait_done()
    for engine in make.engines:
        engine.released.set()


@pytest.mark.parametrize("kind", ["hang_plans", "hang_steps"])
def test_a_call_that_never_answers_is_repeated_once_in_the_same_time(opened: list[Scheduler], kind: str) -> None:
    """An event loop builds no engine for the repetition, so no time is allowed for that. Its worker goes on."""
    clock, losses = ManualClock(), FailureCounter()
    engine = AsyncToneEngine(ToneScript(**{kind: frozenset({0, 1})}), manner="frames")  # type: ignore[arg-type]
    spec = local_spec("tone", lambda: engine, kind="async", slots=4)
    opened.append(Scheduler([spec], one_worker(), clock=clock, observer=losses))
    inbox = speak(opened[0], [TEXT])
    for number in range(2):
        advance_until(opened[0], clock, engine.hung.is_set)
        engine.hung.clear()
        clock.now_s += 10.2
        opened[0].tick()
        if number == 0:
            until(lambda: losses.num_retries == 1)
    inbox.wait_until(lambda i: bool(i.broken))
    assert not losses.lost
    speak(opened[0], ["fine"]).wait_done()


@pytest.mark.parametrize("goes_on", [True, False])
def test_workers_of_a_suspended_process_get_time_to_continue(opened: list[Scheduler], goes_on: bool) -> None:
    """Workers suspended with the process are not replaced; one that does hang is still found."""
    clock, make, losses = (
        ManualClock(),
        EngineFactory(scripted(hang_steps=frozenset({0})), ToneEngine),
        FailureCounter(),
    )
    opened.append(Scheduler([local_spec("tone", make)], one_worker(), clock=clock, observer=losses))
    inbox = speak(opened[0], [TEXT])
    assert make.engines[0].hung.wait(PATIENCE_S)
    clock.now_s += 3600
    opened[0].tick()
    assert not losses.lost
    if goes_on:
        make.engines[0].released.set()
    else:
        clock.now_s += GRACE_S
        opened[0].tick()
    inbox.wait_done()
    assert losses.lost == ([] if goes_on else ["hung"])
    assert np.array_equal(inbox.samples(), sound(segment(TEXT)))
    make.engines[0].released.set()


def test_the_time_limit_follows_the_usual_time_of_tasks(opened: list[Scheduler]) -> None:
    """A slow engine does not count as hung."""
    clock = ManualClock()
    make = EngineFactory(scripted(hang_steps=frozenset({0})))
    opened.append(Scheduler([local_spec("tone", make)], one_worker(hang_s=0.5), clock=clock))
    opened[0]._pool._usual_s["tone", False] = 0.1  # as if steps had taken this long
    inbox = speak(opened[0], [TEXT])
    assert make.engines[0].hung.wait(PATIENCE_S)
    clock.now_s += 1.9
    opened[0].tick()
    make.engines[0].released.set()
    inbox.wait_done()
    assert len(make.engines) == 1


def test_engines_that_cannot_be_rebuilt_fail_streams_until_they_can(
    opened: list[Scheduler], caplog: pytest.LogCaptureFixture
) -> None:
    """No stream waits for missing workers; building is retried after a while. The error's text stays private."""
    works = threading.Event()

    def make_or_fail() -> ToneEngine:
        if not works.is_set():
            raise RuntimeError(SECRET)
        return ToneEngine()

    clock, make = ManualClock(), EngineFactory(scripted(fail_steps=frozenset({1}), error=SystemExit), make_or_fail)
    opened.append(Scheduler([local_spec("tone", make)], one_worker(), clock=clock))
    inbox = speak(opened[0], [TEXT, TEXT])
    inbox.wait_until(lambda i: bool(i.broken))
    assert "no engine could be started" in str(inbox.broken[0].error)
    late = speak(opened[0], [TEXT])
    assert isinstance(late.broken[0].error, SynthesisFailed)
    assert (opened[0].num_streams, opened[0].num_jobs) == (0, 0)
    works.set()
    clock.now_s += 5.1
    opened[0].tick()
    speak(opened[0], ["fine"]).wait_done()
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("worker_lost")]
    assert "starting=False error=SystemExit at=tone.py:" in lines[0]
    assert "starting=True error=RuntimeError at=test_scheduler_failures.py:" in lines[1]
    assert SECRET not in caplog.text


def test_other_workers_continue_without_one_that_cannot_start(opened: list[Scheduler]) -> None:
    """The missing worker starts once that is possible."""
    failed = threading.Event()

    def fail() -> ToneEngine:
        failed.set()
        raise RuntimeError(SECRET)

    clock, make = ManualClock(), EngineFactory(ToneEngine, fail, ToneEngine)
    opened.append(Scheduler([local_spec("tone", make)], Settings(num_workers=2), clock=clock))
    assert failed.wait(PATIENCE_S)
    speak(opened[0], [TEXT]).wait_done()
    advance_until(opened[0], clock, lambda: opened[0].snapshot().num_workers == 2)
    assert len(make.engines) == 2


def test_an_engine_that_cannot_be_built_fails_the_open_call() -> None:
    """Opening a synthesizer raises the error, and engines already built are closed."""
    made = ToneEngine()

    def fail() -> ToneEngine:
        raise ValueError(SECRET)

    with pytest.raises(ValueError, match=SECRET):
        Scheduler([local_spec("good", lambda: made), local_spec("bad", fail)])
    assert made.closed
    assert not worker_threads()


def test_closing_does_not_wait_forever_for_a_hung_worker(caplog: pytest.LogCaptureFixture) -> None:
    """The log names the thread that is left behind."""
    engine = ToneEngine(ToneScript(hang_plans=frozenset({0})))
    scheduler = Scheduler([local_spec("tone", lambda: engine)], one_worker(close_s=0.01))
    inbox = speak(scheduler, [TEXT])
    assert engine.hung.wait(PATIENCE_S)
    scheduler.close()
    scheduler.close()
    assert inbox.broken[0].error.code == "closed"
    assert "worker_not_ended name=worker-0" in caplog.text
    (worker,) = worker_threads()
    engine.released.set()
    worker.join(PATIENCE_S)
    assert engine.closed


@pytest.mark.parametrize("spoil", ["short", "long", "lost", "still"])
def test_an_engine_that_breaks_its_contract_fails_and_never_loops(opened: list[Scheduler], spoil: str) -> None:
    """None of its result is used; the call is repeated once."""
    make = EngineFactory(scripted(spoil=spoil, spoil_steps=ALL))
    opened.append(Scheduler([local_spec("tone", make)], one_worker()))
    inbox = speak(opened[0], [TEXT])
    inbox.wait_until(lambda i: bool(i.broken))
    assert "broke its contract" in str(inbox.broken[0].error)
    assert not inbox.rendered
    assert sum(engine.num_steps for engine in make.engines) == 2


@pytest.mark.parametrize("manner", ["autoregressive", "remote"])
def test_missing_audio_fails_after_a_timeout(opened: list[Scheduler], manner: Literal["remote"]) -> None:
    """Engines of unknown length may wait for audio for 10 s, and once more for 10 s."""
    clock = ManualClock()

    def make() -> ToneEngine:
        return ToneEngine(ToneScript(spoil="still", spoil_steps=ALL), manner=manner)

    opened.append(Scheduler([local_spec("tone", make)], one_worker(), clock=clock))
    began_s = clock.now_s
    inbox = speak(opened[0], [TEXT])
    advance_until(opened[0], clock, lambda: bool(inbox.broken))
    assert "gave no sound for 10 s" in str(inbox.broken[0].error)
    assert clock.now_s - began_s >= 20
    assert not inbox.rendered


@pytest.mark.parametrize("manner", ["frames", "autoregressive", "remote"])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_an_exact_engine_repeats_failed_work_once(
    opened: list[Scheduler], manner: Literal["frames"], number: int
) -> None:
    """The listener does not notice. The only worker gets a new instance of the engine for the retry."""
    make = EngineFactory(
        lambda: ToneEngine(ToneScript(fail_steps=frozenset({number})), manner=manner),
        lambda: ToneEngine(manner=manner),
    )
    losses = FailureCounter()
    opened.append(Scheduler([local_spec("tone", make)], one_worker(), observer=losses))
    inbox = speak(opened[0], [TEXT * 5])
    inbox.wait_done()
    assert np.array_equal(inbox.samples(), sound(segment(TEXT * 5)))
    assert len(make.engines) == 2
    assert make.engines[0].closed
    assert losses.num_retries == 1
    assert not losses.lost


def test_an_inexact_engine_repeats_only_unheard_segments(opened: list[Scheduler]) -> None:
    """A segment with audio already out fails at once; a silent one starts again."""
    for number, fails in [(0, False), (1, True)]:
        make = EngineFactory(
            lambda number=number: ToneEngine(ToneScript(fail_steps=frozenset({number})), exact=False),  # type: ignore[misc]
            lambda: ToneEngine(exact=False),
        )
        opened.append(Scheduler([local_spec("tone", make)], one_worker()))
        inbox = speak(opened[-1], [TEXT * 5])
        inbox.wait_until(lambda i: bool(i.broken or i.done))
        assert bool(inbox.broken) is fails
        if not fails:
            assert np.array_equal(inbox.samples(), sound(segment(TEXT * 5)))


def test_a_failed_job_does_not_fail_its_batch(opened: list[Scheduler]) -> None:
    """The steps of a failed batch are repeated one by one."""

    class PoisonedEngine(ToneEngine):
        """Fails whenever a certain text is in a step."""

        def step(self, requests):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            if any("poison" in request.utterance.segment.text for request in requests):
                raise SynthesisFailed("poison")
            return super().step(requests)

    opened.append(Scheduler([local_spec("tone", PoisonedEngine)], one_worker(tuning=Tuning(max_load=100.0))))
    inboxes = [speak(opened[0], [f"{TEXT} {number}" if number else "poison"]) for number in range(8)]
    inboxes[0].wait_until(lambda i: bool(i.broken))
    for inbox in inboxes[1:]:
        inbox.wait_done()
