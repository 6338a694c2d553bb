"""Cuts the connection of a client that reads nothing for too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class StallTimer:
    """Runs while a client reads nothing.

    Args:
        stall_s: Maximum time, seconds.
    """

    def __init__(self, stall_s: float) -> None:
        self._stall_s = stall_s
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        """Start: the client has stopped reading. Unless it goes on in time, its connection is cut."""
        self.stop()
        self._timer = loop.call_later(self._stall_s, transport.abort)

    def stop(self) -> None:
        """Stop: the client reads again, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
