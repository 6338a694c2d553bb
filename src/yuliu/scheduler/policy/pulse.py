"""What the controller goes by: how soon first sounds were there lately, and how busy the lanes were. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from yuliu.scheduler.policy.controller import Controller, Measured
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.scheduler.policy.policy import Policy
    from yuliu.scheduler.policy.snapshot import Snapshot
    from yuliu.scheduler.policy.tuning import Tuning

INTERVAL_S = 1.0
"""The controller is asked so often, seconds."""
WINDOW_S = 10.0
"""First sounds count for so long, seconds."""
MAX_SOUNDS = 200
"""Of these the latest count, for each class."""
QUANTILE = 0.95
MIN_LANES = 2
"""Lanes that the controller always leaves in use, where there are so many: a burst should not wait for a second."""


class Pulse:
    """Measures, from what streams do, and lets a controller tune by it.

    Args:
        tuning: What holds at first.
        max_lanes: Lanes that there are, for the controller; None if there shall be no controller.
    """

    def __init__(self, tuning: Tuning, max_lanes: int | None = None) -> None:
        listened = (each for each in tuning.classes if each is not StreamClass.BULK)
        self._targets: dict[StreamClass, float] = {each: tuning.classes[each].first_packet_s for each in listened}
        self._controller = None if max_lanes is None else Controller(self._targets, MIN_LANES, max_lanes, start=tuning)
        self._adapted_at_s = float("-inf")
        self._waiting: dict[int, tuple[StreamClass, float, float]] = {}  # without sound: since when, scale
        self._heard: set[int] = set()
        self._sounds: dict[StreamClass, deque[tuple[float, float]]] = {}  # when, and after how long
        self._last: tuple[float, float] | None = None  # when it was asked last, and the lanes' work until then

    def segment_ready(
        self, stream_id: int, stream_class: StreamClass, now: float, first_packet_s: float | None = None
    ) -> None:
        """A stream has a segment; the first one is what its listener waits for.

        A stream with a target of its own, ``first_packet_s``, counts by what share of it was needed.
        """
        if stream_id not in self._heard:
            target_s = self._targets.get(stream_class)
            scale = target_s / first_packet_s if target_s and first_packet_s else 1.0
            self._waiting.setdefault(stream_id, (stream_class, now, scale))

    def taken(self, stream_id: int, now: float) -> None:
        """Sound of a stream was taken."""
        if (waited := self._waiting.pop(stream_id, None)) is not None:
            self._heard.add(stream_id)
            stream_class, since_s, scale = waited
            self._sounds.setdefault(stream_class, deque(maxlen=MAX_SOUNDS)).append((now, scale * (now - since_s)))

    def closed(self, stream_id: int) -> None:
        """A stream is over."""
        self._waiting.pop(stream_id, None)
        self._heard.discard(stream_id)

    def adapted(self, policy: Policy, tuning: Tuning, now: float) -> Tuning:
        """What is to hold from now on: what the controller says, asked once in :data:`INTERVAL_S`, or what holds."""
        if self._controller is None or now - self._adapted_at_s < INTERVAL_S:
            return tuning
        self._adapted_at_s = now
        return self._controller.update(self.measured(policy.snapshot(now), now), now)

    def measured(self, snapshot: Snapshot, now: float) -> Measured:
        """What was measured until now."""
        if self._last is None:
            load = 0.0
        else:
            at_s, busy_s = self._last
            load = (snapshot.busy_s - busy_s) / max(1e-6, (now - at_s) * max(1, snapshot.num_lanes))
        self._last = (now, snapshot.busy_s)
        return Measured(self._ttfp_s(now), snapshot.worst_rtf, snapshot.backlog_s, min(max(load, 0.0), 1.0))

    def _ttfp_s(self, now: float) -> dict[StreamClass, float]:
        found: dict[StreamClass, float] = {}
        for stream_class, sounds in self._sounds.items():
            while sounds and sounds[0][0] < now - WINDOW_S:
                sounds.popleft()
            if sounds:
                ordered = sorted(took_s for _, took_s in sounds)
                found[stream_class] = ordered[min(len(ordered) - 1, int(QUANTILE * len(ordered)))]
        return found
