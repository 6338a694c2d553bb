"""The shell around the policy: it passes on what happens, and lets workers do what the policy decides.

Any thread may call :class:`Scheduler`; all state is guarded by one lock that is never held while an engine works.
Outputs of a stream are handed to its ``sink`` in order, on a worker's thread, the timer's or the caller's; a sink must
be quick and must not raise. After ``close_stream`` returns no further output of the stream begins.

A forked process inherits the object but not its threads: there it opens nothing and closes nothing.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from yuliu.errors import Closed, SynthesisFailed
from yuliu.logger import event_logger
from yuliu.scheduler.cache import SoundCache
from yuliu.scheduler.dispatcher import Dispatcher, facts_of
from yuliu.scheduler.observer import Unobserved
from yuliu.scheduler.policy.autotune import Autotuner
from yuliu.scheduler.policy.events import (
    Admit,
    Event,
    Fail,
    PlayedTo,
    Reject,
    SegmentReady,
    SoundTaken,
    StreamClosed,
    StreamOpened,
    Terms,
    TextEnded,
    Ticked,
    Tuned,
    WorkerLost,
    WorkerUp,
)
from yuliu.scheduler.policy.policy import Policy
from yuliu.scheduler.requests import NOTHING_AFTER, After, Request
from yuliu.scheduler.settings import Settings
from yuliu.scheduler.stream_table import StreamRecord, StreamTable
from yuliu.scheduler.timer import Timer
from yuliu.scheduler.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from yuliu.engines.api import Capabilities, PlanOptions
    from yuliu.engines.registry import EngineSpec
    from yuliu.scheduler.cache import CacheCounts
    from yuliu.scheduler.dispatcher import WorkerEvent
    from yuliu.scheduler.observer import Observer
    from yuliu.scheduler.outputs import Output
    from yuliu.scheduler.policy.snapshot import Snapshot
    from yuliu.scheduler.policy.tuning import Tuning
    from yuliu.scheduler.workers.api import Message, StartWorker
    from yuliu.types import Segment

TICK_S = 1.0
"""Maximum time between two looks of the timer, seconds."""

_log = event_logger("yuliu.scheduler")


class Scheduler:
    """Shares engines between streams.

    Args:
        engines: Specs of all engines. Workers build them; the first worker of each kind is waited for here.
        settings: Settings for the scheduler's life.
        clock: Seconds, monotonic.
        observer: Is told what happens.
        backends: How a worker of each kind is made; None takes threads and event loops of this process.

    Raises:
        Exception: Whatever building the first engines raised.
    """

    def __init__(
        self,
        engines: Sequence[EngineSpec],
        settings: Settings | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        observer: Observer | None = None,
        backends: Mapping[str, StartWorker] | None = None,
    ) -> None:
        self._settings = settings = settings or Settings()
        self.clock: Callable[[], float] = clock
        """Seconds, monotonic: the clock of all its stamps."""
        self._observer: Observer = observer or Unobserved()
        self._lock = threading.RLock()
        self._timer = Timer(self._lock, clock, self._tick)
        self._ids = itertools.count()
        self._events: deque[Event] = deque()
        self._is_handling = False
        self._abandoned: deque[int] = deque()
        self._closed = False
        self._process_id = os.getpid()
        self._inbox: queue.SimpleQueue[Message] | None = queue.SimpleQueue()  # until the first workers are up
        self._pool = WorkerPool(engines, self.report, settings, backends)
        first = self._pool.start_first(self._inbox, clock())
        self.capabilities: Mapping[str, Capabilities] = {
            spec.name: each.engines[spec.name] for spec in engines for each in first if spec.name in each.engines
        }
        """Capabilities of each engine, as the first workers announced them."""
        self._cache = SoundCache(settings.cache_bytes, settings.phrase_bytes)
        self._streams = StreamTable(self.capabilities, self._cache, settings.still_s, settings.versions)
        self._tuning = settings.tuning
        facts = {name: facts_of(found) for name, found in self.capabilities.items()}
        self._policy = Policy(facts, self._tuning)
        self._record = settings.record(facts, self._tuning) if settings.record else None
        self._autotuner = Autotuner(settings.tuning, settings.num_threads if settings.adaptive else None)
        self._dispatcher = Dispatcher(self._streams, self._pool, self._observer)
        self._inbox = None
        with self._lock:
            for message in first:
                self.report(message)
            self._pool.fill(clock())
        self._timer.start()

    def open(self, sink: Callable[[Output], None], engines: tuple[str, ...] = (), terms: Terms | None = None) -> int:
        """Open a stream, which asks to be admitted; its first output is Admitted or Broken.

        Args:
            sink: Takes its outputs.
            engines: Engines that its voice may use; none means all.
            terms: How it is to be treated.
        """
        if self._is_forked:  # asked first: the lock may have been held when the process was forked
            raise Closed("the synthesizer was opened before this process was forked; open one in each process")
        terms, engines = terms or Terms(), engines or tuple(self.capabilities)
        with self._lock:
            if self._closed:
                raise Closed("the scheduler is closed; open a new synthesizer")
            stream_id = next(self._ids)
            record = StreamRecord(sink, terms.stream_class, engines, terms.phrases, terms.first_packet_s)
            self._streams.open(stream_id, record)
            self._handle(StreamOpened(stream_id, engines, terms))
            if not all(map(self._pool.carries, engines)):
                self._break(stream_id, self._no_worker())
            return stream_id

    def submit(
        self,
        stream_id: int,
        engine: str,
        segment: Segment,
        options: PlanOptions,
        *,
        after: After = NOTHING_AFTER,
    ) -> int:
        """Add a segment to a stream, to be spoken by an engine; ignored once the stream is closed.

        Returns:
            The job id that the outputs of the segment carry.
        """
        with self._lock:
            job_id = next(self._ids)
            if (stream := self._streams.get(stream_id)) is None:
                return job_id
            self._autotuner.segment_ready(stream_id, stream.stream_class, self.clock(), stream.first_packet_s)
            request = Request(job_id, stream_id, engine, segment, options, after=after)
            cached_s = self._streams.add(request)
            if request.keeping is not None:
                self._observer.cache_lookup("sound", hit=cached_s is not None)
            heard_s = None if cached_s is None else cached_s / after.pace
            self._handle(SegmentReady(stream_id, job_id, engine, heard_s))
            return job_id

    def end_text(self, stream_id: int) -> None:
        """Note that the stream gets no further segments."""
        with self._lock:
            self._handle(TextEnded(stream_id))

    def taken(self, stream_id: int, audio_s: float) -> None:
        """Note that the stream's reader took audio."""
        with self._lock:
            if audio_s:
                self._autotuner.taken(stream_id, self.clock())
            self._handle(SoundTaken(stream_id, audio_s))

    def played(self, stream_id: int, position_s: float) -> None:
        """Note how much of its audio the stream's listener has heard."""
        with self._lock:
            self._handle(PlayedTo(stream_id, position_s))

    def close_stream(self, stream_id: int, *, cancelled: bool = False) -> None:
        """Stop all work of a stream; a step under way is cancelled, or finished and thrown away.

        Args:
            stream_id: The stream.
            cancelled: Whether to measure how long workers stay busy with it.
        """
        if self._is_forked:
            return
        with self._lock:
            if self._streams.close(stream_id):
                if cancelled:
                    self._dispatcher.cancelled(stream_id, self.clock())
                self._handle(StreamClosed(stream_id))

    def abandon(self, stream_id: int) -> None:
        """Close the stream with the next event. Takes no lock, for finalizers."""
        self._abandoned.append(stream_id)

    def tune(self, tuning: Tuning) -> None:
        """Put a tuning in force."""
        with self._lock:
            if tuning != self._tuning:
                self._tuning = tuning
                self._handle(Tuned(tuning))

    @property
    def tuning(self) -> Tuning:
        """The tuning in force."""
        return self._tuning

    def snapshot(self) -> Snapshot:
        """Return the state in numbers."""
        with self._lock:
            self._close_abandoned()
            return self._policy.snapshot(self.clock())

    def cache_counts(self) -> CacheCounts:
        """Return how full the audio cache is."""
        with self._lock:
            return self._cache.counts

    def keeps(self, group: int) -> bool:
        """Return whether there was room for all audio of a group of phrases."""
        with self._lock:
            return self._cache.is_whole(group)

    def unpin(self, group: int) -> None:
        """Stop keeping the audio of a group of phrases."""
        with self._lock:
            self._cache.unpin(group)

    def tick(self) -> None:
        """Look at the clock: give up hanging work, start missing workers, let the policy know.

        The timer calls it when it is time to; a test with its own clock calls it after moving that.
        """
        with self._lock:
            if self._closed:
                return
            now = self.clock()
            for worker in self._pool.hung(now):
                self._note(self._dispatcher.lost(worker, "hung", now), now)
            self._pool.fill(now)
            self.tune(self._autotuner.adapted(self._policy, self._tuning, now))
            self._handle(Ticked())

    def close(self) -> None:
        """Break all streams, stop the workers and close the engines. Waits for busy workers up to ``close_s``."""
        if self._is_forked:
            return
        with self._lock:
            self._closed = True
            for stream_id in self._streams:
                self._break(stream_id, Closed("the synthesizer was closed while this stream was open"))
            self._pool.stop()
            self._timer.stop()
        for name in self._pool.join(self._settings.close_s):
            _log.error("worker_not_ended", name=name, reason="its engine does not return; its thread stays")
        self._timer.join()

    @property
    def num_streams(self) -> int:
        """Number of open streams."""
        with self._lock:
            self._close_abandoned()
            return len(self._streams)

    @property
    def num_jobs(self) -> int:
        """Number of segments not rendered to their end."""
        with self._lock:
            self._close_abandoned()
            return self._policy.num_jobs

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process_id

    # Messages of workers.

    def report(self, message: Message) -> None:
        """Take a message of a worker, on any thread."""
        if self._inbox is not None:
            self._inbox.put(message)
            return
        with self._lock:
            now = self.clock()
            self._note(self._dispatcher.event_of(message, now), now)

    def _note(self, event: WorkerEvent | None, now: float) -> None:
        """Let the policy know of a message; if a worker is lost, replace it and break the streams that need it."""
        if event is None or (self._closed and isinstance(event, WorkerUp | WorkerLost)):
            return
        if not isinstance(event, WorkerLost):
            self._handle(event)
            return
        self._pool.fill(now)
        self._handle(event)
        for stream_id in self._streams.without_engine(self._pool.carries):
            self._break(stream_id, self._no_worker())

    def _no_worker(self) -> SynthesisFailed:
        again_s = self._settings.restart_s
        return SynthesisFailed(f"no engine could be started; see the log. It is tried again every {again_s:g} s")

    # Decisions of the policy.

    def _handle(self, event: Event) -> None:
        """Tell the policy, and carry out its decisions; events that sinks cause meanwhile come after that."""
        self._events.append(event)
        if self._is_handling:
            return
        self._is_handling = True
        try:
            self._close_abandoned()
            while self._events:
                self._tell_policy(self._events.popleft())
        finally:
            self._is_handling = False
        if self._pool.has_free_slot:
            self._timer.wake_by(self._next_wake(self.clock()))

    def _tell_policy(self, event: Event) -> None:
        now = self.clock()
        actions = self._policy.handle(event, now)
        if self._record is not None:
            self._record(now, event, actions)
        for action in actions:
            self._dispatcher.follow(action, self._tuning, now)
            if isinstance(action, Reject | Fail):
                self._forget(action.stream_id, now)  # as the policy has
        if isinstance(event, StreamClosed):
            self._forget(event.stream_id, now)
        if isinstance(event, StreamOpened) and not any(isinstance(action, Admit | Reject) for action in actions):
            self._observer.admission(event.terms.stream_class, "queued")

    def _forget(self, stream_id: int, now: float) -> None:
        self._dispatcher.forget(stream_id, now)
        self._autotuner.closed(stream_id)

    def _break(self, stream_id: int, error: SynthesisFailed | Closed) -> None:
        """End a stream that the policy still knows."""
        self._streams.close_with(stream_id, error)
        self._handle(StreamClosed(stream_id))

    def _close_abandoned(self) -> None:
        while self._abandoned:
            self.close_stream(self._abandoned.popleft())

    # Time.

    def _tick(self) -> float:
        """Look at the clock, and return the time to look again."""
        self.tick()
        return self._next_wake(self.clock())

    def _next_wake(self, now: float) -> float:
        wake = min(now + TICK_S, self._pool.next_wake())
        if not self._pool.has_free_slot:
            return wake  # new work needs a slot: the next task that is over will see to it
        policy_wake = self._policy.next_wake(now)
        return wake if policy_wake is None else min(wake, policy_wake)
