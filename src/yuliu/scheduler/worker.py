"""The shell around the policy: it tells it what happened and lets lanes do what it decides.

Any thread may call :class:`Scheduler`; all state is guarded by one lock that is never held while an engine works.
Outputs of a stream are handed to its ``sink`` in order, on a lane's thread or the caller's; a sink must be quick and
must not raise. After ``close`` of a stream returns no further output of it begins.

A forked process inherits the object but not its threads: there it opens nothing and closes nothing.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.errors import Closed, Overloaded, SynthesisFailed
from yuliu.scheduler.costs import EngineFacts
from yuliu.scheduler.events import (
    Action,
    Admit,
    Event,
    Fail,
    LaneLost,
    LaneUp,
    Plan,
    PlanFinished,
    PlayedTo,
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
    WorkFailed,
)
from yuliu.scheduler.lane import Lane, Outcome, Task, Work
from yuliu.scheduler.policy import Policy
from yuliu.scheduler.tuning import Tuning

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.engines.api import Capabilities, Engine, PlanOptions, Utterance
    from yuliu.scheduler.lane import Made
    from yuliu.types import Samples, Segment

HANG_S = 10.0
"""A lane whose task takes longer is given up."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The stream is carried from now on."""

    throughput: bool
    """Whether it is spoken in whole sentences and larger steps, since much is waiting."""
    first_weight_scale: float = 1.0
    """Factor on the weight of its first segment."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A segment was planned; if the utterance is done it has no sound."""

    utterance: Utterance
    at_s: float = 0.0
    """When, on the scheduler's clock."""
    took_s: float = 0.0
    """How long it was at work; 0 if it was at hand already."""
    num_retries: int = 0
    """How often work on the segment had failed by then."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A step of the stream's current utterance."""

    samples: Samples
    utterance: Utterance
    at_s: float = 0.0
    """When it was made, on the scheduler's clock."""
    took_s: float = 0.0
    """How long the step was at work; 0 if the sound was at hand already."""
    cached: bool = False
    """Whether the sound was at hand already."""
    num_retries: int = 0
    """How often work on the segment had failed by then."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The stream gets nothing more: it was refused, an engine failed twice, or the scheduler was closed under it."""

    error: Overloaded | SynthesisFailed | Closed


Output = Admitted | Planned | Rendered | Broken


