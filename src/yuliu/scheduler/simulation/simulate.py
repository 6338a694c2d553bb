"""Many listeners on a virtual clock: the real policy, and engines that take as long as a table says. Pure.

For planning capacity, and for tests of the policy: minutes of load take less than a second.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

from yuliu.scheduler.policy.autotune import Controller, Measured
from yuliu.scheduler.policy.events import (
    Admit,
    Fail,
    Plan,
    PlanFinished,
    Reject,
    SegmentReady,
    Serve,
    SoundTaken,
    Step,
    StepFinished,
    StepPart,
    StreamClosed,
    StreamOpened,
    Terms,
    TextEnded,
    Ticked,
    Tuned,
    WorkerUp,
)
from yuliu.scheduler.policy.policy import Policy
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.scheduler.simulation.loads import Load, Result, SimulatedListener
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.scheduler.policy.events import Action, Event
    from yuliu.scheduler.simulation.rates import Rates

__all__ = ("Load", "Result", "Simulation", "capacity", "carried", "simulate")


@dataclass(slots=True)
class _Work:
    listener: SimulatedListener
    audio_s: float
    num_frames: int
    num_made: int = 0


@dataclass(slots=True)
class _Told:
    """Results so far."""

    num_streams: int = 0
    num_admitted: int = 0
    num_completed: int = 0
    ttfp_s: list[float] = field(default_factory=list)
    underrun_s: list[float] = field(default_factory=list)
    retry_after_s: list[float] = field(default_factory=list)
    audio_s: float = 0.0
    bulk_s: float = 0.0
    lately_s: list[tuple[StreamClass, float]] = field(default_factory=list)
    num_tunings: int = 0


class Simulation:
    """A run of a load on workers.

    Args:
        rates: How long the engines take; each stream uses one of them, by chance.
        load: The offered load.
        num_workers: Number of workers.
        tuning: Tuning of the policy.
        controller: Adjusts the tuning once a second, if there is one.
        watch: Gets every event with the actions of the policy.
    """

    def __init__(
        self,
        rates: Mapping[str, Rates],
        load: Load,
        *,
        num_workers: int = 2,
        tuning: Tuning | None = None,
        controller: Controller | None = None,
        watch: Callable[[Event, float, list[Action]], None] | None = None,
    ) -> None:
        self._rates, self._load, self._num_workers = rates, load, num_workers
        self._tuning, self._controller = tuning or Tuning(), controller
        self._watch = watch
        self._policy = Policy({name: each.facts for name, each in rates.items()}, self._tuning)
        self._random = Random(load.seed)  # noqa: S311 - the run must be repeatable
        self._now = 0.0
        self._wake_at_s = float("inf")
        self._order = itertools.count()
        self._ids = itertools.count(1)
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._listeners: dict[int, SimulatedListener] = {}
        self._work: dict[int, _Work] = {}
        self._told = _Told()
        self._busy_s = 0.0
        self._busy_before_s = 0.0

    def run(self, *, strict: bool = False) -> Result:
        """Run until all listeners that came in time have been served.

        Args:
            strict: True to end as soon as a stream is rejected or a listener hears a gap.
        """
        for number in range(self._num_workers):
            self._tell(WorkerUp(f"worker-{number}"))
        self._invite()
        while self._agenda:
            self._now, _, act = heapq.heappop(self._agenda)
            if self._now > self._load.seconds and not self._anybody():
                break
            if strict and (self._told.retry_after_s or self._told.underrun_s):
                break
            act()
        told = self._told
        return Result(
            num_streams=told.num_streams,
            num_admitted=told.num_admitted,
            num_rejected=len(told.retry_after_s),
            num_completed=told.num_completed,
            ttfp_s=tuple(sorted(told.ttfp_s)),
            underrun_s=tuple(told.underrun_s),
            retry_after_s=tuple(told.retry_after_s),
            audio_s=told.audio_s,
            bulk_s=told.bulk_s,
            load=self._busy_s / (self._num_workers * self._now) if self._now else 0.0,
            seconds=self._now,
            num_tunings=told.num_tunings,
        )

    # Arrivals.

    def _invite(self) -> None:
        load = self._load
        stagger_s = min(load.audio_s + load.think_s, load.seconds / 2)
        for _ in range(load.num_streams):
            self._after(self._random.uniform(0, stagger_s), lambda: self._ask(again=True))
        for _ in range(load.num_bulk):
            self._after(0.0, lambda: self._ask(again=False, stream_class=StreamClass.BULK))
        if load.rate_per_s:
            self._after(self._random.expovariate(load.rate_per_s), self._arrive)
        if self._controller is not None:
            self._after(1.0, self._control)

    def _anybody(self) -> bool:
        return any(each.stream_class is not StreamClass.BULK for each in self._listeners.values())

    def _arrive(self) -> None:
        if self._now < self._load.seconds:
            self._ask(again=False)
            self._after(self._random.expovariate(self._load.rate_per_s), self._arrive)

    def _ask(self, *, again: bool, stream_class: StreamClass | None = None) -> None:
        if self._now >= self._load.seconds:
            return
        load, stream_id = self._load, next(self._ids)
        names = list(self._rates)
        if stream_class is None:
            urgent = self._random.random() < load.interactive
            stream_class = StreamClass.INTERACTIVE if urgent else StreamClass.STANDARD
            self._told.num_streams += 1
        audio_s = load.audio_s * self._random.uniform(0.5, 1.5)
        first_s = min(audio_s, load.segment_s / 2 * self._tuning.first_weight_scale)
        segments_s = [first_s]
        while (left_s := audio_s - sum(segments_s)) > 0.1:
            segments_s.append(min(left_s, load.segment_s))
        engine = self._random.choice(names)
        self._listeners[stream_id] = SimulatedListener(
            stream_id, engine, stream_class, deque(segments_s), self._now, again
        )
        max_lead_s = None if stream_class is StreamClass.BULK else load.max_lead_s
        self._tell(StreamOpened(stream_id, (engine,), Terms(stream_class, max_lead_s=max_lead_s)))

    def _speak(self, listener: SimulatedListener) -> None:
        """Two more segments are given at a time, as a session does."""
        for _ in range(2):
            if listener.segments_s:
                audio_s, job_id = listener.segments_s.popleft(), next(self._ids)
                if listener.stream_class is StreamClass.BULK:  # there is always more
                    listener.segments_s.append(self._load.segment_s)
                num_frames = max(1, round(audio_s * self._rates[listener.engine].frames_per_s))
                self._work[job_id] = _Work(listener, audio_s, num_frames)
                self._tell(SegmentReady(listener.stream_id, job_id, listener.engine))
        if not listener.segments_s and not listener.closed:
            self._tell(TextEnded(listener.stream_id))

    # Actions of the policy.

    def _tell(self, event: Event) -> None:
        actions = self._policy.handle(event, self._now)
        if self._watch is not None:
            self._watch(event, self._now, actions)
        for action in actions:
            self._do(action)
        wake_s = self._policy.next_wake(self._now)
        if wake_s is not None and (wake_s < self._wake_at_s or self._wake_at_s <= self._now):
            self._wake_at_s = max(wake_s, self._now + 1e-6)
            self._at(self._wake_at_s, self._tick)

    def _tick(self) -> None:
        if self._now >= self._wake_at_s:
            self._wake_at_s = float("inf")
            self._tell(Ticked())

    def _do(self, action: Action) -> None:
        match action:
            case Admit():
                listener = self._listeners[action.stream_id]
                self._told.num_admitted += listener.stream_class is not StreamClass.BULK
                self._after(0.0, lambda: self._speak(listener))
            case Reject():
                listener = self._listeners.pop(action.stream_id)
                self._told.retry_after_s.append(action.retry_after_s)
                if listener.again:
                    self._after(action.retry_after_s, lambda: self._ask(again=True))
            case Plan():
                self._plan(action)
            case Step():
                self._step(action)
            case Serve() | Fail():
                raise AssertionError("nothing is cached and nothing fails here")

    def _plan(self, action: Plan) -> None:
        work = self._work[action.job_id]
        took_s = self._taking(self._rates[work.listener.engine].plan_takes_s(work.audio_s))
        done = PlanFinished(action.worker, action.job_id, work.num_frames, False, took_s)
        self._after(took_s, lambda: self._tell(done))

    def _step(self, action: Step) -> None:
        rates = self._rates[self._work[action.parts[0].job_id].listener.engine]
        longest = max(order.num_frames for order in action.parts)
        took_s = self._taking(rates.step_takes_s(longest / rates.frames_per_s, len(action.parts)))
        parts = []
        for order in action.parts:
            work = self._work[order.job_id]
            num_frames = min(order.num_frames, work.num_frames - work.num_made)
            work.num_made += num_frames
            done = work.num_made == work.num_frames
            parts.append(StepPart(order.job_id, num_frames, num_frames / rates.frames_per_s, done))
        self._after(took_s, lambda: self._stepped(StepFinished(action.worker, tuple(parts), took_s)))

    def _stepped(self, event: StepFinished) -> None:
        self._tell(event)
        for part in event.parts:
            listener = self._work[part.job_id].listener
            if listener.stream_class is StreamClass.BULK:
                self._told.bulk_s += part.audio_s
            else:
                self._heard(listener, part.audio_s)
            self._tell(SoundTaken(listener.stream_id, part.audio_s))
            if part.done:
                del self._work[part.job_id]
                self._segment_done(listener)

    def _heard(self, listener: SimulatedListener, audio_s: float) -> None:
        if listener.first_at_s is None:
            self._told.ttfp_s.append(self._now - listener.asked_at_s)
            self._told.lately_s.append((listener.stream_class, self._told.ttfp_s[-1]))
        self._told.audio_s += audio_s
        listener.hear(audio_s, self._now)

    def _segment_done(self, listener: SimulatedListener) -> None:
        if listener.segments_s:
            self._speak(listener)
        elif not any(work.listener is listener for work in self._work.values()):
            self._end(listener)

    def _end(self, listener: SimulatedListener) -> None:
        listener.closed = True
        del self._listeners[listener.stream_id]
        self._told.num_completed += listener.stream_class is not StreamClass.BULK
        if listener.underrun_s:
            self._told.underrun_s.append(listener.underrun_s)
        if listener.again:
            think_s = self._random.uniform(0.5, 1.5) * self._load.think_s
            self._after(listener.dry_at_s - self._now + think_s, lambda: self._ask(again=True))
        self._tell(StreamClosed(listener.stream_id))

    # Time.

    def _control(self) -> None:
        """Tune once a second, as the scheduler does."""
        assert self._controller is not None  # noqa: S101 - the caller has checked
        snapshot = self._policy.snapshot(self._now)
        by_class: dict[StreamClass, list[float]] = {}
        for stream_class, ttfp_s in self._told.lately_s:
            by_class.setdefault(stream_class, []).append(ttfp_s)
        self._told.lately_s.clear()
        measured = Measured(
            ttfp_s={each: sorted(all_s)[int(0.95 * len(all_s))] for each, all_s in by_class.items()},
            rtf=snapshot.worst_rtf,
            backlog_s=snapshot.backlog_s,
            load=min(1.0, (snapshot.busy_s - self._busy_before_s) / max(1, snapshot.num_workers)),
        )
        self._busy_before_s = snapshot.busy_s
        found = self._controller.update(measured, self._now)
        if found != self._tuning:
            self._tuning = found
            self._told.num_tunings += 1
            self._tell(Tuned(found))
        if self._now < self._load.seconds or self._anybody():
            self._after(1.0, self._control)

    def _taking(self, seconds: float) -> float:
        took_s = seconds * (1 + self._load.jitter * self._random.uniform(-1, 1))
        self._busy_s += took_s
        return took_s

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        self._at(self._now + max(0.0, seconds), act)

    def _at(self, at_s: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._agenda, (at_s, next(self._order), act))


def simulate(
    rates: Mapping[str, Rates],
    load: Load,
    *,
    num_workers: int = 2,
    tuning: Tuning | None = None,
    controller: Controller | None = None,
) -> Result:
    """Run a load; the same arguments give the same result."""
    return Simulation(rates, load, num_workers=num_workers, tuning=tuning, controller=controller).run()


def carried(result: Result) -> bool:
    """Return whether all streams were admitted and no listener heard a gap."""
    return not result.num_rejected and not result.underrun_s


def capacity(rates: Mapping[str, Rates], load: Load, *, num_workers: int, most: int = 4096) -> int:
    """Return how many listeners in a closed loop can be carried, found by bisection.

    Args:
        rates: How long the engines take.
        load: Properties of their streams; its numbers of streams are not used.
        num_workers: Number of workers.
        most: Upper bound of the search.
    """

    def fits(number: int) -> bool:
        load_ = replace(load, num_streams=number, rate_per_s=0.0)
        return carried(Simulation(rates, load_, num_workers=num_workers).run(strict=True))

    low, high = 0, 1
    while high <= most and fits(high):
        low, high = high, 2 * high
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return min(low, most)
