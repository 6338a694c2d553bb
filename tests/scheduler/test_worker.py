"""The threads that own the engines, driven by the weightless engine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from yuliu.engines.api import PlanOptions
from yuliu.engines.tone import ToneEngine, ToneScript, tone
from yuliu.errors import Closed, SynthesisFailed
from yuliu.scheduler.worker import Admitted, Broken, Output, Planned, Rendered, Scheduler, Settings
from yuliu.types import Boundary, Segment, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPTIONS = PlanOptions(SpeakOptions(), lead_s=0.025, tail_s=0.1)


def segment(text: str, start: int = 0) -> Segment:
    end = start + len(text)
    return Segment(text, Span(start, end), tuple(range(start, end)), Boundary.SENTENCE, "en")


@dataclass
class Inbox:
    """Collects a stream's outputs and lets a test wait for some of them."""

    outputs: list[Output] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def __call__(self, output: Output) -> None:
        with self.arrived:
            self.outputs.append(output)
            self.arrived.notify_all()

    def wait_until(self, condition: Callable[[Inbox], bool]) -> None:
        with self.arrived:
            assert self.arrived.wait_for(lambda: condition(self), timeout=10)

    @property
    def done(self) -> int:
        return sum(isinstance(output, Rendered) and output.utterance.done for output in self.outputs)

    @property
    def broken(self) -> list[Broken]:
        return [output for output in self.outputs if isinstance(output, Broken)]

    def samples(self) -> list[float]:
        return [s for output in self.outputs if isinstance(output, Rendered) for s in output.samples.tolist()]


@pytest.fixture
def schedulers() -> Iterator[Callable[[ToneEngine], Scheduler]]:
    made: list[Scheduler] = []

    def make(engine: ToneEngine) -> Scheduler:
        made.append(Scheduler({"tone": lambda: engine}, Settings(num_lanes=1)))
        return made[-1]

    yield make
    for scheduler in made:
        scheduler.close()


def test_segments_come_out_in_order_and_whole(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """The samples of a stream are those of its segments one after the other."""
    scheduler, inbox = schedulers(ToneEngine()), Inbox()
    stream_id = scheduler.open(inbox)
    segments = [segment("one two three", 0), segment("four five", 20)]
    for each in segments:
        scheduler.submit(stream_id, "tone", each, OPTIONS)
    inbox.wait_until(lambda i: i.done == 2)
    plans = [ToneEngine().plan(each, OPTIONS) for each in segments]
    expected = [tone(plan.segment, 0, ToneEngine.HOP * (plan.num_frames or 0)) for plan in plans]
    assert np.array_equal(np.array(inbox.samples(), np.float32), np.concatenate(expected))
    assert scheduler.num_jobs == 0


@pytest.mark.parametrize("error", [SynthesisFailed, ValueError])
@pytest.mark.parametrize("script", [{"fail_plans": frozenset({0, 1})}, {"fail_steps": frozenset({1, 2})}])
def test_a_failing_engine_breaks_its_stream_and_no_other(
    schedulers: Callable[[ToneEngine], Scheduler], script: dict[str, frozenset[int]], error: type[Exception]
) -> None:
    """The stream gets one error as its last output; the next stream on the same lane is served."""
    scheduler, inbox, other = schedulers(ToneEngine(ToneScript(**script, error=error))), Inbox(), Inbox()  # type: ignore[arg-type]
    scheduler.submit(scheduler.open(inbox), "tone", segment("a b c d e f g h i j"), OPTIONS)
    inbox.wait_until(lambda i: bool(i.broken))
    assert isinstance(inbox.outputs[-1], Broken)
    assert isinstance(inbox.broken[0].error, SynthesisFailed)
    assert error is SynthesisFailed or isinstance(inbox.broken[0].error.__cause__, error)
    scheduler.submit(scheduler.open(other), "tone", segment("fine"), OPTIONS)
    other.wait_until(lambda i: i.done == 1)
    assert scheduler.num_jobs == 0


def test_nothing_of_a_closed_stream_comes_any_more(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """After close_stream returns, the step that was under way is thrown away and no other is begun."""
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


def test_a_reader_that_does_not_read_stops_its_stream(schedulers: Callable[[ToneEngine], Scheduler]) -> None:
    """A bounded amount of sound is made ahead; taking some makes more."""
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


def test_closing_ends_the_lanes_and_the_engines() -> None:
    """After close the threads are gone, the engine is closed, and opening says so."""
    engine = ToneEngine()
    scheduler = Scheduler({"tone": lambda: engine}, Settings(num_lanes=1))
    scheduler.submit(scheduler.open(Inbox()), "tone", segment("word " * 100), OPTIONS)
    scheduler.close()
    assert engine.closed
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("yuliu-")]
    with pytest.raises(Closed):
        scheduler.open(Inbox())


USED_AFTER_FORK = """
import os, signal
from yuliu.engines.tone import ToneEngine
from yuliu.errors import Closed
from yuliu.speaker import Speaker

with Speaker({"tone": ToneEngine}, {"tone": {"en": "tone"}}, default="tone") as speaker:
    speaker.speak("a")
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            speaker.speak("a")
        except Closed as error:
            speaker.close()
            os._exit(7 if "fork" in error.message else 8)
    status = os.waitpid(child, 0)[1]
    speaker.speak("a")
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform does not fork")
def test_a_forked_process_is_told_to_open_its_own() -> None:
    """A child has none of the threads: using or closing its copy ends at once, and the parent goes on speaking."""
    finished = subprocess.run([sys.executable, "-W", "ignore", "-c", USED_AFTER_FORK], check=False)
    assert finished.returncode == 7
