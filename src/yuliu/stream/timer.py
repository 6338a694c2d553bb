"""The one timer that a stream has."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class StreamTimer:
    """The one timer of a stream: it rings at the earliest of the times that it is set to, and maybe before.

    Args:
        loop: Its event loop, whose clock counts.
        ring: The method to call, whose object is not kept alive.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = weakref.WeakMethod(ring)
        self._timer: asyncio.TimerHandle | None = None

    def set(self, due_s: float) -> None:
        """Ring at this time at the latest; infinity need not ring. Most often nothing is done: it rings earlier."""
        if self._timer is not None:
            if self._timer.when() <= due_s:
                return
            self._timer.cancel()
            self._timer = None
        if due_s < math.inf:
            self._timer = self._loop.call_at(due_s, self._rung)

    def stop(self) -> None:
        """Ring no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rung(self) -> None:
        self._timer = None
        if (ring := self._ring()) is not None:
            ring()
