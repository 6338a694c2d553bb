"""What the reader of a stream was given and what its listener has heard, in bounded memory. Pure."""

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
"""Places that a track remembers: 64 kB. Of what is older every second one is forgotten."""


class SparseTrack:
    """A value that grows along the sound; of the older part it remembers fewer and fewer places, never all too high."""

    def __init__(self) -> None:
        self._at_s = array("d")
        self._values = array("d")

    def __len__(self) -> int:
        """Number of places that it remembers."""
        return len(self._at_s)

    def add(self, at_s: float, value: float) -> None:
        """From this place on it is so much, if it was not more before. Places come in order."""
        if self._values and value <= self._values[-1]:
            return
        self._at_s.append(at_s)
        self._values.append(value)
        if len(self._at_s) > MAX_PLACES:
            del self._at_s[1 : MAX_PLACES // 2 : 2], self._values[1 : MAX_PLACES // 2 : 2]

    def at(self, at_s: float) -> float:
        """The value at a place; 0 before the first."""
        found = bisect_right(self._at_s, at_s)
        return self._values[found - 1] if found else 0.0

    def forget_before(self, at_s: float) -> None:
        """No earlier place than this will be asked for."""
        found = bisect_right(self._at_s, at_s)
        if found > 1:
            del self._at_s[: found - 1], self._values[: found - 1]


class PlaybackTracker:
    """Chunks go out at one end; at the other the listener says now and then how far he has come."""

    def __init__(self) -> None:
        self.delivered_s: float = 0.0
        """Length of what was taken by the reader, seconds."""
        self.position_s: float | None = None
        """How far the listener has come, as far as he said, seconds."""
        self._text = SparseTrack()  # where in the source what has begun to sound ends
        self._silence = SparseTrack()  # how much of the audio is silence that no engine made
        self._silence_s = 0.0

    def deliver(self, chunk: Chunk, *, made: bool) -> None:
        """A chunk was taken by the reader.

        Args:
            chunk: The chunk.
            made: Whether an engine made it, else it is a pause.
        """
        self.delivered_s = chunk.start_s + len(chunk.samples) / chunk.sample_rate
        for timing in chunk.timings:
            self._text.add(timing.start_s, timing.source.end)
        if not made:
            self._silence_s += self.delivered_s - chunk.start_s
            self._silence.add(self.delivered_s, self._silence_s)

    def played(self, position_s: float) -> float:
        """The listener has come so far; he never goes back.

        Returns:
            How much of what the engines made he has heard, seconds.

        Raises:
            InvalidRequest: It is no place in an audio.
        """
        if not 0 <= position_s < math.inf:
            raise InvalidRequest("position_s must be at least 0", param="position_s")
        position_s = min(max(position_s, self.position_s or 0.0), self.delivered_s)
        self.position_s = position_s
        self._text.forget_before(position_s)
        self._silence.forget_before(position_s)
        return max(0.0, position_s - self._silence.at(position_s))

    def heard(self) -> Heard | None:
        """How far the listener has come; None if he never said."""
        if self.position_s is None:
            return None
        return Heard(self.position_s, int(self._text.at(self.position_s)))
