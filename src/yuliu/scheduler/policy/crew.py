"""The lanes as the policy sees them: what each is busy with, and what must not be given to which. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


RESERVE_S = 1.0
"""Bulk work keeps off the reserved lanes for so long after the last stream of another class, seconds."""
MOMENT_S = 0.008
"""But for work that takes no longer, seconds: a newcomer hardly hears it."""


class Crew:
    """Which lanes there are and what they do.

    Args:
        most: So many may be given work; None does not bound it.
    """

    def __init__(self, most: int | None = None) -> None:
        self._busy: dict[str, tuple[int, ...]] = {}  # the jobs that each lane is busy with
        self._most = most
        self._bulk: set[str] = set()
        self._failed_on: dict[int, str] = {}
        self.usable: list[str] = []
        """The lanes that may be given work, the first ones that came up."""

    def __contains__(self, lane: object) -> bool:
        """Whether a lane is there."""
        return lane in self._busy

    @property
    def num_busy(self) -> int:
        """Lanes that work, those that are not to be given more counted."""
        return sum(map(bool, self._busy.values()))

    @property
    def num_bulk(self) -> int:
        """Lanes that do bulk work for longer than a moment."""
        return len(self._bulk)

    def come(self, lane: str) -> None:
        """A lane is there; nothing changes if it was."""
        self._busy.setdefault(lane, ())
        self._count()

    def lose(self, lane: str) -> None:
        """A lane is not there any more."""
        self._busy.pop(lane, None)
        self._bulk.discard(lane)
        self._count()

    def limit(self, most: int | None) -> None:
        """So many may be given work; None does not bound it."""
        self._most = most
        self._count()

    def doing(self, lane: str) -> tuple[int, ...]:
        """The jobs that a lane is busy with; none if it is idle or not there."""
        return self._busy.get(lane, ())

    def idle(self) -> Iterator[str]:
        """The lanes that may be given work and have none."""
        return (lane for lane in self.usable if not self._busy[lane])

    def give(self, lane: str, job_ids: tuple[int, ...], *, bulk: bool) -> None:
        """A lane is busy with jobs from now on."""
        self._busy[lane] = job_ids
        if bulk:
            self._bulk.add(lane)

    def free(self, lane: str) -> tuple[int, ...]:
        """A lane is idle again; the jobs that it was busy with, none if it was given up before."""
        done = self.doing(lane)
        if lane in self._busy:
            self._busy[lane] = ()
            self._bulk.discard(lane)
        return done

    def failed(self, job_id: int, lane: str) -> None:
        """A job has failed on a lane, and is repeated on another one if there is another."""
        self._failed_on[job_id] = lane

    def forgive(self, job_id: int) -> None:
        """It has not failed, or is gone."""
        self._failed_on.pop(job_id, None)

    def barred_from(self, lane: str) -> set[int]:
        """Jobs that must not be given to a lane: they have failed there, and there are others."""
        if not self._failed_on or len(self.usable) < 2:
            return set()
        return {job_id for job_id, failed_on in self._failed_on.items() if failed_on == lane}

    def _count(self) -> None:
        self.usable = list(self._busy)[: self._most]
