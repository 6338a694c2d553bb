"""The threads that own the engines: one lane each, doing what the policy says.

Any thread may call :class:`Scheduler`; all state is guarded by one lock that is never held while an engine works.
Outputs of a stream are handed to its ``sink`` on a lane's thread, in order; a sink must be quick and must not raise.
After ``close`` of a stream returns no further output of it begins.

A forked process inherits the object but not its threads: there it opens nothing and closes nothing.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.engines.api import StepRequest
from yuliu.errors import Closed, SynthesisFailed
from yuliu.scheduler.policy import (
    LaneFreed,
    Plan,
    PlanFinished,
    Policy,
    SegmentReady,
    SoundTaken,
    Step,
    StepFinished,
    StreamClosed,
    StreamOpened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.engines.api import Engine, PlanOptions, Utterance
    from yuliu.scheduler.policy import Action, Event
    from yuliu.types import Samples, Segment


@dataclass(frozen=True, slots=True)
class Planned:
    """A segment was planned; if the utterance is done it has no sound."""

    utterance: Utterance


@dataclass(frozen=True, slots=True)
class Rendered:
    """A step of the stream's current utterance."""

    samples: Samples
    utterance: Utterance


@dataclass(frozen=True, slots=True)
class Broken:
    """The stream gets nothing more: an engine failed, or the scheduler was closed under it."""

    error: SynthesisFailed | Closed


Output = Planned | Rendered | Broken


@dataclass(slots=True)
class _Work:
    stream_id: int
    segment: Segment
    options: PlanOptions
    utterance: Utterance | None = None


class Scheduler:
    """Shares engines between streams.

    Args:
        engines: One engine a lane, by the lane's name. The scheduler closes them.
        clock: Seconds, monotonic.
    """

    def __init__(self, engines: Mapping[str, Engine], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._engines = dict(engines)
        self._clock = clock
        self._lock = threading.Lock()
        self._wake = {lane: threading.Condition(self._lock) for lane in engines}
        self._todo: dict[str, Action | None] = dict.fromkeys(engines)
        self._sinks: dict[int, Callable[[Output], None]] = {}
        self._work: dict[int, _Work] = {}
        self._ids = itertools.count()
        self._closed = False
        self._process_id = os.getpid()
        self._policy = Policy(
            {
                lane: engine.capabilities.format.sample_rate / engine.capabilities.hop_samples
                for lane, engine in engines.items()
            }
        )
        self._threads = [
            threading.Thread(target=self._run_lane, args=(lane,), name=f"yuliu-{lane}", daemon=True) for lane in engines
        ]
        for thread in self._threads:
            thread.start()

    def open(self, sink: Callable[[Output], None]) -> int:
        """A new stream; its outputs go to ``sink``."""
        if self._is_forked:  # asked first: the lock may have been held when the process was forked
            raise Closed("the speaker was opened before this process was forked; open one in each process")
        with self._lock:
            if self._closed:
                raise Closed("the scheduler is closed; open a new speaker")
            stream_id = next(self._ids)
            self._sinks[stream_id] = sink
            self._handle(StreamOpened(stream_id))
            return stream_id

    def submit(self, stream_id: int, lane: str, segment: Segment, options: PlanOptions) -> None:
        """A further segment of a stream, to be spoken by the engine on a lane. Ignored once the stream is closed."""
        with self._lock:
            if stream_id in self._sinks:
                job_id = next(self._ids)
                self._work[job_id] = _Work(stream_id, segment, options)
                self._handle(SegmentReady(stream_id, job_id, lane))

    def taken(self, stream_id: int, audio_s: float) -> None:
        """The stream's reader took so much sound."""
        with self._lock:
            self._handle(SoundTaken(stream_id, audio_s))

    def close_stream(self, stream_id: int) -> None:
        """Stop all work of a stream; at most the step under way is finished, and thrown away."""
        with self._lock:
            self._forget(stream_id)

    def close(self) -> None:
        """Break all streams, stop the lanes and close the engines."""
        if self._is_forked:
            return
        with self._lock:
            self._closed = True
            for stream_id, sink in list(self._sinks.items()):
                sink(Broken(Closed("the speaker was closed while this stream was open")))
                self._forget(stream_id)
            for condition in self._wake.values():
                condition.notify()
        for thread in self._threads:
            thread.join()

    @property
    def num_streams(self) -> int:
        """Streams open now."""
        with self._lock:
            return len(self._sinks)

    @property
    def num_jobs(self) -> int:
        """Segments not rendered to their end."""
        with self._lock:
            return self._policy.num_jobs

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process_id

    def _forget(self, stream_id: int) -> None:
        if self._sinks.pop(stream_id, None) is not None:
            self._work = {job_id: work for job_id, work in self._work.items() if work.stream_id != stream_id}
            self._handle(StreamClosed(stream_id))

    def _handle(self, event: Event) -> None:
        for action in self._policy.handle(event, self._clock()):
            self._todo[action.lane] = action
            self._wake[action.lane].notify()

    def _run_lane(self, lane: str) -> None:
        engine = self._engines[lane]
        while (action := self._next(lane)) is not None:
            with self._lock:
                work = self._work.get(action.job_id)
                if work is None:
                    self._handle(LaneFreed(lane))
                    continue
            output: Output
            try:
                output = _perform(engine, action, work)
            except SynthesisFailed as error:
                output = Broken(error)
            except Exception as error:  # noqa: BLE001 - the one boundary to code that is not ours: nothing is hidden
                broken = SynthesisFailed(f"the engine on lane {lane!r} raised {type(error).__name__}; see its log")
                broken.__cause__ = error
                output = Broken(broken)
            self._report(lane, action, work, output)
        engine.close()

    def _next(self, lane: str) -> Action | None:
        """Wait for what the lane shall do; None when the scheduler is closed."""
        with self._lock:
            while not (self._closed or self._todo[lane]):
                self._wake[lane].wait()
            action, self._todo[lane] = self._todo[lane], None
            return None if self._closed else action

    def _report(self, lane: str, action: Action, work: _Work, output: Output) -> None:
        """Hand the output on and let the policy know, unless the stream was closed meanwhile."""
        with self._lock:
            sink = self._sinks.get(work.stream_id)
            if sink is None:
                self._handle(LaneFreed(lane))
                return
            sink(output)
            if isinstance(output, Broken):
                self._forget(work.stream_id)
                self._handle(LaneFreed(lane))
                return
            before, work.utterance = work.utterance, output.utterance
            if output.utterance.done:
                del self._work[action.job_id]
            self._handle(self._finished(lane, action, before, output))

    def _finished(self, lane: str, action: Action, before: Utterance | None, output: Planned | Rendered) -> Event:
        after = output.utterance
        if isinstance(output, Planned) or before is None:
            return PlanFinished(action.job_id, after.num_frames, after.done)
        audio_s = len(output.samples) / self._engines[lane].capabilities.format.sample_rate
        return StepFinished(action.job_id, after.next_frame - before.next_frame, audio_s, after.done)


def _perform(engine: Engine, action: Action, work: _Work) -> Planned | Rendered:
    match action:
        case Plan():
            return Planned(engine.plan(work.segment, work.options))
        case Step():
            assert work.utterance is not None  # noqa: S101 - the policy steps only what was planned
            (result,) = engine.step([StepRequest(work.utterance, action.num_frames)])
            return Rendered(result.samples, result.utterance)
