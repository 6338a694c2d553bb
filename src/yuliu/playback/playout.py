"""Playback position of an output, and the time at which the first audio was heard. Pure."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

SETTLED_S = 1.0
"""Time after the first block in which writes show when the output started, seconds. Later the clocks have drifted."""
WAITED_S = 0.002
"""Duration of a write from which on the output counts as full, seconds."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Samples of one write: audio first, then silence."""

    end: int
    """Samples written, up to and including the block."""
    sound_end: int
    """Samples of audio written, up to and including the block."""
    num_samples: int
    num_sound: int


class Playout:
    """Tracks audio, and the silence between it, through an output.

    An output plays at the pace of the clock, and blocks its writer while it is full. So after a blocking write its
    level is known exactly; between such writes the level follows from the clock, as long as the output does not run
    empty.

    Args:
        sample_rate: Sample rate of the audio, Hz.
    """

    def __init__(self, sample_rate: int) -> None:
        self.num_sound: int = 0
        """Samples of audio written."""
        self._rate = sample_rate
        self._num_written = 0
        self._blocks: deque[_Block] = deque()
        self._first_sound: int | None = None
        self._began_at_s: float | None = None
        self._zero_at_s = 0.0  # start of playback, had the output never paused since
        self._first_zero_at_s = math.inf  # the same, during the settling time

    def wrote(self, num_samples: int, num_sound: int, *, since_s: float, now: float, latency_s: float) -> None:
        """Record a block that the output has taken.

        Args:
            num_samples: Samples in the block.
            num_sound: Samples of audio at the start of the block; the rest is silence.
            since_s: Start of the write, seconds.
            now: End of the write, seconds.
            latency_s: Capacity of the output, seconds.
        """
        if self._began_at_s is None:
            self._began_at_s = self._zero_at_s = since_s
        if num_sound and self._first_sound is None:
            self._first_sound = self._num_written
        self._zero_at_s = max(self._zero_at_s, since_s - self._num_written / self._rate)  # it may have run empty
        self._num_written += num_samples
        self.num_sound += num_sound
        self._blocks.append(_Block(self._num_written, self.num_sound, num_samples, num_sound))
        if_full_s = now - (self._num_written / self._rate - latency_s)
        is_full = now - since_s > WAITED_S
        self._zero_at_s = if_full_s if is_full else min(self._zero_at_s, if_full_s)
        if now - self._began_at_s <= SETTLED_S + latency_s:
            self._first_zero_at_s = min(self._first_zero_at_s, if_full_s)
        self._forget(latency_s)

    def held_s(self, now: float, latency_s: float) -> float:
        """Return the duration of the written samples that have not been heard, seconds."""
        held_s = self._num_written / self._rate - (now - self._zero_at_s)
        return 0.0 if self._began_at_s is None else min(latency_s, max(0.0, held_s))

    def position_s(self, now: float, latency_s: float) -> float:
        """Return the duration of the audio that has been heard, seconds."""
        heard = self._num_written - round(self.held_s(now, latency_s) * self._rate)
        for block in self._blocks:
            if block.end > heard:
                in_block = max(0, heard - (block.end - block.num_samples))
                return (block.sound_end - block.num_sound + min(in_block, block.num_sound)) / self._rate
        return self.num_sound / self._rate

    @property
    def first_heard_at_s(self) -> float | None:
        """Time at which the first audio was heard; None before there is any.

        An output takes the first blocks faster than it plays them, until it is full. From then on, the samples heard
        are those written less those held.
        """
        if self._first_sound is None or self._began_at_s is None:
            return None
        return max(self._first_zero_at_s, self._began_at_s) + self._first_sound / self._rate

    def _forget(self, latency_s: float) -> None:
        """Drop blocks that were heard long ago."""
        heard = self._num_written - round(2 * latency_s * self._rate)
        while len(self._blocks) > 1 and self._blocks[0].end <= heard:
            self._blocks.popleft()
