"""A worker: a thread that owns one instance of every engine and does one thing at a time."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from yuliu.engines.api import StepRequest
from yuliu.engines.validate import check_plan, check_step
from yuliu.errors import SynthesisFailed
from yuliu.logger import event_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from yuliu.engines.api import Engine, PlanOptions, Utterance
    from yuliu.scheduler.cache import CacheEntry
    from yuliu.types import Samples, Segment

_log = event_logger("yuliu.scheduler.workers")


@dataclass(frozen=True, slots=True)
class After:
    """What becomes of a segment's sound after the engine, as far as it matters when it is needed."""

    pace: float = 1.0
    """So many seconds of it are one of the listener's."""
    held_s: float = 0.0
    """Most of it that is held back until all of it is made, seconds of the listener's."""


NOTHING_AFTER = After()


@dataclass(slots=True)
class Work:
    """A job as the workers see it."""

    job_id: int
    stream_id: int
    engine: str
    segment: Segment
    options: PlanOptions
    utterance: Utterance | None = None
    """As planned, then as far as it is rendered."""
    planned: Utterance | None = None
    """As planned."""
    num_retries: int = 0
    """How often work on it has failed."""
    failed_on: str | None = None
    """The worker that failed last, if nothing succeeded since."""
    has_sound: bool = False
    """Whether any of its sound is out."""
    still_since_s: float | None = None
    """Since when its steps give nothing; None when they do."""
    num_stills: int = 0
    """How often it was given up since its steps gave nothing for too long."""
    keeping: CacheEntry | None = None
    """Its place in the cache of sound; None if there is none."""
    after: After = NOTHING_AFTER
    """What becomes of its sound on its way to the listener."""
    made_s: float = 0.0
    """Its sound so far, seconds."""
    told_s: float = 0.0
    """What of it the listener is known to get, seconds of his."""

    def heard_s(self, audio_s: float, *, done: bool) -> float | None:
        """What the listener gets by so much more sound, seconds of his; None if that is just this sound."""
        if self.after == NOTHING_AFTER:
            return None
        self.made_s += audio_s
        before_s = self.told_s
        self.told_s = max(before_s, self.made_s / self.after.pace - (0.0 if done else self.after.held_s))
        return self.told_s - before_s


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker shall do: plan one job (``num_frames`` None), or step one or more of one engine."""

    works: tuple[Work, ...]
    num_frames: tuple[int, ...] | None = None
    renew: bool = False
    """Whether it is to be done by a new instance of the engine, since the one on this worker has just failed at it."""

    @property
    def kind(self) -> tuple[str, bool]:
        """The engine, and whether it is to plan."""
        return self.works[0].engine, self.num_frames is None


@dataclass(frozen=True, slots=True)
class Made:
    """What came of one job in a task."""

    work: Work
    before: Utterance | None
    """None if it was planned."""
    utterance: Utterance
    samples: Samples | None
    audio_s: float = 0.0
    """Length of the samples."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task."""

    worker: WorkerThread
    task: Task
    made: tuple[Made, ...]
    took_s: float
    error: SynthesisFailed | None = None


class Owner(Protocol):
    """Who is told what becomes of a worker, on the worker's thread."""

    def worker_up(self, worker: WorkerThread) -> None:
        """Its engines are there."""
        ...

    def worker_done(self, outcome: Outcome) -> None:
        """A task is done, or failed."""
        ...

    def worker_lost(self, worker: WorkerThread, error: BaseException) -> None:
        """It has crashed, or its engines could not be made: its thread ends."""
        ...


class WorkerThread:
    """One worker thread.

    Args:
        name: Its name.
        factories: Make the engines, on the worker's thread.
        owner: Is told what becomes of it.
        engines: Those that are made already.
    """

    def __init__(
        self,
        name: str,
        factories: Mapping[str, Callable[[], Engine]],
        owner: Owner,
        *,
        engines: Mapping[str, Engine] | None = None,
    ) -> None:
        self.name = name
        self.task: Task | None = None
        """What it is doing, as its owner keeps it."""
        self.is_up: bool = False
        """Whether its engines were made."""
        self._engines: dict[str, Engine] = dict(engines or {})
        self._factories = factories
        self._owner = owner
        self._stopping = False
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
        self._stopping = True
        self._tasks.put(None)

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._make_engines()
            self._owner.worker_up(self)
            while (task := self._tasks.get()) is not None:
                self._owner.worker_done(self._perform(task))
                del task  # a worker that waits keeps nothing of what it did
        except BaseException as error:  # noqa: BLE001 - whatever it is, the worker is lost, and its owner must know
            self._owner.worker_lost(self, error)
        finally:
            for engine in self._engines.values():
                self._close(engine)

    def _make_engines(self) -> None:
        for name, make in self._factories.items():
            if self._stopping:
                break
            if name not in self._engines:
                self._engines[name] = make()
        self.is_up = True

    def _close(self, engine: Engine) -> None:
        try:
            engine.close()
        except Exception as error:  # noqa: BLE001 - code that is not ours; nobody depends on it any more
            error_name, place = place_of(error)
            _log.error("engine_not_closed", worker=self.name, error=error_name, at=place)

    def _perform(self, task: Task) -> Outcome:
        if task.renew:
            self._renew(task.works[0].engine)
        began = time.perf_counter()
        made: tuple[Made, ...] = ()
        failure: SynthesisFailed | None = None
        try:
            made = self._make(task)
        except MemoryError:
            raise  # what is left of the engine is not to be trusted
        except SynthesisFailed as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - the one boundary to code that is not ours: nothing is hidden
            failure = SynthesisFailed(f"the engine on {self.name} raised {type(error).__name__}; see its log")
            failure.__cause__ = error
        return Outcome(self, task, made, time.perf_counter() - began, failure)

    def _renew(self, name: str) -> None:
        """A new instance in place of one that has failed; the old one goes first, since it may be large."""
        self._close(self._engines.pop(name))
        self._engines[name] = self._factories[name]()

    def _make(self, task: Task) -> tuple[Made, ...]:
        engine = self._engines[task.works[0].engine]
        if task.num_frames is not None:
            return tuple(_step(engine, task.works, task.num_frames))
        (work,) = task.works
        utterance = engine.plan(work.segment, work.options)
        check_plan(work.segment, utterance)
        return (Made(work, None, utterance, None),)


def _step(engine: Engine, works: Sequence[Work], num_frames: Sequence[int]) -> list[Made]:
    befores = [work.utterance for work in works]
    requests = [
        StepRequest(before, number) for before, number in zip(befores, num_frames, strict=True) if before is not None
    ]
    results = engine.step(requests)
    check_step(requests, results, engine.capabilities)
    sample_rate = engine.capabilities.format.sample_rate
    return [
        Made(work, before, result.utterance, result.samples, len(result.samples) / sample_rate)
        for work, before, result in zip(works, befores, results, strict=True)
    ]


def place_of(error: BaseException) -> tuple[str, str]:
    """The class of an error and where it was raised, for logs: never its words, since they may quote the text."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = "?" if frame is None else f"{frame.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno}"
    return type(error).__name__, where
