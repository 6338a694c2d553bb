"""Duration of work for a stream after its cancellation."""

from __future__ import annotations

import threading

import pytest

from yuliu.engines.api import PlanOptions
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.scheduler.observer import Unobserved
from yuliu.scheduler.scheduler import Scheduler
from yuliu.scheduler.settings import Settings
from yuliu.types import Boundary, Segment, Span, SpeakOptions

TEXT = "one two three"
SEGMENT = Segment(TEXT, Span(0, len(TEXT)), tuple(range(len(TEXT))), Boundary.SENTENCE, "en")


class CancelRecorder(Unobserved):
    """Records the durations of cancellations."""

    def __init__(self) -> None:
        self.took_s: list[float] = []
        self.done = threading.Event()

    def cancelled(self, took_s: float) -> None:
        self.took_s.append(took_s)
        self.done.set()


@pytest.mark.parametrize("script", [ToneScript(hang_plans=frozenset({0})), ToneScript(hang_steps=frozenset({0}))])
def test_a_cancellation_ends_when_no_worker_is_busy_with_it(script: ToneScript) -> None:
    """The plan or step under way is finished and discarded first."""
    now, cancels, engine = [10.0], CancelRecorder(), ToneEngine(script)
    scheduler = Scheduler(
        [local_spec("tone", lambda: engine)], Settings(num_workers=1), clock=lambda: now[0], observer=cancels
    )
    outputs: list[object] = []
    stream_id = scheduler.open(outputs.append)
    scheduler.submit(stream_id, "tone", SEGMENT, PlanOptions(SpeakOptions(), 0.02, 0.1))
    assert engine.hung.wait(10)
    scheduler.close_stream(stream_id, cancelled=True)
    num_outputs = len(outputs)
    assert not cancels.took_s
    now[0] = 10.25
    engine.released.set()
    assert cancels.done.wait(10)
    scheduler.close()
    assert cancels.took_s == [0.25]
    assert len(outputs) == num_outputs


def test_a_cancellation_ends_with_the_last_busy_worker() -> None:
    """Two segments may be planned at a time, on two workers."""
    cancels, engines = CancelRecorder(), [ToneEngine(ToneScript(hang_plans=frozenset({0}))) for _ in range(2)]
    left = list(engines)
    scheduler = Scheduler([local_spec("tone", lambda: left.pop(0))], Settings(num_workers=2), observer=cancels)
    stream_id = scheduler.open(lambda _: None)
    for _ in range(2):
        scheduler.submit(stream_id, "tone", SEGMENT, PlanOptions(SpeakOptions(), 0.02, 0.1))
    assert all(engine.hung.wait(10) for engine in engines)
    scheduler.close_stream(stream_id, cancelled=True)
    engines[0].released.set()
    while scheduler.snapshot().num_workers_busy == 2:
        threading.Event().wait(0.001)
    assert not cancels.took_s
    engines[1].released.set()
    assert cancels.done.wait(10)
    scheduler.close()
    assert len(cancels.took_s) == 1


@pytest.mark.parametrize(("cancelled", "took_s"), [(True, [0.0]), (False, [])])
def test_a_cancellation_without_work_ends_at_once(cancelled: bool, took_s: list[float]) -> None:
    """Streams that ended by themselves do not count as cancelled."""
    cancels = CancelRecorder()
    scheduler = Scheduler([local_spec("tone", ToneEngine)], Settings(num_workers=1), observer=cancels)
    scheduler.close_stream(scheduler.open(lambda _: None), cancelled=cancelled)
    scheduler.close_stream(99, cancelled=True)
    scheduler.close()
    assert cancels.took_s == took_s
