"""All lanes: who is busy since when, who hangs, and who takes the place of one that is lost.

No locks here: :class:`yuliu.scheduler.worker.Scheduler` guards it by its own.
"""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

from yuliu.scheduler.lane import Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from yuliu.engines.api import Engine
    from yuliu.scheduler.lane import Outcome, Owner, Task
    from yuliu.scheduler.settings import Settings

START_S = 120.0
"""A lane whose engines are not made within this time is given up, seconds; also allowed for a new instance of one."""
PATIENCE = 20.0
"""A task may take so many times what tasks of its kind took lately, if that is more than the least limit."""
OVERSLEPT_S = 0.5
"""Who looks so long after a lane's time is over, seconds, has slept, and the lane with him: the process was stopped, or
its machine. Such a lane gets :data:`GRACE_S` to go on."""
GRACE_S = 1.0
_KEPT = 0.9
"""Share of the usual time of a task that stays as it was when a further one was done."""


class Lanes:
    """Keeps up the number of lanes.

    Args:
        factories: For each engine what makes an instance of it.
        owner: Is told what becomes of the lanes.
        settings: When a task is given up, and when a lane that could not be made is tried again.
        num_lanes: How many there shall be.
    """

    def __init__(
        self, factories: Mapping[str, Callable[[], Engine]], owner: Owner, settings: Settings, *, num_lanes: int
    ) -> None:
        self._factories = factories
        self._owner = owner
        self._num_lanes = num_lanes
        self._hang_s, self._restart_s = settings.hang_s, settings.restart_s
        self._numbers = itertools.count()
        self._lanes: dict[str, Lane] = {}
        self._limits: dict[str, float] = {}  # when each busy lane is to be given up
        self._usual_s: dict[tuple[str, bool], float] = {}
        self._restart_at_s = float("-inf")
        self._cancelled_at_s: dict[int, float] = {}  # of streams that lanes are still at work for

    def __len__(self) -> int:
        """Lanes there are, those that are being made counted."""
        return len(self._lanes)

    @property
    def has_idle(self) -> bool:
        """Whether any lane waits for work."""
        return len(self._limits) < len(self._lanes)

    @property
    def num_busy(self) -> int:
        """Lanes at work."""
        return sum(lane.task is not None for lane in self._lanes.values())

    def fill(self, now: float, engines: Mapping[str, Engine] | None = None) -> None:
        """Start lanes until there are as many as there shall be, unless making one failed lately.

        Args:
            now: Seconds.
            engines: Of the first one, if they are made already.
        """
        while len(self._lanes) < self._num_lanes and now >= self._restart_at_s:
            lane = Lane(f"lane-{next(self._numbers)}", self._factories, self._owner, engines=engines)
            engines = None
            self._lanes[lane.name] = lane
            self._limits[lane.name] = now + START_S
            lane.start()

    def up(self, lane: Lane) -> bool:
        """A lane is ready; whether it is still wanted."""
        if self._lanes.get(lane.name) is not lane:
            return False
        del self._limits[lane.name]
        return True

    def give(self, name: str, task: Task, now: float) -> None:
        """Let an idle lane work."""
        lane = self._lanes[name]
        lane.task = task
        limit_s = max(self._hang_s, PATIENCE * self._usual_s.get(task.kind, 0.0))
        self._limits[name] = now + limit_s + (START_S if task.renew else 0.0)
        lane.give(task)

    def finished(self, outcome: Outcome) -> bool:
        """A task is done; whether anybody still waits for it: not if its lane was given up."""
        lane = outcome.lane
        if self._lanes.get(lane.name) is not lane:
            return False
        lane.task = None
        del self._limits[lane.name]
        usual_s = self._usual_s.get(outcome.task.kind, outcome.took_s)
        self._usual_s[outcome.task.kind] = usual_s + (1 - _KEPT) * (outcome.took_s - usual_s)
        return True

    def cancel(self, stream_id: int, now: float) -> bool:
        """A stream was cancelled; whether a lane is at work for it."""
        if busy := self._is_at_work_for(stream_id):
            self._cancelled_at_s[stream_id] = now
        return busy

    def released(self, task: Task, now: float) -> Iterator[float]:
        """A task is over: how long ago those of its streams were cancelled that no lane is at work for any more."""
        for stream_id in self._cancelled_at_s.keys() & {work.stream_id for work in task.works}:
            if not self._is_at_work_for(stream_id):
                yield now - self._cancelled_at_s.pop(stream_id)

    def _is_at_work_for(self, stream_id: int) -> bool:
        tasks = (lane.task for lane in self._lanes.values() if lane.task is not None)
        return any(work.stream_id == stream_id for task in tasks for work in task.works)

    def hung(self, now: float) -> Iterator[Lane]:
        """Lanes whose task, or whose making, takes far too long."""
        for name, limit in self._limits.items():
            if now >= limit + OVERSLEPT_S:
                self._limits[name] = now + GRACE_S
        late = [name for name, limit in self._limits.items() if now >= limit]
        yield from (self._lanes[name] for name in late)

    def give_up(self, lane: Lane, now: float) -> bool:
        """A lane is lost: it is forgotten, and ends should it ever come back. Whether it was one of these."""
        if self._lanes.get(lane.name) is not lane:
            return False
        del self._lanes[lane.name]
        self._limits.pop(lane.name, None)
        lane.stop()
        if not lane.is_up:
            self._restart_at_s = now + self._restart_s
        return True

    def next_wake(self) -> float:
        """When to look again: a lane may hang, or one may be made; inf if never."""
        restart = self._restart_at_s if len(self._lanes) < self._num_lanes else float("inf")
        return min([*self._limits.values(), restart])

    def stop(self) -> None:
        """Let all end."""
        for lane in self._lanes.values():
            lane.stop()

    def join(self, timeout_s: float) -> list[str]:
        """Wait until all have ended, for so long at most; names of those that have not."""
        until = time.monotonic() + timeout_s
        return [lane.name for lane in self._lanes.values() if not lane.join(max(0.0, until - time.monotonic()))]


def make_all(factories: Mapping[str, Callable[[], Engine]]) -> dict[str, Engine]:
    """One engine of each; those that were made are closed if one cannot be."""
    made: dict[str, Engine] = {}
    try:
        for name, make in factories.items():
            made[name] = make()
    except BaseException:
        for engine in made.values():
            engine.close()
        raise
    return made
