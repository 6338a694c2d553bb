"""Underruns: moments at which a listener that plays in real time has nothing left to play."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class UnderrunTimer:
    """Runs while the listener plays audio that was sent, and rings when none is left.

    Args:
        loop: Gives the clock and the timers.
        ring: Is called at an underrun.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._dry_at_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def sent(self, length_s: float) -> None:
        """Add the length of audio that was sent."""
        now = self._loop.time()
        self._start(max(self._dry_at_s or now, now) + length_s)

    def left(self, length_s: float) -> None:
        """Correct the length of audio that the listener still has to play."""
        if self._timer is not None:
            self._start(self._loop.time() + length_s)

    def stop(self) -> None:
        """Stop until more audio was sent: there is some, or none will come."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(self, at_s: float) -> None:
        self.stop()
        self._dry_at_s = at_s
        self._timer = self._loop.call_at(at_s, self._rung)

    def _rung(self) -> None:
        self._timer = None
        self._ring()
