"""The slow loop, about once a second: measurements move the tuning by small steps. Pure.

Each thing that is tuned is a :class:`_Knob`. It moves one notch an update while there is a reason to, between two marks
that are far enough apart that one notch does not lead from one to the other. Measurements lag behind changes, so a
knob may still go too far and have to come back: each time it does, it moves half as often from then on. So it comes to
rest, sooner or later, whatever the lag is.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from yuliu.scheduler.policy.tuning import Tuning
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.scheduler.policy.policy import Policy
    from yuliu.scheduler.policy.snapshot import Snapshot

INTERVAL_S = 1.0
"""Interval between two updates of the controller, seconds."""
WINDOW_S = 10.0
"""Time during which first packets count, seconds."""
MAX_SOUNDS = 200
"""Maximum number of them that count for each class, the latest ones."""
QUANTILE = 0.95
MIN_WORKERS = 2
"""Minimum number of workers that the controller leaves in use, so that a burst need not wait for a second."""


class Autotuner:
    """Measures the streams, and lets a controller tune by the results.

    Args:
        tuning: Initial tuning.
        max_workers: Workers that there are, for the controller; None if there shall be no controller.
    """

    def __init__(self, tuning: Tuning, max_workers: int | None = None) -> None:
        listened = (each for each in tuning.classes if each is not StreamClass.BULK)
        self._targets: dict[StreamClass, float] = {each: tuning.classes[each].first_packet_s for each in listened}
        self._controller = (
            None if max_workers is None else Controller(self._targets, MIN_WORKERS, max_workers, start=tuning)
        )
        self._adapted_at_s = float("-inf")
        self._waiting: dict[int, tuple[StreamClass, float, float]] = {}  # without sound: since when, scale
        self._heard: set[int] = set()
        self._sounds: dict[StreamClass, deque[tuple[float, float]]] = {}  # when, and after how long
        self._last: tuple[float, float] | None = None  # time of the last update, and the workers' work until then

    def segment_ready(
        self, stream_id: int, stream_class: StreamClass, now: float, first_packet_s: float | None = None
    ) -> None:
        """A stream has a segment; its listener waits for the first one.

        A stream with a target of its own, ``first_packet_s``, counts by the share of it that was used.
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
        """Return the new tuning: that of the controller, updated every :data:`INTERVAL_S`, or the present one."""
        if self._controller is None or now - self._adapted_at_s < INTERVAL_S:
            return tuning
        self._adapted_at_s = now
        return self._controller.update(self.measured(policy.snapshot(now), now), now)

    def measured(self, snapshot: Snapshot, now: float) -> Measured:
        """Return the measurements up to now."""
        if self._last is None:
            load = 0.0
        else:
            at_s, busy_s = self._last
            load = (snapshot.busy_s - busy_s) / max(1e-6, (now - at_s) * max(1, snapshot.num_workers))
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


MIN_INTERVAL_S = 0.5
"""Updates that come sooner change nothing."""
SMOOTHING = 0.5
"""Share of a new value in a smoothed measurement."""
LATE, EARLY = 0.9, 0.45
"""First packets are late above this share of their target, and earlier than is needed below that one."""
BUSY, IDLE = 0.7, 0.45
"""Workers are added above this load, and removed if the load of the others would stay below that one."""
FULL, ROOMY = 0.95, 0.75
"""Above this load smaller steps would only cost capacity; below that one throughput mode is not needed any more."""
SLOW, QUICK = 0.7, 0.5
"""Above this RTF a short first step would be played before the second is there; below that one it is not."""
HIGH_WATER_S, LOW_WATER_S = 0.5, 0.1
"""Backlog, compute seconds a worker, above which throughput mode begins, and below which it may end."""

_CALM = 120
"""Updates without a change of direction after which a knob is trusted as before."""
_MAX_DOUBT = 16
_SOON = 12
"""A knob that comes back within this many updates, times the doubt, was eased too far; later, the cause is another."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements since the last update, or over the last few seconds."""

    ttfp_s: Mapping[StreamClass, float] = field(default_factory=dict)
    """Time to first packet, its 95th percentile or so, seconds; classes without newcomers are left out."""
    rtf: float = 0.0
    """Compute time by audio time of the slowest engine, on one worker."""
    backlog_s: float = 0.0
    """Compute that waits for streams without sound, seconds a worker."""
    load: float = 0.0
    """Share of the time of the workers in use that they were busy, 0 to 1."""


@dataclass(frozen=True, slots=True)
class _Setting:
    step_budget_s: float
    first_step_s: float
    first_weight_scale: float


_EASY, _USUAL, _TIGHT = _Setting(0.04, 0.2, 1.0), _Setting(0.025, 0.2, 1.0), _Setting(0.01, 0.1, 0.5)
_USUAL_NOTCH, _TIGHT_NOTCH = 2, 8


def _setting(notch: int) -> _Setting:
    """From large steps, which cost least, over the usual ones to small ones, which let newcomers in soonest."""
    if notch <= _USUAL_NOTCH:
        start, end, share = _EASY, _USUAL, notch / _USUAL_NOTCH
    else:
        start, end, share = _USUAL, _TIGHT, (notch - _USUAL_NOTCH) / (_TIGHT_NOTCH - _USUAL_NOTCH)
    return _Setting(
        start.step_budget_s + share * (end.step_budget_s - start.step_budget_s),
        start.first_step_s + share * (end.first_step_s - start.first_step_s),
        start.first_weight_scale + share * (end.first_weight_scale - start.first_weight_scale),
    )


