"""Streams of a scheduler without a session: what they are given, and what they should be."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from yuliu.engines.api import PlanOptions
from yuliu.engines.tone import ToneEngine, tone
from yuliu.scheduler.outputs import Broken, Output, Planned, Rendered
from yuliu.scheduler.settings import Settings
from yuliu.types import Boundary, Segment, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.scheduler.policy.events import Terms
    from yuliu.scheduler.scheduler import Scheduler
    from yuliu.types import Samples

OPTIONS = PlanOptions(SpeakOptions(), lead_s=0.025, tail_s=0.1)
PATIENCE_S = 20.0
"""How long anything may take that must happen; only met by a test that fails."""


def segment(text: str, start: int = 0) -> Segment:
    """A sentence at a place."""
    end = start + len(text)
    return Segment(text, Span(start, end), tuple(range(start, end)), Boundary.SENTENCE, "en")


def sound(*segments: Segment) -> Samples:
    """What the weightless engine makes of segments, one after the other."""
    plans = [ToneEngine().plan(each, OPTIONS) for each in segments]
    return np.concatenate([tone(plan.segment, 0, ToneEngine.HOP * (plan.num_frames or 0)) for plan in plans])


@dataclass
class Inbox:
    """Collects a stream's outputs and lets a test wait for some of them."""

    outputs: list[Output] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    stream_id: int = -1

    def __call__(self, output: Output) -> None:
        with self.arrived:
            self.outputs.append(output)
            self.arrived.notify_all()

    def wait_until(self, condition: Callable[[Inbox], bool]) -> None:
        """Wait for outputs."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: condition(self), timeout=PATIENCE_S), self.outputs

    def wait_done(self, num_segments: int = 1) -> None:
        """Wait until so many segments are spoken to their end."""
        self.wait_until(lambda inbox: inbox.done >= num_segments or bool(inbox.broken))
        assert not self.broken

    @property
    def done(self) -> int:
        """Segments that are spoken to their end."""
        return sum(isinstance(output, Rendered) and output.utterance.done for output in self.outputs)

    @property
    def planned(self) -> list[Planned]:
        """The plans."""
        return [output for output in self.outputs if isinstance(output, Planned)]

    @property
    def rendered(self) -> list[Rendered]:
        """The steps."""
        return [output for output in self.outputs if isinstance(output, Rendered)]

    @property
    def broken(self) -> list[Broken]:
        """The errors: one at most."""
        return [output for output in self.outputs if isinstance(output, Broken)]

    def samples(self) -> Samples:
        """All sound so far."""
        return np.concatenate([np.zeros(0, np.float32), *(output.samples for output in self.rendered)])


@dataclass
class ManualClock:
    """A clock that stands still until it is told to go on."""

    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


class EngineFactory:
    """Makes engines, one after the other as a test wants them; the last one again and again."""

    def __init__(self, *makers: Callable[[], Any]) -> None:
        self._makers = makers
        self.engines: list[Any] = []
        self.num_calls = 0

    def __call__(self) -> Any:
        maker = self._makers[min(self.num_calls, len(self._makers) - 1)]
        self.num_calls += 1
        self.engines.append(maker())
        return self.engines[-1]


def speak(scheduler: Scheduler, texts: Sequence[str], *, engine: str = "tone", terms: Terms | None = None) -> Inbox:
    """A new stream of these segments, at places of its own."""
    inbox = Inbox()
    inbox.stream_id = stream_id = scheduler.open(inbox, (engine,), terms)
    for number, text in enumerate(texts):
        scheduler.submit(stream_id, engine, segment(text, 100 * number), OPTIONS)
    scheduler.end_text(stream_id)
    return inbox


def until(condition: Callable[[], bool], do: Callable[[], None] = lambda: None) -> None:
    """Wait for a condition, and do something meanwhile, again and again."""
    for _ in range(10_000):
        if condition():
            return
        do()
        threading.Event().wait(0.001)  # workers need a moment of real time
    raise AssertionError("it never happened")


def one_worker(**changes: object) -> Settings:
    """Settings of one worker, with changes."""
    return replace(Settings(num_workers=1), **changes)  # type: ignore[arg-type]
