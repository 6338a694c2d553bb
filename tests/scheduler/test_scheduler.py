"""The scheduler and its worker threads, with the tone engine."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import threading
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scheduler_streams import OPTIONS, PATIENCE_S, Inbox, ManualClock, one_worker, segment, sound, speak

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import Closed, SynthesisFailed
from yuliu.scheduler.outputs import Admitted, Broken, Output, Planned, Rendered
from yuliu.scheduler.policy.events import SegmentReady, Step, StepFinished, StreamOpened, Terms
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.scheduler.scheduler import Scheduler
from yuliu.scheduler.settings import Settings
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from yuliu.scheduler.policy.events import Action, Event


@pytest.fixture(autouse=True)
def no_worker_is_lost(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check that no test loses a worker: replacement would hide bugs in the scheduler."""
    yield
    assert not [record for record in caplog.get_records("call") if "worker_lost" in record.getMessage()]


@pytest.fixture
def schedulers() -> Iterator[Callable[[ToneEngine], Scheduler]]:
    made: list[Scheduler] = []

    def make(engine: ToneEngine) -> Scheduler:
        made.append(Scheduler([local_spec("tone", lambda: engine)], Settings(num_workers=1)))
        return made[-1]

    yield make
    for scheduler in made:
        scheduler.close()


