"""Streams that use the scheduler directly, and the audio that is expected of them."""

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
"""Timeout that only a failing test meets."""


def segment(text: str, start: int = 0) -> Segment:
    """Return a sentence at a place in the source."""
    end = start + len(text)
    return Segment(text, Span(start, end), tuple(range(start, end)), Boundary.SENTENCE, "en")


def sound(*segments: Segment) -> Samples:
    """Return the audio of the weightless engine for segments, one after the other."""
    plans = [ToneEngine().plan(each, OPTIONS) for each in segments]
    return np.concatenate([tone(plan.segment, 0, ToneEngine.HOP * (plan.num_frames or 0)) for plan in plans])


@dataclass
class Inbox:
    """Inbox that collects a stream's outputs and lets a test wait for them."""

    outputs: list[Output] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    stream_id: int = -1

    def __call__(self, output: Output) -> None:
        with self.arrived:
            self.outputs.append(output)
            self.arrived.notify_all()

    def wait_until(self, condition: Callable[[Inbox], bool]) -> None:
        """Wait until the outputs meet a condition."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: condition(self), timeout=PATIENCE_S), self.outputs

    def wait_done(self, num_segments: int = 1) -> None:
        """Wait until a number of segments is complete."""
        self.wait_until(lambda inbox: inbox.done >= num_segments or bool(inbox.broken))
        assert not self.broken

    @property
    def done(self) -> int:
        """Number of complete segments."""
        return sum(isinstance(output, Rendered) and output.utterance.done for output in self.outputs)

    @property
    def planned(self) -> list[Planned]:
        """Plans so far."""
        return [output for output in self.outputs if isinstance(output, Planned)]

    @property
    def rendered(self) -> list[Rendered]:
        """Rendered steps so far."""
        return [output for output in self.outputs if isinstance(output, Rendered)]

    @property
    def broken(self) -> list[Broken]:
        """Errors so far, at most one."""
        return [output for output in self.outputs if isinstance(output, Broken)]

    def samples(self) -> Samples:
        """Return all audio so far."""
        return np.concatenate([np.zeros(0, np.float32), *(output.samples for output in self.rendered)])


@dataclass
class ManualClock:
    """Manual clock."""

    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


class EngineFactory:
    """Factory that makes the given engines in order, and then the last one repeatedly."""

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
    """Open a stream and submit a segment for each text."""
    inbox = Inbox()
    inbox.stream_id = stream_id = scheduler.open(inbox, (engine,), terms)
    for number, text in enumerate(texts):
        scheduler.submit(stream_id, engine, segment(text, 100 * number), OPTIONS)
    scheduler.end_text(stream_id)
    return inbox


def until(condition: Callable[[], bool], do: Callable[[], None] = lambda: None) -> None:
    """Repeat an action until a condition holds."""
    for _ in range(10_000):
        if condition():
            return
        do()
        threading.Event().wait(0.001)  # workers need a moment of real time
    raise AssertionError("it never happened")


def one_worker(**changes: object) -> Settings:
    """Return settings with one worker, with changes."""
    return replace(Settings(num_workers=1), **changes)  # type: ignore[arg-type]
