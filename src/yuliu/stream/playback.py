"""Position of the listener of a stream, tracked in bounded memory. Pure."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.types import Heard

if TYPE_CHECKING:
    from yuliu.types import Chunk

MAX_PLACES = 4096
"""Maximum number of places in a track (64 kB); beyond it every second one of the older half is dropped."""


class SparseTrack:
    """Value that grows along the audio. Older places get sparser, and the value at a place is never too high."""

    def __init__(self) -> None:
        self._at_s = array("d")
        self._values = array("d")

    def __len__(self) -> int:
        """Return the number of recorded places."""
        return len(self._at_s)

    def add(self, at_s: float, value: float) -> None:
        """Record the value from a place on, if it has grown. Places come in order."""
        if self._values and value <= self._values[-1]:
            return
        self._at_s.append(at_s)
        self._values.append(value)
        if len(self._at_s) > MAX_PLACES:
            del self._at_s[1 : MAX_PLACES // 2 : 2], self._values[1 : MAX_PLACES // 2 : 2]

    def at(self, at_s: float) -> float:
        """Return the value at a place; 0 before the first one."""
        found = bisect_right(self._at_s, at_s)
        return self._values[found - 1] if found else 0.0

    def forget_before(self, at_s: float) -> None:
        """Drop places that are only needed before this one."""
        found = bisect_right(self._at_s, at_s)
        if found > 1:
            del self._at_s[: found - 1], self._values[: found - 1]


class PlaybackTracker:
    """Tracker of delivered chunks and of the position that the listener reports now and then."""

    def __init__(self) -> None:
        self.delivered_s: float = 0.0
        """Length of the audio that the reader has taken, in seconds."""
        self.position_s: float | None = None
        """Last reported position of the listener, in seconds; None without a report."""
        self._text = SparseTrack()  # end of the source that has begun to sound
        self._silence = SparseTrack()  # amount of silence in the audio that no engine made
        self._silence_s = 0.0

    def deliver(self, chunk: Chunk, *, made: bool) -> None:
        """Record a chunk that the reader has taken.

        Args:
            chunk: The chunk.
            made: Whether an engine made it; otherwise it is a pause.
        """
        self.delivered_s = chunk.start_s + len(chunk.samples) / chunk.sample_rate
        for timing in chunk.timings:
            self._text.add(timing.start_s, timing.source.end)
        if not made:
            self._silence_s += self.delivered_s - chunk.start_s
            self._silence.add(self.delivered_s, self._silence_s)

    def played(self, position_s: float) -> float:
        """Record the position of the listener, which never goes back.

        Returns:
            The played part of the audio that engines made, in seconds.

        Raises:
            InvalidRequest: The position is negative or not a finite number.
        """
        if not 0 <= position_s < math.inf:
            raise InvalidRequest("position_s must be at least 0", param="position_s")
        position_s = min(max(position_s, self.position_s or 0.0), self.delivered_s)
        self.position_s = position_s
        self._text.forget_before(position_s)
        self._silence.forget_before(position_s)
        return max(0.0, position_s - self._silence.at(position_s))

    def heard(self) -> Heard | None:
        """Return the position of the listener; None without a report."""
        if self.position_s is None:
            return None
        return Heard(self.position_s, int(self._text.at(self.position_s)))