def test_segments_come_out_complete_and_in_order(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """The samples of a stream are those of its segments one after the other."""
    scheduler, inbox = schedulers(ToneEngine()), Inbox()
    stream_id = scheduler.open(inbox)
    segments = [segment("one two three", 0), segment("four five", 20)]
    for each in segments:
        scheduler.submit(stream_id, "tone", each, OPTIONS)
    inbox.wait_until(lambda i: i.done == 2)
    assert np.array_equal(inbox.samples(), sound(*segments))
    assert scheduler.num_jobs == 0


@pytest.mark.parametrize("error", [SynthesisFailed, ValueError])
@pytest.mark.parametrize("script", [{"fail_plans": frozenset({0, 1})}, {"fail_steps": frozenset({1, 2})}])
def test_a_failing_engine_fails_only_its_stream(
    schedulers: Callable[[ToneEngine], Scheduler], script: dict[str, frozenset[int]], error: type[Exception]
) -> None:
    """The stream gets one error as its last output; the next stream on the same worker is served."""
    scheduler, inbox, other = schedulers(ToneEngine(ToneScript(**script, error=error))), Inbox(), Inbox()  # type: ignore[arg-type]
    scheduler.submit(scheduler.open(inbox), "tone", segment("a b c d e f g h i j"), OPTIONS)
    inbox.wait_until(lambda i: bool(i.broken))
    assert isinstance(inbox.outputs[-1], Broken)
    assert isinstance(inbox.broken[0].error, SynthesisFailed)
    assert error is SynthesisFailed or isinstance(inbox.broken[0].error.__cause__, error)
    scheduler.submit(scheduler.open(other), "tone", segment("fine"), OPTIONS)
    other.wait_until(lambda i: i.done == 1)
    assert scheduler.num_jobs == 0


def test_a_closed_stream_gets_no_further_output(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """After close_stream has returned, the step under way is discarded and no other one starts."""
    step_began, may_go_on = threading.Event(), threading.Event()

    def sleep(duration_s: float) -> None:
        if duration_s > 0:
            step_began.set()
            assert may_go_on.wait(10)

    engine = ToneEngine(ToneScript(step_s_per_frame=1.0), sleep=sleep)
    scheduler, inbox, other = schedulers(engine), Inbox(), Inbox()
    stream_id = scheduler.open(inbox)
    scheduler.submit(stream_id, "tone", segment("a b c d e f g h i j"), OPTIONS)
    assert step_began.wait(10)
    scheduler.close_stream(stream_id)
    may_go_on.set()
    scheduler.submit(scheduler.open(other), "tone", segment("x"), OPTIONS)
    other.wait_until(lambda i: i.done == 1)
    assert [type(output) for output in inbox.outputs] == [Admitted, Planned]
    assert engine.num_steps == 2
    assert scheduler.num_streams == 1


def test_a_stalled_reader_pauses_its_stream(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """A bounded amount of audio is made ahead; reading some makes more."""
    engine = ToneEngine()
    scheduler, inbox, other = schedulers(engine), Inbox(), Inbox()
    stream_id = scheduler.open(inbox)
    scheduler.submit(stream_id, "tone", segment("word " * 200), OPTIONS)
    scheduler.submit(scheduler.open(other), "tone", segment("x"), OPTIONS)
    other.wait_until(lambda i: i.done == 1)
    inbox.wait_until(lambda i: len(i.samples()) > 4 * 24_000)
    paused_at = len(inbox.samples())
    assert paused_at < 6 * 24_000
    scheduler.taken(stream_id, paused_at / 24_000)
    inbox.wait_until(lambda i: len(i.samples()) > paused_at)


def test_closing_ends_the_workers_and_closes_the_engines() -> None:
    """After close the threads are gone, the engine is closed, and opening a stream raises an error."""
    engine = ToneEngine()
    before = set(threading.enumerate())
    scheduler = Scheduler([local_spec("tone", lambda: engine)], Settings(num_workers=1))
    assert len(set(threading.enumerate()) - before) == 2  # a worker and the timer
    scheduler.submit(scheduler.open(Inbox()), "tone", segment("word " * 100), OPTIONS)
    scheduler.close()
    assert engine.closed
    assert not set(threading.enumerate()) - before
    with pytest.raises(Closed):
        scheduler.open(Inbox())


USED_AFTER_FORK = """
import os, signal
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.errors import Closed
from yuliu.synthesizer import Synthesizer

with Synthesizer([local_spec("tone", ToneEngine)], {"tone": {"en": "tone"}}, default="tone") as synthesizer:
    synthesizer.speak("a")
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            synthesizer.speak("a")
        except Closed as error:
            synthesizer.close()
            os._exit(7 if "fork" in error.message else 8)
    status = os.waitpid(child, 0)[1]
    synthesizer.speak("a")
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform does not fork")
def test_a_forked_process_must_open_its_own_scheduler() -> None:
    """A child has none of the threads: using or closing its copy returns at once, and the parent continues."""
    finished = subprocess.run([sys.executable, "-W", "ignore", "-c", USED_AFTER_FORK], check=False)
    assert finished.returncode == 7


class HoldingSleep:
    """A ``sleep`` for the engine that blocks once, in the call with the given number."""

    def __init__(self, number: int) -> None:
        self._left = number
        self.reached, self.may_go_on = threading.Event(), threading.Event()

    def __call__(self, _: float) -> None:
        self._left -= 1
        if self._left == -1:
            self.reached.set()
            assert self.may_go_on.wait(PATIENCE_S)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (0, [Admitted]),  # during its plan
        (1, [Admitted, Planned]),  # in its first step
        (2, [Admitted, Planned, Rendered]),  # after its first audio
        (None, [Admitted, Planned, Rendered]),  # complete and not read
    ],
)
def test_cancel_in_every_state(
    schedulers: Callable[[ToneEngine], Scheduler], call: int | None, expected: list[type[Output]]
) -> None:
    """No further output comes, no state is left, and the worker serves the next stream."""
    held = HoldingSleep(-1 if call is None else call)
    scheduler = schedulers(ToneEngine(sleep=held))
    inbox, text = Inbox(), "a" if call is None else "a b c d e f g h i j k l m n o p"
    stream_id = scheduler.open(inbox)
    scheduler.submit(stream_id, "tone", segment(text), OPTIONS)
    if call is None:
        inbox.wait_done()
    else:
        assert held.reached.wait(PATIENCE_S)
    scheduler.close_stream(stream_id)
    assert (scheduler.num_streams, scheduler.num_jobs) == (0, 0)
    assert not scheduler._streams._requests
    held.may_go_on.set()
    speak(scheduler, ["x"]).wait_done()
    assert [type(output) for output in inbox.outputs] == expected


def test_cancel_while_waiting_for_admission(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """Its place is free, and no admission is reported."""
    held = HoldingSleep(1)
    scheduler = schedulers(ToneEngine(sleep=held))
    scheduler.tune(Tuning(max_load=0.001))
    first = speak(scheduler, ["a b c d"])
    assert held.reached.wait(PATIENCE_S)
    waiting, next_one = Inbox(), Inbox()
    scheduler.close_stream(scheduler.open(waiting))
    scheduler.submit(scheduler.open(next_one), "tone", segment("x"), OPTIONS)
    assert scheduler.snapshot().queue_depth[StreamClass.STANDARD] == 1
    held.may_go_on.set()
    first.wait_done()
    next_one.wait_done()
    assert not waiting.outputs


def test_a_sink_may_close_its_stream(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """The close takes effect after the decision under way."""
    scheduler = schedulers(ToneEngine())
    outputs: list[Output] = []

    def close_at(cls: type[Output]) -> None:
        def sink(output: Output) -> None:
            outputs.append(output)
            if isinstance(output, cls):
                scheduler.close_stream(stream_id)

        stream_id = -1
        with scheduler._lock:  # so that the id is known before the first call
            stream_id = scheduler.open(sink)
            scheduler.submit(stream_id, "tone", segment("a b c d e f"), OPTIONS)

    for cls in (Planned, Rendered):
        close_at(cls)
        speak(scheduler, ["x"]).wait_done()
        assert isinstance(outputs[-1], cls)
    assert (scheduler.num_streams, scheduler.num_jobs) == (2, 0)


def test_a_sink_may_close_its_stream_on_admission(
    schedulers: Callable[[ToneEngine], Scheduler],
) -> None:
    """Its text was there before: the decision that admits it also orders its plan. Other streams continue."""
    held = HoldingSleep(1)
    scheduler = schedulers(ToneEngine(sleep=held))
    scheduler.tune(Tuning(max_load=0.001))
    first, second, outputs = speak(scheduler, ["a b c d"]), -1, []

    def sink(output: Output) -> None:
        outputs.append(type(output))
        scheduler.close_stream(second)

    assert held.reached.wait(PATIENCE_S)
    second = scheduler.open(sink)
    scheduler.submit(second, "tone", segment("never spoken"), OPTIONS)
    third = speak(scheduler, ["x"])
    held.may_go_on.set()
    first.wait_done()
    third.wait_done()
    assert outputs == [Admitted]
    assert not scheduler._streams._requests


def test_late_audio_is_polled_again_soon() -> None:
    """Thirty polls without other work take no longer than necessary: the timer is woken for each."""
    engine = ToneEngine(ToneScript(num_still_polls=30), manner="remote")
    scheduler = Scheduler([local_spec("tone", lambda: engine)], one_worker())
    speak(scheduler, ["你"]).wait_done()
    assert engine.num_steps == 3 * 31
    scheduler.close()


def test_mixed_streams_have_the_same_audio_as_alone() -> None:
    """64 streams of all classes and kinds of engine, some cancelled, have the expected samples."""
    chance = random.Random(4)
    specs = [
        local_spec("frames", ToneEngine),
        local_spec("late", lambda: ToneEngine(manner="autoregressive")),
        local_spec("far", lambda: ToneEngine(manner="remote")),
    ]
    scheduler = Scheduler(specs, Settings(num_workers=4, tuning=Tuning(max_load=1000.0)))
    streams = []
    for number in range(64):
        terms = Terms(chance.choice([StreamClass.INTERACTIVE, StreamClass.STANDARD, StreamClass.BULK]))
        texts = [f"{number} " + "word " * chance.randrange(8) for _ in range(chance.randint(1, 4))]
        engine = chance.choice(["frames", "frames", "late", "far"])
        streams.append((texts, speak(scheduler, texts, engine=engine, terms=terms)))
        if number % 4 == 0:
            cancelled = Inbox()
            stream_id = scheduler.open(cancelled, (engine,), terms)
            scheduler.submit(stream_id, engine, segment("never heard to its end"), OPTIONS)
            scheduler.close_stream(stream_id)
    for texts, inbox in streams:
        inbox.wait_done(len(texts))
        assert np.array_equal(inbox.samples(), sound(*map(segment, texts)))
        scheduler.close_stream(inbox.stream_id)
    assert (scheduler.num_streams, scheduler.num_jobs) == (0, 0)
    scheduler.close()


@pytest.mark.parametrize("cache_bytes", [0, 1_000_000])
def test_a_stalled_stream_costs_less_than_a_megabyte(cache_bytes: int) -> None:
    """Streams that are not read are paused early: audio, plans and all other state count."""
    scheduler = Scheduler(
        [local_spec("tone", ToneEngine)], one_worker(cache_bytes=cache_bytes, tuning=Tuning(max_load=1000.0))
    )
    speak(scheduler, ["warm up"]).wait_done()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    inboxes = [speak(scheduler, ["word " * 45 + str(number)] * 16) for number in range(8)]
    for inbox in inboxes:
        inbox.wait_until(lambda i: len(i.samples()) > 4 * 24_000)
    speak(scheduler, ["another one"]).wait_done()
    gc.collect()
    per_stream = (tracemalloc.get_traced_memory()[0] - before) / len(inboxes)
    tracemalloc.stop()
    assert 4 * 24_000 * 4 < per_stream < 1_000_000
    scheduler.close()


def test_each_event_is_recorded_with_its_actions() -> None:
    """Events are in order, with times that do not decrease, and none is missing."""
    records: list[tuple[float, Event, Sequence[Action]]] = []
    settings = one_worker(record=lambda engines, tuning: lambda *record: records.append(record))
    scheduler = Scheduler([local_spec("tone", ToneEngine)], settings)
    speak(scheduler, ["one two three"]).wait_done()
    scheduler.close()
    events = [event for _, event, _ in records]
    assert {StreamOpened, SegmentReady, StepFinished} <= {type(event) for event in events}
    times = [now for now, _, _ in records]
    assert times == sorted(times)
    ordered = sum(isinstance(action, Step) for _, _, actions in records for action in actions)
    assert ordered == sum(isinstance(event, StepFinished) for event in events)


def test_an_adaptive_scheduler_follows_its_controller() -> None:
    """Late first packets make steps smaller, once a second."""
    clock = ManualClock()
    scheduler = Scheduler([local_spec("tone", ToneEngine)], one_worker(adaptive=True), clock=clock)
    before = scheduler.tuning.step_budget_s
    for _ in range(8):
        inbox = speak(scheduler, ["one two three"])
        inbox.wait_done()
        clock.now_s += 1.1  # as if the step had taken this long
        scheduler.taken(inbox.stream_id, 0.1)
        scheduler.tick()
        scheduler.close_stream(inbox.stream_id)
    assert scheduler.tuning.step_budget_s < before
    assert scheduler.tuning.num_workers == 1
    scheduler.close()
