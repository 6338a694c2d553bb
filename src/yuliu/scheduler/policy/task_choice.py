"""Choice of the next task of a worker: the most urgent job that it may run, and the size of its step. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.scheduler.policy.events import Plan, Step, StepOrder
from yuliu.scheduler.policy.run_queue import RANK
from yuliu.scheduler.policy.steps import may_wait_until_s
from yuliu.scheduler.policy.workers import MOMENT_S
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.scheduler.policy.estimates import Estimates
    from yuliu.scheduler.policy.run_queue import Candidate, RunQueue
    from yuliu.scheduler.policy.runnable import RunnableWork
    from yuliu.scheduler.policy.state import JobState
    from yuliu.scheduler.policy.steps import StepShare
    from yuliu.scheduler.policy.workers import Workers


class TaskChooser:
    """Chooses tasks; changes nothing.

    Args:
        estimates: All streams and jobs, and the cost of their work.
        workers: The workers, and the jobs that they may run.
        run_queue: The runnable jobs.
        runnable: The held streams, whose jobs a step may wait for.
    """

    def __init__(self, estimates: Estimates, workers: Workers, run_queue: RunQueue, runnable: RunnableWork) -> None:
        self._estimates, self._jobs = estimates, estimates.jobs
        self._workers, self._run_queue, self._runnable = workers, run_queue, runnable

    def next_task(self, worker: str, num_reserved: int, now: float) -> Plan | Step | None:
        """Return the most urgent task that a worker may run, or None.

        Args:
            worker: A worker with a free slot.
            num_reserved: Slots among workers like it that bulk work keeps off.
            now: Seconds.
        """
        barred = self._workers.barred_from(worker, (self._jobs[job_id] for job_id in self._run_queue))
        while (best := self._best(worker, num_reserved, barred, now)) is not None:
            job = self._jobs[best.job_id]
            if not job.planned:
                return Plan(worker, best.job_id)
            parts = self._parts(best, job, barred, now)
            if not self._waits_for_company(best, job, len(parts), now):
                return Step(worker, tuple(StepOrder(part.job_id, part.num_frames) for part in parts))
            barred.add(best.job_id)
        return None

    def _best(self, worker: str, num_reserved: int, barred: set[int], now: float) -> Candidate | None:
        return self._run_queue.best(
            now,
            until_sound_s=lambda job_id: self._estimates.first_s(self._jobs[job_id]),
            listening_s=self._estimates.tuning.step_budget_s / self._workers.slots_like(worker),
            bulk=self._takes_bulk(worker, num_reserved, barred, now),
            barred=barred,
        )

    def _takes_bulk(self, worker: str, num_reserved: int, barred: set[int], now: float) -> bool:
        """Return whether a worker may take bulk work: on a reserved slot only a task that is over in a moment."""
        if self._workers.may_take_bulk(worker, num_reserved):
            return True
        found = self._run_queue.next_bulk(barred)
        return found is not None and self._estimates.work_s(self._jobs[found.job_id], now) <= MOMENT_S

    def _parts(self, best: Candidate, job: JobState, barred: set[int], now: float) -> list[StepShare]:
        """Return the step of the most urgent job with others that go with it; a job that has failed goes alone."""
        if self._estimates.engines[job.engine].max_batch == 1 or job.failures:
            return [self._estimates.part(job, now)]
        is_bulk = best.rank == RANK[StreamClass.BULK]
        others = [
            other
            for each in self._run_queue.in_order(bulk=is_bulk, barred={*barred, job.job_id})
            if (other := self._jobs[each.job_id]).planned and other.engine == job.engine and not other.failures
        ]
        return self._estimates.parts(job, others, now)

    def _waits_for_company(self, best: Candidate, job: JobState, size: int, now: float) -> bool:
        """Return whether a step is not urgent and will have company of its engine in a moment."""
        if size >= self._estimates.engines[job.engine].max_batch or job.failures or best.rank == RANK[StreamClass.BULK]:
            return False
        until_s = may_wait_until_s(best.deadline_s, job.runnable_at_s or now, now)
        return until_s > now and self._runnable.is_due_by(until_s, job.engine)
