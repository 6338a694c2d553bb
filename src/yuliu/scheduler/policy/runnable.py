"""Work of each stream that a worker could do now, and the times at which held streams may go on. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.scheduler.policy.run_queue import RANK, Candidate, Pool, deadline_s, pool_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.scheduler.policy.estimates import Estimates
    from yuliu.scheduler.policy.run_queue import RunQueue
    from yuliu.scheduler.policy.state import JobState, StreamState


class RunnableWork:
    """Puts the runnable jobs of streams into the run queue.

    Args:
        estimates: All streams and jobs, and the cost of their work.
        run_queue: The queue to fill.
    """

    def __init__(self, estimates: Estimates, run_queue: RunQueue) -> None:
        self._estimates, self._run_queue = estimates, run_queue
        self._streams, self._jobs = estimates.streams, estimates.jobs
        self._wakes: dict[int, float] = {}  # when held streams may be stepped again

    @property
    def next_wake_s(self) -> float | None:
        """Time at which the next held stream may go on; None if none is held until a known time."""
        return min(self._wakes.values(), default=None)

    def due(self, now: float) -> Sequence[int]:
        """Return the streams that were held until now."""
        if self._wakes and min(self._wakes.values()) <= now:
            return [stream_id for stream_id, at_s in self._wakes.items() if at_s <= now]
        return ()

    def is_due_by(self, until_s: float, engine: str) -> bool:
        """Return whether a held stream may go on by then whose next step needs this engine."""
        return any(
            at_s <= until_s and self._jobs[self._streams[stream_id].jobs[0]].engine == engine
            for stream_id, at_s in self._wakes.items()
        )

    def withdraw(self, stream: StreamState) -> None:
        """Take the work of a stream out of the queue."""
        self._run_queue.remove(stream.offered)
        self._wakes.pop(stream.stream_id, None)
        stream.offered = ()

    def offer(self, stream: StreamState, held_until_s: float, now: float) -> None:
        """Queue the runnable jobs of an admitted stream that has jobs and none in the queue.

        Args:
            stream: The stream.
            held_until_s: Time from which more of its audio may be made.
            now: Seconds.
        """
        head = self._jobs[stream.jobs[0]]
        pool, at_s = pool_of(stream, head), deadline_s(stream, head, self._estimates.tuning, now)
        rank, lightness = RANK[stream.terms.stream_class], -stream.terms.weight
        before_s = 0.0  # audio still to be made of the segments before
        for place, job_id in enumerate(stream.jobs):
            if place >= max(1, stream.terms.max_planned):
                break
            job = self._jobs[job_id]
            if self._is_runnable(job, place, held_until_s, now):
                due_s = at_s if pool is Pool.BULK else at_s + before_s - self._estimates.before_step_s(job)
                self._run_queue.add(pool, Candidate(due_s, rank, lightness, job.ready_at_s, place, job_id), now)
                stream.offered += (job_id,)
            before_s += self._estimates.left_s(job)

    def _is_runnable(self, job: JobState, place: int, held_until_s: float, now: float) -> bool:
        """Return whether a worker could plan the job, or step it if it is its stream's first."""
        if job.busy:
            return False
        if not job.planned and job.cached_s is None:
            return True
        until_s = max(held_until_s, job.not_before_s)
        if place or until_s > now:
            if not place and until_s != float("inf"):
                self._wakes[job.stream_id] = until_s
            return False
        job.runnable_at_s = now if job.runnable_at_s is None else job.runnable_at_s
        return True
