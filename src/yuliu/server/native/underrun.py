"""When a listener who plays in real time has nothing more to play."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class UnderrunWatch:
    """Knows how much is left to be played of what was sent.

    Args:
        loop: Whose clock and alarms.
        dry: Is called when nothing is left, unless more sound came before.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, dry: Callable[[], None]) -> None:
        self._loop = loop
        self._dry = dry
        self._dry_at_s: float | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def sent(self, length_s: float) -> None:
        """So much more sound was sent."""
        now = self._loop.time()
        self._set(max(self._dry_at_s or now, now) + length_s)

    def left(self, length_s: float) -> None:
        """The listener says that so much of it is left."""
        if self._alarm is not None:
            self._set(self._loop.time() + length_s)

    def quiet(self) -> None:
        """Sound is there, or none will come: call nobody until more was sent."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _set(self, at_s: float) -> None:
        self.quiet()
        self._dry_at_s = at_s
        self._alarm = self._loop.call_at(at_s, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._dry()
