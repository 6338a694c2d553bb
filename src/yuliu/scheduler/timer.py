"""The timer of the scheduler: a thread that looks at the clock when something is due."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MIN_SLEEP_S = 0.001
"""Minimum time between two looks, seconds."""


class Timer:
    """A thread that calls a function at the times that the function itself returns, or sooner if woken.

    Args:
        lock: Held while the function runs; callers of :meth:`wake_by` and :meth:`stop` hold it too.
        clock: Seconds, monotonic.
        tick: Does what is due, and returns the time of the next call.
    """

    def __init__(self, lock: threading.RLock, clock: Callable[[], float], tick: Callable[[], float]) -> None:
        self._lock, self._clock, self._tick = lock, clock, tick
        self._changed = threading.Condition(lock)
        self._sleeps_until_s = float("-inf")
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="yuliu-timer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake_by(self, at_s: float) -> None:
        """Call the function at this time, unless it is called sooner."""
        if at_s < self._sleeps_until_s - MIN_SLEEP_S:
            self._changed.notify_all()

    def stop(self) -> None:
        """Call the function no more."""
        self._is_stopped = True
        self._changed.notify_all()

    def join(self) -> None:
        """Wait until the thread has ended, unless this is the thread."""
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        with self._lock:
            while not self._is_stopped:
                self._sleeps_until_s = self._tick()
                self._changed.wait(max(MIN_SLEEP_S, self._sleeps_until_s - self._clock()))
                self._sleeps_until_s = float("-inf")