class Scheduler:
    """Shares engines between streams.

    Args:
        factories: For each engine what makes an instance of it, warm; called once a lane. The lanes close them.
        num_lanes: Threads that work; None takes one a core, four at most.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        factories: Mapping[str, Callable[[], Engine]],
        *,
        num_lanes: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._factories = dict(factories)
        self.clock: Callable[[], float] = clock
        """Seconds, monotonic: the clock of all its stamps."""
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._sinks: dict[int, Callable[[Output], None]] = {}
        self._work: dict[int, Work] = {}
        self._errors: dict[int, SynthesisFailed] = {}
        self._ids = itertools.count()
        self._lane_ids = itertools.count()
        self._lanes: dict[str, Lane] = {}
        self._abandoned: deque[int] = deque()
        self._closed = False
        self._process_id = os.getpid()
        first = {name: make() for name, make in factories.items()}
        self.capabilities: Mapping[str, Capabilities] = {name: engine.capabilities for name, engine in first.items()}
        """What each engine can do."""
        self._tuning = Tuning()
        self._policy = Policy({name: _facts(found) for name, found in self.capabilities.items()}, self._tuning)
        self._add_lane({name: _given(engine) for name, engine in first.items()})
        for _ in range((num_lanes or min(4, os.cpu_count() or 1)) - 1):
            self._add_lane(self._factories)
        self._timer = threading.Thread(target=self._watch, name="yuliu-timer", daemon=True)
        self._timer.start()

    def open(self, sink: Callable[[Output], None], engines: tuple[str, ...] = (), terms: Terms | None = None) -> int:
        """A new stream, which asks to be admitted; its outputs go to ``sink``, the first is Admitted or Broken.

        Args:
            sink: Takes its outputs.
            engines: Those that its voice may use; none means all.
            terms: How it wants to be treated.
        """
        if self._is_forked:  # asked first: the lock may have been held when the process was forked
            raise Closed("the speaker was opened before this process was forked; open one in each process")
        with self._lock:
            if self._closed:
                raise Closed("the scheduler is closed; open a new speaker")
            stream_id = next(self._ids)
            self._sinks[stream_id] = sink
            self._handle(StreamOpened(stream_id, engines or tuple(self._factories), terms or Terms()))
            return stream_id

    def submit(self, stream_id: int, engine: str, segment: Segment, options: PlanOptions) -> None:
        """A further segment of a stream, to be spoken by an engine. Ignored once the stream is closed."""
        with self._lock:
            if stream_id in self._sinks:
                job_id = next(self._ids)
                self._work[job_id] = Work(job_id, stream_id, engine, segment, options)
                self._handle(SegmentReady(stream_id, job_id, engine))

    def abandon(self, stream_id: int) -> None:
        """Nobody knows the stream any more: it is closed with the next event. Takes no lock, for finalizers."""
        self._abandoned.append(stream_id)

    def end_text(self, stream_id: int) -> None:
        """The stream gets no further segments."""
        with self._lock:
            self._handle(TextEnded(stream_id))

    def taken(self, stream_id: int, audio_s: float) -> None:
        """The stream's reader took so much sound."""
        with self._lock:
            self._handle(SoundTaken(stream_id, audio_s))

    def played(self, stream_id: int, position_s: float) -> None:
        """The stream's listener has heard so much of its sound."""
        with self._lock:
            self._handle(PlayedTo(stream_id, position_s))

    def close_stream(self, stream_id: int) -> None:
        """Stop all work of a stream; at most the step under way is finished, and thrown away."""
        with self._lock:
            if self._forget(stream_id):
                self._handle(StreamClosed(stream_id))

    def close(self) -> None:
        """Break all streams, stop the lanes and close the engines."""
        if self._is_forked:
            return
        with self._lock:
            self._closed = True
            for stream_id, sink in list(self._sinks.items()):
                sink(Broken(Closed("the speaker was closed while this stream was open")))
                self.close_stream(stream_id)
            for lane in self._lanes.values():
                lane.stop()
            self._changed.notify_all()
        for lane in self._lanes.values():
            lane.join()
        self._timer.join()

    @property
    def num_streams(self) -> int:
        """Streams open now."""
        with self._lock:
            self._close_abandoned()
            return len(self._sinks)

    @property
    def num_jobs(self) -> int:
        """Segments not rendered to their end."""
        with self._lock:
            self._close_abandoned()
            return self._policy.num_jobs

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process_id

    def _add_lane(self, factories: Mapping[str, Callable[[], Engine]]) -> None:
        lane = Lane(f"lane-{next(self._lane_ids)}", factories, up=self._lane_up, done=self._lane_done)
        self._lanes[lane.name] = lane
        lane.start()

    def _lane_up(self, lane: Lane) -> None:
        with self._lock:
            if lane.name in self._lanes and not self._closed:
                self._handle(LaneUp(lane.name))

    def _lane_done(self, outcome: Outcome) -> None:
        """Hand the outputs on and let the policy know."""
        with self._lock:
            lane = outcome.lane
            lane.busy_since_s = None
            if self._lanes.get(lane.name) is not lane:
                return  # it was given up meanwhile, and its task given to another
            if outcome.error is not None:
                self._errors |= {work.stream_id: outcome.error for work in outcome.task.works}
                for work in outcome.task.works:
                    work.num_retries += 1
                self._handle(WorkFailed(lane.name, tuple(work.job_id for work in outcome.task.works)))
                return
            for made in outcome.made:
                self._hand_on(made, outcome.took_s)
            self._handle(self._finished(outcome))

    def _hand_on(self, made: Made, took_s: float) -> None:
        work = made.work
        sink = self._sinks.get(work.stream_id)
        if sink is None:
            return
        work.utterance = made.utterance
        at_s, num_retries = self.clock(), work.num_retries
        if made.samples is None:
            sink(Planned(made.utterance, at_s, took_s, num_retries))
        else:
            sink(Rendered(made.samples, made.utterance, at_s, took_s, num_retries=num_retries))
        if made.utterance.done:
            self._work.pop(work.job_id, None)

    def _finished(self, outcome: Outcome) -> Event:
        if outcome.task.num_frames is None:
            (made,) = outcome.made
            after = made.utterance
            return PlanFinished(outcome.lane.name, made.work.job_id, after.num_frames, after.done, outcome.took_s)
        return StepFinished(outcome.lane.name, tuple(map(self._part, outcome.made)), outcome.took_s)

    def _part(self, made: Made) -> StepPart:
        assert made.before is not None and made.samples is not None  # noqa: S101, PT018 - a step's
        audio_s = len(made.samples) / self.capabilities[made.work.engine].format.sample_rate
        num_frames = made.utterance.next_frame - made.before.next_frame
        return StepPart(made.work.job_id, num_frames, audio_s, made.utterance.done)

    def _forget(self, stream_id: int) -> bool:
        if self._sinks.pop(stream_id, None) is None:
            return False
        self._work = {job_id: work for job_id, work in self._work.items() if work.stream_id != stream_id}
        self._errors.pop(stream_id, None)
        return True

    def _close_abandoned(self) -> None:
        while self._abandoned:
            self.close_stream(self._abandoned.popleft())

    def _handle(self, event: Event) -> None:
        self._close_abandoned()
        now = self.clock()
        for action in self._policy.handle(event, now):
            self._do(action, now)
        self._changed.notify_all()

    def _do(self, action: Action, now: float) -> None:
        match action:
            case Admit():
                self._tell(action.stream_id, Admitted(action.throughput, self._tuning.first_weight_scale))
            case Reject():
                message = "more streams are being spoken than this machine can carry; try again later"
                self._break(action.stream_id, Overloaded(message, retry_after_s=action.retry_after_s))
            case Fail():
                lost = SynthesisFailed("the engine hung or crashed twice while speaking; see the log")
                self._break(action.stream_id, self._errors.get(action.stream_id, lost))
            case Plan():
                self._give(action.lane, Task((self._work[action.job_id],)), now)
            case Step():
                works = tuple(self._work[part.job_id] for part in action.parts)
                self._give(action.lane, Task(works, tuple(part.num_frames for part in action.parts)), now)
            case Serve():
                pass

    def _give(self, name: str, task: Task, now: float) -> None:
        lane = self._lanes[name]
        lane.busy_since_s = now
        lane.give(task)

    def _tell(self, stream_id: int, output: Output) -> None:
        if (sink := self._sinks.get(stream_id)) is not None:
            sink(output)

    def _break(self, stream_id: int, error: Overloaded | SynthesisFailed) -> None:
        """The policy has forgotten the stream already."""
        self._tell(stream_id, Broken(error))
        self._forget(stream_id)

    def _watch(self) -> None:
        """Let the policy know that time has passed, and give up lanes that hang."""
        with self._lock:
            while not self._closed:
                now = self.clock()
                self._give_up_hung(now)
                wakes = [self._policy.next_wake(now)]
                wakes += [lane.busy_since_s + HANG_S for lane in self._lanes.values() if lane.busy_since_s is not None]
                wake = min((time_s for time_s in wakes if time_s is not None), default=None)
                if wake is not None and wake <= now:
                    self._handle(Ticked())
                    wake = now + 0.001  # not at once again
                self._changed.wait(None if wake is None else max(0.0, wake - now))

    def _give_up_hung(self, now: float) -> None:
        for lane in list(self._lanes.values()):
            if lane.busy_since_s is not None and now - lane.busy_since_s >= HANG_S:
                del self._lanes[lane.name]
                lane.stop()  # should it ever come back
                self._handle(LaneLost(lane.name))
                self._add_lane(self._factories)


def _facts(found: Capabilities) -> EngineFacts:
    return EngineFacts(found.format.sample_rate / found.hop_samples, found.max_batch)


def _given(engine: Engine) -> Callable[[], Engine]:
    return lambda: engine
