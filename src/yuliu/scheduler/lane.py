"""A lane: a thread that owns one instance of every engine and does one thing at a time."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.engines.api import StepRequest
from yuliu.errors import SynthesisFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from yuliu.engines.api import Engine, PlanOptions, Utterance
    from yuliu.types import Samples, Segment


@dataclass(slots=True)
class Work:
    """A job as the lanes see it."""

    job_id: int
    stream_id: int
    engine: str
    segment: Segment
    options: PlanOptions
    utterance: Utterance | None = None
    """As planned, then as far as it is rendered."""
    num_retries: int = 0
    """How often work on it has failed."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a lane shall do: plan one job (``num_frames`` None), or step one or more of one engine."""

    works: tuple[Work, ...]
    num_frames: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What came of one job in a task."""

    work: Work
    before: Utterance | None
    """None if it was planned."""
    utterance: Utterance
    samples: Samples | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task."""

    lane: Lane
    task: Task
    made: tuple[Made, ...]
    took_s: float
    error: SynthesisFailed | None = None


class Lane:
    """One worker thread.

    Args:
        name: Its name.
        factories: Make the engines, on the lane's thread.
        up: Called on the thread when the engines are there.
        done: Called on the thread with the outcome of each task.
    """

    def __init__(
        self,
        name: str,
        factories: Mapping[str, Callable[[], Engine]],
        *,
        up: Callable[[Lane], None],
        done: Callable[[Outcome], None],
    ) -> None:
        self.name = name
        self.engines: dict[str, Engine] = {}
        self.busy_since_s: float | None = None
        """When the task under way was given; None when idle."""
        self._factories = factories
        self._up, self._done = up, done
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"yuliu-{name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def give(self, task: Task) -> None:
        """Let it do a task; it must be idle."""
        self._tasks.put(task)

    def stop(self) -> None:
        """Let it end once it is idle, and close its engines."""
        self._tasks.put(None)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until it has ended."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        self.engines = {name: make() for name, make in self._factories.items()}
        self._up(self)
        while (task := self._tasks.get()) is not None:
            self._done(self._perform(task))
        for engine in self.engines.values():
            engine.close()

    def _perform(self, task: Task) -> Outcome:
        began = time.perf_counter()
        made: tuple[Made, ...] = ()
        failure: SynthesisFailed | None = None
        try:
            made = self._make(task)
        except SynthesisFailed as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - the one boundary to code that is not ours: nothing is hidden
            failure = SynthesisFailed(f"the engine on {self.name} raised {type(error).__name__}; see its log")
            failure.__cause__ = error
        return Outcome(self, task, made, time.perf_counter() - began, failure)

    def _make(self, task: Task) -> tuple[Made, ...]:
        engine = self.engines[task.works[0].engine]
        if task.num_frames is None:
            (work,) = task.works
            return (Made(work, None, engine.plan(work.segment, work.options), None),)
        return tuple(_step(engine, task.works, task.num_frames))


def _step(engine: Engine, works: Sequence[Work], num_frames: Sequence[int]) -> list[Made]:
    befores = [work.utterance for work in works]
    requests = [
        StepRequest(before, number) for before, number in zip(befores, num_frames, strict=True) if before is not None
    ]
    results = engine.step(requests)
    return [
        Made(work, before, result.utterance, result.samples)
        for work, before, result in zip(works, befores, results, strict=True)
    ]
