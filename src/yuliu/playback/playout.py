"""What of the sound that was given to an output has been heard, and when it began to be. Pure."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

SETTLED_S = 1.0
"""So long after the first block its writes tell when the output began; later the two clocks have drifted apart."""
WAITED_S = 0.002
"""An output that lets its writer wait so long is full."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Samples that were written at once: sound first, then silence."""

    end: int
    """Samples written, with it."""
    sound_end: int
    """Samples of sound written, with it."""
    num_samples: int
    num_sound: int


class Playout:
    """Tells sound from the silence around it while both pass through an output.

    An output plays at the pace of the clock whatever it has, and lets its writer wait when it is full. So after a wait
    it is known what it holds; between waits the clock tells, as long as it has not run dry.

    Args:
        sample_rate: Hz.
    """

    def __init__(self, sample_rate: int) -> None:
        self.num_sound: int = 0
        """Samples of sound written."""
        self._rate = sample_rate
        self._num_written = 0
        self._blocks: deque[_Block] = deque()
        self._first_sound: int | None = None
        self._began_at_s: float | None = None
        self._zero_at_s = 0.0  # when it would have begun, had it never stood still since
        self._first_zero_at_s = math.inf  # the same, of the time in which it settled

    def wrote(self, num_samples: int, num_sound: int, *, since_s: float, now: float, latency_s: float) -> None:
        """The output has taken a block.

        Args:
            num_samples: Of the block.
            num_sound: How many of them, its first ones, are sound.
            since_s: When it was given to it, seconds.
            now: When it had taken it, seconds.
            latency_s: What the output holds at most, seconds.
        """
        if self._began_at_s is None:
            self._began_at_s = self._zero_at_s = since_s
        if num_sound and self._first_sound is None:
            self._first_sound = self._num_written
        self._zero_at_s = max(self._zero_at_s, since_s - self._num_written / self._rate)  # it may have run dry
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
        """How much of what was written is still to be heard, seconds."""
        held_s = self._num_written / self._rate - (now - self._zero_at_s)
        return 0.0 if self._began_at_s is None else min(latency_s, max(0.0, held_s))

    def position_s(self, now: float, latency_s: float) -> float:
        """How much sound was heard, seconds."""
        heard = self._num_written - round(self.held_s(now, latency_s) * self._rate)
        for block in self._blocks:
            if block.end > heard:
                in_block = max(0, heard - (block.end - block.num_samples))
                return (block.sound_end - block.num_sound + min(in_block, block.num_sound)) / self._rate
        return self.num_sound / self._rate

    @property
    def first_heard_at_s(self) -> float | None:
        """When the first sound was heard; None before there is some.

        An output takes the first blocks faster than it plays them, until it is full: from then on what it has taken
        less what it holds is what was heard.
        """
        if self._first_sound is None or self._began_at_s is None:
            return None
        return max(self._first_zero_at_s, self._began_at_s) + self._first_sound / self._rate

    def _forget(self, latency_s: float) -> None:
        """Blocks that were heard long since."""
        heard = self._num_written - round(2 * latency_s * self._rate)
        while len(self._blocks) > 1 and self._blocks[0].end <= heard:
            self._blocks.popleft()
