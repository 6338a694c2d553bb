"""One call of an engine: its arguments from a task, its results checked and labelled with job ids. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.engines.api import StepRequest
from yuliu.engines.validate import check_plan, check_step
from yuliu.errors import SynthesisFailed
from yuliu.scheduler.workers.api import JobResult, PlanJob, StepJob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.engines.api import Capabilities, StepResult, Utterance
    from yuliu.scheduler.workers.api import Task


def plan_of(task: Task) -> PlanJob:
    """Return the one job of a task that plans."""
    (job,) = task.jobs
    assert isinstance(job, PlanJob)  # noqa: S101 - the caller has checked `is_plan`
    return job


def requests_of(task: Task) -> list[StepRequest]:
    """Return the arguments of the step that a task asks for."""
    return [StepRequest(job.utterance, job.num_frames) for job in task.jobs if isinstance(job, StepJob)]


def planned(task: Task, utterance: Utterance) -> tuple[JobResult, ...]:
    """Check a plan and return it as the task's result.

    Raises:
        SynthesisFailed: The engine broke its contract.
    """
    job = plan_of(task)
    check_plan(job.segment, utterance)
    return (JobResult(job.job_id, utterance),)


def stepped(
    task: Task, requests: Sequence[StepRequest], results: Sequence[StepResult], found: Capabilities
) -> tuple[JobResult, ...]:
    """Check a step and return it as the task's results.

    Raises:
        SynthesisFailed: The engine broke its contract.
    """
    check_step(requests, results, found)
    return tuple(
        JobResult(job.job_id, result.utterance, result.samples) for job, result in zip(task.jobs, results, strict=True)
    )


def failure(error: Exception, worker: str) -> SynthesisFailed:
    """Return the error for a stream from an exception of an engine: its class, never its message."""
    if isinstance(error, SynthesisFailed):
        return error
    failed = SynthesisFailed(f"the engine on {worker} raised {type(error).__name__}; see its log")
    failed.__cause__ = error
    return failed


def place_of(error: BaseException) -> str:
    """Return file and line at which an error was raised, for logs: never its message, which may quote the text."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return "?" if frame is None else f"{frame.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno}"
