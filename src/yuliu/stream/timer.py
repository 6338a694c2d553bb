"""The single timer of a stream."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class StreamTimer:
    """Timer of a stream: calls a method at the earliest requested time, or before it.

    Args:
        loop: Event loop, whose clock counts.
        call: Bound method to call; its object is not kept alive.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
        self._loop = loop
        self._call = weakref.WeakMethod(call)
        self._timer: asyncio.TimerHandle | None = None

    def set(self, due_s: float) -> None:
        """Schedule a call by ``due_s`` at the latest; ``inf`` requests none. Usually an earlier call is scheduled
        already."""
        if self._timer is not None:
            if self._timer.when() <= due_s:
                return
            self._timer.cancel()
            self._timer = None
        if due_s < math.inf:
            self._timer = self._loop.call_at(due_s, self._fired)

    def stop(self) -> None:
        """Cancel the scheduled call."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fired(self) -> None:
        self._timer = None
        if (call := self._call()) is not None:
            call()