@dataclass(slots=True)
class _Knob:
    """A whole number that follows wishes with hysteresis: up soon, down after a while."""

    value: int
    low: int
    high: int
    patience_up: int
    """Updates in a row that must wish for more."""
    patience_down: int
    """Updates in a row that must wish for less, times the doubt."""
    is_urgent: bool = False
    """True if it goes up without delay, however often it went down too early."""
    _wish: int = 0
    _held: int = 0
    _direction: int = 0
    _doubt: int = 1
    _num_calm: int = 0
    _num_rested: int = 0

    def follow(self, *, up: bool, down: bool) -> int:
        """Take a wish, neither or one of the two; return the value."""
        wish = up - down
        self._held = self._held + 1 if wish == self._wish else 1
        self._wish = wish
        self._num_calm += 1
        self._num_rested += 1
        if self._num_calm > _CALM:
            self._doubt, self._num_calm = max(self._doubt // 2, 1), 0
        patience = self.patience_up if up else self.patience_down * self._doubt
        is_rested = self._num_rested >= self._doubt or (up and self.is_urgent)
        if wish and self._held >= patience and is_rested and self.low <= self.value + wish <= self.high:
            self._turn(wish)
            self.value += wish
            self._num_rested = 0
        return self.value

    def _turn(self, wish: int) -> None:
        """Remember that easing it was wrong, if it has to come back soon."""
        if wish != self._direction:
            if wish > 0 > self._direction and self._num_rested <= _SOON * self._doubt:
                self._doubt = min(2 * self._doubt, _MAX_DOUBT)
            self._direction, self._num_calm = wish, 0


class Controller:
    """Keeps first packets within their targets, at the least cost, and the backlog bounded.

    Args:
        targets: Wanted time to first packet of each class that has one, seconds.
        min_workers: Workers that are always given work.
        max_workers: All workers there are.
        start: Initial tuning; settings that are not tuned here keep its values.
    """

    def __init__(
        self,
        targets: Mapping[StreamClass, float],
        min_workers: int,
        max_workers: int,
        *,
        start: Tuning | None = None,
    ) -> None:
        self._targets = dict(targets)
        self._notch = _Knob(_USUAL_NOTCH, 0, _TIGHT_NOTCH, patience_up=2, patience_down=4)
        self._workers = _Knob(
            max_workers, min(min_workers, max_workers), max_workers, patience_up=1, patience_down=5, is_urgent=True
        )
        self._throughput = _Knob(0, 0, 1, patience_up=2, patience_down=3, is_urgent=True)
        self._slow = _Knob(0, 0, 1, patience_up=2, patience_down=4, is_urgent=True)
        self._pressure: float | None = None
        self._rtf: float | None = None
        self._load: float | None = None
        self._tuning = replace(start or Tuning(), num_workers=max_workers)
        self._updated_at_s = -math.inf

    @property
    def tuning(self) -> Tuning:
        """The tuning in force."""
        return self._tuning

    def update(self, measured: Measured, now: float) -> Tuning:
        """Take measurements; return the tuning from now on.

        Args:
            measured: Measurements since the last update, or over the last few seconds.
            now: Seconds, monotonic.
        """
        if now - self._updated_at_s < MIN_INTERVAL_S:
            return self._tuning
        self._updated_at_s = now
        is_news = self._smooth(measured)
        throughput = self._follow_backlog(measured.backlog_s)
        num_workers = self._follow_load(measured.backlog_s)
        if is_news:
            self._follow_pressure(throughput)
        setting = _setting(self._notch.value)
        self._tuning = replace(
            self._tuning,
            num_workers=num_workers,
            first_step_s=_USUAL.first_step_s if self._is_slow() else setting.first_step_s,
            step_budget_s=setting.step_budget_s,
            first_weight_scale=setting.first_weight_scale,
            throughput=throughput,
        )
        return self._tuning

    def _smooth(self, measured: Measured) -> bool:
        """Take the measures; return whether any first packet was among them."""
        ratios = [measured.ttfp_s[each] / target for each, target in self._targets.items() if each in measured.ttfp_s]
        if ratios:  # by ratio, so that twice too late and twice too early count alike
            self._pressure = _mix(self._pressure, math.log(max(*ratios, 1e-3)))
        self._rtf = _mix(self._rtf, measured.rtf)
        self._load = _mix(self._load, measured.load)
        return bool(ratios)

    def _follow_backlog(self, backlog_s: float) -> bool:
        is_over = backlog_s < LOW_WATER_S and (self._load or 0.0) < ROOMY
        return bool(self._throughput.follow(up=backlog_s > HIGH_WATER_S, down=is_over))

    def _follow_load(self, backlog_s: float) -> int:
        load, num_workers = self._load or 0.0, self._workers.value
        is_idle = num_workers > 1 and load * num_workers / (num_workers - 1) < IDLE and backlog_s < LOW_WATER_S
        return self._workers.follow(up=load > BUSY or backlog_s > HIGH_WATER_S, down=is_idle)

    def _follow_pressure(self, throughput: bool) -> None:
        pressure = self._pressure or 0.0
        may_tighten = not throughput and (self._load or 0.0) < FULL
        self._notch.follow(up=pressure > math.log(LATE) and may_tighten, down=pressure < math.log(EARLY))

    def _is_slow(self) -> bool:
        rtf = self._rtf or 0.0
        return bool(self._slow.follow(up=rtf > SLOW, down=rtf < QUICK))


def _mix(old: float | None, new: float) -> float:
    return new if old is None else old + SMOOTHING * (new - old)
