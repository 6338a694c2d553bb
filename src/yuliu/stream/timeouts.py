"""Time limits of a stream for its writer, its reader and its end. Pure: every time is an argument."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from yuliu.errors import TimedOut

if TYPE_CHECKING:
    from yuliu.stream.options import StreamLimits

NO_TEXT = "no text came for too long, and nothing was left to speak"
NO_READER = "sound was there to be taken, and nobody took it for too long"
TOO_LONG = "the stream took longer than it may"


class StreamTimeouts:
    """Tracks how long the stream has waited for text, reader and end.

    Args:
        limits: Time limits.
        stall_s: Time that pending text waits for more, in seconds.
        now: Current time in seconds on any monotonic clock, as all times here.
    """

    def __init__(self, limits: StreamLimits, stall_s: float, now: float) -> None:
        self._stall_s = stall_s
        self._idle_s = math.inf if limits.idle_text_s is None else limits.idle_text_s
        self._stalled_s = math.inf if limits.stalled_reader_s is None else limits.stalled_reader_s
        self._end_at = math.inf if limits.total_s is None else now + limits.total_s
        self._flush_at = math.inf
        self._lost = False
        self._idle_since: float | None = None
        self._offered_since: float | None = None

    def text_came(self, now: float) -> None:
        """Record new text from the writer."""
        self._flush_at = now + self._stall_s
        self._idle_since = None

    def text_done(self) -> None:
        """Stop waiting for more text, because none is pending or the writer is held back."""
        self._flush_at = math.inf

    def writer_lost(self) -> None:
        """Suspend the stall timeout while the writer is disconnected."""
        self._lost = True

    def writer_back(self, now: float) -> None:
        """Resume the stall timeout, as if pending text had just arrived."""
        if self._lost and math.isfinite(self._flush_at):
            self._flush_at = now + self._stall_s
        self._lost = False

    def taken(self) -> None:
        """Record a chunk that the reader has taken."""
        self._offered_since = None

    def look(self, now: float, *, idle: bool, offered: bool) -> float:
        """Update the state of the stream.

        Args:
            now: Current time, in seconds.
            idle: Whether only new text could make the stream continue.
            offered: Whether a chunk waits for the reader.

        Returns:
            Time at which to call :meth:`late` and :meth:`stalled`; infinity if there is none.
        """
        self._idle_since = None if not idle else now if self._idle_since is None else self._idle_since
        self._offered_since = None if not offered else now if self._offered_since is None else self._offered_since
        return min(math.inf if self._lost else self._flush_at, self._end_at, self._idle_at, self._stalled_at)

    def stalled(self, now: float) -> bool:
        """Return whether pending text has waited long enough for more."""
        return now >= self._flush_at and not self._lost

    def late(self, now: float) -> TimedOut | None:
        """Return the timeout that ends the stream, if any."""
        if now >= self._end_at:
            return TimedOut(TOO_LONG)
        if now >= self._stalled_at:
            return TimedOut(NO_READER)
        return TimedOut(NO_TEXT) if now >= self._idle_at else None

    @property
    def _idle_at(self) -> float:
        return math.inf if self._idle_since is None else self._idle_since + self._idle_s

    @property
    def _stalled_at(self) -> float:
        return math.inf if self._offered_since is None else self._offered_since + self._stalled_s
