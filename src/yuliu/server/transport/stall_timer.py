"""A reader that takes nothing for too long loses its connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class StallTimer:
    """Runs while a reader takes nothing.

    Args:
        stall_s: How long that may be, seconds.
    """

    def __init__(self, stall_s: float) -> None:
        self._stall_s = stall_s
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        """The reader takes nothing any more; unless it goes on in time, its connection is cut."""
        self.stop()
        self._timer = loop.call_later(self._stall_s, transport.abort)

    def stop(self) -> None:
        """It takes something again, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
