"""Metrics of admission."""

from __future__ import annotations

import threading
from dataclasses import replace

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.scheduler.observer import Unobserved
from yuliu.scheduler.outputs import Admitted, Broken, Output
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.scheduler.scheduler import Scheduler
from yuliu.scheduler.settings import Settings
from yuliu.types import StreamClass

RULES = Tuning().classes[StreamClass.STANDARD]
ONE_WAITS = Tuning(max_load=1e-9, classes=dict.fromkeys(StreamClass, replace(RULES, max_waiting=1, max_wait_s=1e6)))
"""Settings that admit one stream and queue another."""


class DecisionRecorder(Unobserved):
    """Records admission decisions."""

    def __init__(self) -> None:
        self.calls: list[tuple[StreamClass, str, str]] = []

    def admission(self, stream_class: StreamClass, decision: str, *, reason: str = "") -> None:
        self.calls.append((stream_class, decision, reason))


def test_each_admission_decision_is_observed_once() -> None:
    """Streams are admitted at once, queued and then admitted, or rejected at once."""
    decisions, first_is_in, second_is_in = DecisionRecorder(), threading.Event(), threading.Event()
    outputs: list[Output] = []
    settings = Settings(num_workers=1, tuning=ONE_WAITS)
    scheduler = Scheduler([local_spec("tone", ToneEngine)], settings, clock=lambda: 10.0, observer=decisions)
    terms = Terms(StreamClass.STANDARD)
    warming = scheduler.open(lambda output: first_is_in.set() if isinstance(output, Admitted) else None, terms=terms)
    assert first_is_in.wait(10), "the worker is there"
    scheduler.close_stream(warming)
    decisions.calls.clear()
    first = scheduler.open(outputs.append, terms=terms)
    scheduler.open(lambda output: second_is_in.set() if isinstance(output, Admitted) else None, terms=terms)
    third: list[Output] = []
    scheduler.open(third.append, terms=terms)
    assert isinstance(third[0], Broken)
    scheduler.close_stream(first)
    assert second_is_in.wait(10)
    scheduler.close()
    outcomes = [(decision, reason) for _, decision, reason in decisions.calls]
    assert outcomes == [("admitted", ""), ("queued", ""), ("rejected", "queue_full"), ("admitted", "")]
