"""The workers as the policy sees them: what each is busy with, and what must not be given to which. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


RESERVE_S = 1.0
"""Bulk work keeps off the reserved workers for so long after the last stream of another class, seconds."""
MOMENT_S = 0.008
"""But for work that takes no longer, seconds: a newcomer hardly hears it."""


class Workers:
    """Which workers there are and what they do.

    Args:
        most: So many may be given work; None does not bound it.
    """

    def __init__(self, most: int | None = None) -> None:
        self._busy: dict[str, tuple[int, ...]] = {}  # the jobs that each worker is busy with
        self._most = most
        self._bulk: set[str] = set()
        self._failed_on: dict[int, str] = {}
        self.usable: list[str] = []
        """The workers that may be given work, the first ones that came up."""

    def __contains__(self, worker: object) -> bool:
        """Whether a worker is there."""
        return worker in self._busy

    @property
    def num_busy(self) -> int:
        """Workers that work, those that are not to be given more counted."""
        return sum(map(bool, self._busy.values()))

    @property
    def num_bulk(self) -> int:
        """Workers that do bulk work for longer than a moment."""
        return len(self._bulk)

    def come(self, worker: str) -> None:
        """A worker is there; nothing changes if it was."""
        self._busy.setdefault(worker, ())
        self._count()

    def lose(self, worker: str) -> None:
        """A worker is not there any more."""
        self._busy.pop(worker, None)
        self._bulk.discard(worker)
        self._count()

    def limit(self, most: int | None) -> None:
        """So many may be given work; None does not bound it."""
        self._most = most
        self._count()

    def doing(self, worker: str) -> tuple[int, ...]:
        """The jobs that a worker is busy with; none if it is idle or not there."""
        return self._busy.get(worker, ())

    def idle(self) -> Iterator[str]:
        """The workers that may be given work and have none."""
        return (worker for worker in self.usable if not self._busy[worker])

    def give(self, worker: str, job_ids: tuple[int, ...], *, bulk: bool) -> None:
        """A worker is busy with jobs from now on."""
        self._busy[worker] = job_ids
        if bulk:
            self._bulk.add(worker)

    def free(self, worker: str) -> tuple[int, ...]:
        """A worker is idle again; the jobs that it was busy with, none if it was given up before."""
        done = self.doing(worker)
        if worker in self._busy:
            self._busy[worker] = ()
            self._bulk.discard(worker)
        return done

    def failed(self, job_id: int, worker: str) -> None:
        """A job has failed on a worker, and is repeated on another one if there is another."""
        self._failed_on[job_id] = worker

    def forgive(self, job_id: int) -> None:
        """It has not failed, or is gone."""
        self._failed_on.pop(job_id, None)

    def barred_from(self, worker: str) -> set[int]:
        """Jobs that must not be given to a worker: they have failed there, and there are others."""
        if not self._failed_on or len(self.usable) < 2:
            return set()
        return {job_id for job_id, failed_on in self._failed_on.items() if failed_on == worker}

    def _count(self) -> None:
        self.usable = list(self._busy)[: self._most]
