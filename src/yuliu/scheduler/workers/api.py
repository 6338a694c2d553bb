"""The worker seam: messages between the scheduler and the workers that run engines, and the interface of a backend.

All messages are frozen values that pickle, and are matched by id: a task by ``task_id``, a segment's part in it by
``job_id``. State of the scheduler (retries, cache entries, streams) never travels::

    scheduler -> worker     Task(PlanJob | StepJob...), Release, and a wish to cancel a task
    worker -> scheduler     WorkerReady, then TaskDone | TaskFailed for each task, WorkerDied at any time

A worker announces its engines, so that workers may differ. It runs as many tasks at once as it has slots, and reports
from any thread. The next backends (processes, other machines) are new implementations of :class:`Worker`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.engines.api import Capabilities, PlanOptions, Utterance
    from yuliu.engines.registry import EngineSpec
    from yuliu.errors import SynthesisFailed
    from yuliu.types import Samples, Segment

    Report = Callable[["Message"], None]
    StartWorker = Callable[[str, tuple[EngineSpec, ...], Report], "Worker"]


@dataclass(frozen=True, slots=True)
class PlanJob:
    """Plan a segment."""

    job_id: int
    segment: Segment
    options: PlanOptions


@dataclass(frozen=True, slots=True)
class StepJob:
    """Render the next frames of an utterance."""

    job_id: int
    utterance: Utterance
    num_frames: int


Job = PlanJob | StepJob


@dataclass(frozen=True, slots=True)
class Task:
    """One call of an engine: a plan of one segment, or a step of one or more utterances."""

    task_id: int
    """Never used twice: a segment that is tried again gets a new task."""
    engine: str
    jobs: tuple[Job, ...]
    renew: bool = False
    """True to rebuild the engine first, if no other task shares it: it has just failed at the same job."""

    @property
    def is_plan(self) -> bool:
        """True if the task is a plan."""
        return isinstance(self.jobs[0], PlanJob)


@dataclass(frozen=True, slots=True)
class Release:
    """Drop the state of an utterance that no step will follow. Only sent to engines with local state."""

    engine: str
    utterance: Utterance


@dataclass(frozen=True, slots=True)
class JobResult:
    """Result of one job in a task."""

    job_id: int
    utterance: Utterance
    """The utterance as planned, or after the step."""
    samples: Samples | None = None
    """Samples of the step; None for a plan."""


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """The worker has built its engines and waits for tasks."""

    worker: str
    engines: Mapping[str, Capabilities]
    """Its engines, by name."""
    slots: int = 1
    """Number of tasks that it runs at once."""
    can_cancel: bool = False
    """True if it can end a task before the engine returns."""


@dataclass(frozen=True, slots=True)
class TaskDone:
    """A task has succeeded."""

    worker: str
    task_id: int
    results: tuple[JobResult, ...]
    """In the order of the task's jobs."""
    took_s: float


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A task has failed, or was cancelled; the worker goes on."""

    worker: str
    task_id: int
    error: SynthesisFailed


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """The worker has crashed, or could not build its engines: it reports nothing more."""

    worker: str
    error: BaseException
    place: str = "?"
    """File and line at which the error was raised, for logs."""


Message = WorkerReady | TaskDone | TaskFailed | WorkerDied


class Worker(Protocol):
    """A worker as the scheduler sees it. No call blocks, but for ``join``; none raises once the worker is lost."""

    def start(self) -> None:
        """Start building the engines."""
        ...

    def submit(self, task: Task) -> None:
        """Run a task; the worker must have a free slot."""
        ...

    def cancel(self, task_id: int) -> None:
        """End a task early if the worker can; it then reports ``TaskFailed``."""
        ...

    def release(self, release: Release) -> None:
        """Drop the state of an utterance."""
        ...

    def stop(self) -> None:
        """End once the tasks under way are over, and close the engines."""
        ...

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until the worker has ended; return whether it has."""
        ...
