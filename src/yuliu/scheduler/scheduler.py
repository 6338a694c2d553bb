"""The shell around the policy: it tells it what happened and lets workers do what it decides.

Any thread may call :class:`Scheduler`; all state is guarded by one lock that is never held while an engine works.
Outputs of a stream are handed to its ``sink`` in order, on a worker's thread, the timer's or the caller's; a sink
must be
quick and must not raise. After ``close_stream`` returns no further output of the stream begins.

A forked process inherits the object but not its threads: there it opens nothing and closes nothing.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from yuliu.errors import Closed, SynthesisFailed
from yuliu.logger import event_logger
from yuliu.scheduler.cache import SoundCache
from yuliu.scheduler.dispatcher import Dispatcher, event_of, facts_of, observe
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
    WorkFailed,
)
from yuliu.scheduler.policy.policy import Policy
from yuliu.scheduler.settings import Settings
from yuliu.scheduler.stream_table import StreamRecord, StreamTable
from yuliu.scheduler.workers.pool import WorkerPool, make_all
from yuliu.scheduler.workers.thread import NOTHING_AFTER, After, Outcome, Task, Work, WorkerThread, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from yuliu.engines.api import Capabilities, Engine, PlanOptions
    from yuliu.scheduler.cache import CacheCounts
    from yuliu.scheduler.observer import Observer
    from yuliu.scheduler.outputs import Output
    from yuliu.scheduler.policy.snapshot import Snapshot
    from yuliu.scheduler.policy.tuning import Tuning
    from yuliu.types import Segment

TICK_S = 1.0
"""The timer looks at least so often, seconds."""
MIN_SLEEP_S = 0.001

_log = event_logger("yuliu.scheduler")


class Scheduler:
    """Shares engines between streams.

    Args:
        factories: For each engine what makes an instance of it, warm; called once a worker, and again where one is
            replaced. The first ones are made here, those of further workers on their own threads. The workers close
            them.
        settings: What is settled for its life.
        clock: Seconds, monotonic.
        observer: Is told what happens.
    """

    def __init__(
        self,
        factories: Mapping[str, Callable[[], Engine]],
        settings: Settings | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        observer: Observer | None = None,
    ) -> None:
        self._settings = settings = settings or Settings()
        self.clock: Callable[[], float] = clock
        """Seconds, monotonic: the clock of all its stamps."""
        self._observer: Observer = observer or Unobserved()
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._ids = itertools.count()
        self._events: deque[Event] = deque()
        self._is_handling = False
        self._abandoned: deque[int] = deque()
        self._sleeps_until_s = float("-inf")
        self._closed = False
        self._process_id = os.getpid()
        first = make_all(factories)
        self.capabilities: Mapping[str, Capabilities] = {name: engine.capabilities for name, engine in first.items()}
        """What each engine can do."""
        self._cache = SoundCache(settings.cache_bytes, settings.phrase_bytes)
        self._streams = StreamTable(self.capabilities, self._cache, settings.still_s, settings.versions)
        self._tuning = settings.tuning
        facts = {name: facts_of(found) for name, found in self.capabilities.items()}
        self._policy = Policy(facts, self._tuning)
        self._record = settings.record(facts, self._tuning) if settings.record else None
        num_workers = settings.num_workers or min(4, os.cpu_count() or 1)
        self._pulse = Autotuner(settings.tuning, num_workers if settings.adaptive else None)
        self._workers = WorkerPool(dict(factories), self, settings, num_workers=num_workers)
        self._orders = Dispatcher(self._streams, self._workers, self._observer)
        with self._lock:
            self._workers.fill(clock(), first)
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
            raise Closed("the synthesizer was opened before this process was forked; open one in each process")
        terms = terms or Terms()
        with self._lock:
            if self._closed:
                raise Closed("the scheduler is closed; open a new synthesizer")
            stream_id = next(self._ids)
            self._streams.open(stream_id, StreamRecord(sink, terms.stream_class, terms.phrases, terms.first_packet_s))
            self._handle(StreamOpened(stream_id, engines or tuple(self.capabilities), terms))
            if not len(self._workers):
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
    ) -> None:
        """A further segment of a stream, to be spoken by an engine. Ignored once the stream is closed."""
        with self._lock:
            if (stream := self._streams.get(stream_id)) is None:
                return
            self._pulse.segment_ready(stream_id, stream.stream_class, self.clock(), stream.first_packet_s)
            work = Work(next(self._ids), stream_id, engine, segment, options, after=after)
            cached_s = self._streams.add(work)
            if work.keeping is not None:
                self._observer.cache_lookup("sound", hit=cached_s is not None)
            heard_s = None if cached_s is None else cached_s / after.pace
            self._handle(SegmentReady(stream_id, work.job_id, engine, heard_s))

    def end_text(self, stream_id: int) -> None:
        """The stream gets no further segments."""
        with self._lock:
            self._handle(TextEnded(stream_id))

    def taken(self, stream_id: int, audio_s: float) -> None:
        """The stream's reader took so much sound."""
        with self._lock:
            if audio_s:
                self._pulse.taken(stream_id, self.clock())
            self._handle(SoundTaken(stream_id, audio_s))

    def played(self, stream_id: int, position_s: float) -> None:
        """The stream's listener has heard so much of its sound."""
        with self._lock:
            self._handle(PlayedTo(stream_id, position_s))

    def close_stream(self, stream_id: int, *, cancelled: bool = False) -> None:
        """Stop all work of a stream; at most the step under way is finished, and thrown away.

        Args:
            stream_id: The stream.
            cancelled: Whether somebody wanted that, so that it is measured how long it takes.
        """
        if self._is_forked:
            return
        with self._lock:
            if self._streams.close(stream_id):
                if cancelled and not self._workers.cancel(stream_id, self.clock()):
                    self._observer.cancelled(0.0)
                self._handle(StreamClosed(stream_id))

    def abandon(self, stream_id: int) -> None:
        """Nobody knows the stream any more: it is closed with the next event. Takes no lock, for finalizers."""
        self._abandoned.append(stream_id)

    def tune(self, tuning: Tuning) -> None:
        """From now on this holds."""
        with self._lock:
            if tuning != self._tuning:
                self._tuning = tuning
                self._handle(Tuned(tuning))

    @property
    def tuning(self) -> Tuning:
        """What holds now."""
        return self._tuning

    def snapshot(self) -> Snapshot:
        """The state in numbers."""
        with self._lock:
            self._close_abandoned()
            return self._policy.snapshot(self.clock())

    def cache_counts(self) -> CacheCounts:
        """How full the cache of sound is."""
        with self._lock:
            return self._cache.counts

    def keeps(self, group: int) -> bool:
        """Whether there was room for all sound of a group of phrases."""
        with self._lock:
            return self._cache.is_whole(group)

    def unpin(self, group: int) -> None:
        """The sound of a group of phrases need not be kept any more."""
        with self._lock:
            self._cache.unpin(group)

    def tick(self) -> None:
        """Look at the clock: give up workers that hang, start those that are missing, let the policy know.

        The timer does it when it is time to; whoever has a clock of his own does it when that has moved.
        """
        with self._lock:
            if self._closed:
                return
            now = self.clock()
            for worker in self._workers.hung(now):
                self._lose(worker, "hung")
            self._workers.fill(now)
            self.tune(self._pulse.adapted(self._policy, self._tuning, now))
            self._handle(Ticked())

    def close(self) -> None:
        """Break all streams, stop the workers and close the engines. Waits for workers at work, but not for ever."""
        if self._is_forked:
            return
        with self._lock:
            self._closed = True
            for stream_id in self._streams:
                self._break(stream_id, Closed("the synthesizer was closed while this stream was open"))
            self._workers.stop()
            self._changed.notify_all()
        for name in self._workers.join(self._settings.close_s):
            _log.error("worker_not_ended", name=name, reason="its engine does not return; its thread stays")
        if self._timer is not threading.current_thread():
            self._timer.join()

    @property
    def num_streams(self) -> int:
        """Streams open now."""
        with self._lock:
            self._close_abandoned()
            return len(self._streams)

    @property
    def num_jobs(self) -> int:
        """Segments not rendered to their end."""
        with self._lock:
            self._close_abandoned()
            return self._policy.num_jobs

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process_id

    # What workers say, each on its own thread.

    def worker_up(self, worker: WorkerThread) -> None:
        """A worker has its engines."""
        with self._lock:
            if self._workers.up(worker) and not self._closed:
                self._handle(WorkerUp(worker.name))

    def worker_done(self, outcome: Outcome) -> None:
        """Hand the outputs on and let the policy know."""
        observe(outcome, self._observer)
        with self._lock:
            if not self._workers.finished(outcome):
                return  # the worker was given up meanwhile, and its task given to another
            name, now = outcome.worker.name, self.clock()
            self._tell_released(outcome.task, now)
            if (error := outcome.error or self._streams.stillness(outcome, now)) is not None:
                final = self._streams.failed(outcome.task, name, error)
                self._handle(WorkFailed(name, tuple(work.job_id for work in outcome.task.works), final))
                return
            for made in outcome.made:
                self._streams.hand_on(made, outcome.took_s, now)
            self._handle(event_of(outcome))

    def worker_lost(self, worker: WorkerThread, error: BaseException) -> None:
        """A worker has crashed, or could not make its engines."""
        with self._lock:
            self._lose(worker, "crashed", *place_of(error))

    def _lose(
        self,
        worker: WorkerThread,
        reason: Literal["crashed", "hung"],
        error_name: str | None = None,
        place: str | None = None,
    ) -> None:
        now = self.clock()
        if not self._workers.give_up(worker, now):
            return
        starting = not worker.is_up
        _log.error("worker_lost", name=worker.name, reason=reason, starting=starting, error=error_name, at=place)
        self._observer.worker_replaced(reason)
        final: tuple[int, ...] = ()
        if worker.task is not None:
            self._tell_released(worker.task, now)
            error = SynthesisFailed(f"the engine {reason} while speaking; see the log")
            final = self._streams.failed(worker.task, worker.name, error)
        if not self._closed:
            self._workers.fill(now)
            self._handle(WorkerLost(worker.name, final))
            for stream_id in self._streams if not len(self._workers) else ():
                self._break(stream_id, self._no_worker())

    def _tell_released(self, task: Task, now: float) -> None:
        for took_s in self._workers.released(task, now):
            self._observer.cancelled(took_s)

    def _no_worker(self) -> SynthesisFailed:
        again_s = self._settings.restart_s
        return SynthesisFailed(f"no engine could be started; see the log. It is tried again every {again_s:g} s")

    # What the policy says.

    def _handle(self, event: Event) -> None:
        """Tell the policy, and do what it says; what sinks cause meanwhile comes after that."""
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
        self._wake_timer()

    def _tell_policy(self, event: Event) -> None:
        now = self.clock()
        actions = self._policy.handle(event, now)
        if self._record is not None:
            self._record(now, event, actions)
        for action in actions:
            self._orders.follow(action, self._tuning, now)
            if isinstance(action, Reject | Fail):
                self._forget(action.stream_id)  # as the policy has
        if isinstance(event, StreamClosed):
            self._forget(event.stream_id)
        if isinstance(event, StreamOpened) and not any(isinstance(action, Admit | Reject) for action in actions):
            self._observer.admission(event.terms.stream_class, "queued")

    def _forget(self, stream_id: int) -> None:
        self._streams.forget(stream_id)
        self._pulse.closed(stream_id)

    def _break(self, stream_id: int, error: SynthesisFailed | Closed) -> None:
        """End a stream that the policy still knows."""
        self._streams.close_with(stream_id, error)
        self._handle(StreamClosed(stream_id))

    def _close_abandoned(self) -> None:
        while self._abandoned:
            self.close_stream(self._abandoned.popleft())

    # Time.

    def _watch(self) -> None:
        """The timer's thread."""
        with self._lock:
            while not self._closed:
                self.tick()
                now = self.clock()
                self._sleeps_until_s = self._next_wake(now)
                self._changed.wait(max(MIN_SLEEP_S, self._sleeps_until_s - now))
                self._sleeps_until_s = float("-inf")

    def _next_wake(self, now: float) -> float:
        wake = min(now + TICK_S, self._workers.next_wake())
        if not self._workers.has_idle:
            return wake  # whatever becomes possible needs a worker: the next one that is done will see
        policy_wake = self._policy.next_wake(now)
        return wake if policy_wake is None else min(wake, policy_wake)

    def _wake_timer(self) -> None:
        """Let it sleep less if something is to be done sooner."""
        if self._workers.has_idle and self._next_wake(self.clock()) < self._sleeps_until_s - MIN_SLEEP_S:
            self._changed.notify_all()
