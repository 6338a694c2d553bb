"""What of the sound that was given to an output has been heard, and when it began to be. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

SETTLED_S = 1.0
"""So long after the first block its writes tell when the output began; later the two clocks have drifted apart."""


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
        self._zero_at_s: float | None = None

    def wrote(self, num_samples: int, num_sound: int, now: float, latency_s: float) -> None:
        """The output has taken a block.

        Args:
            num_samples: Of the block.
            num_sound: How many of them, its first ones, are sound.
            now: When it had taken it, seconds.
            latency_s: What the output then holds at most, seconds.
        """
        if num_sound and self._first_sound is None:
            self._first_sound = self._num_written
        self._num_written += num_samples
        self.num_sound += num_sound
        self._blocks.append(_Block(self._num_written, self.num_sound, num_samples, num_sound))
        self._began_at_s = now if self._began_at_s is None else self._began_at_s
        if now - self._began_at_s <= SETTLED_S + latency_s:
            zero_at_s = now - (self._num_written / self._rate - latency_s)
            self._zero_at_s = zero_at_s if self._zero_at_s is None else min(self._zero_at_s, zero_at_s)
        self._forget(latency_s)

    def position_s(self, latency_s: float) -> float:
        """How much sound was heard, seconds, of an output that holds so much of what was written."""
        heard = self._num_written - round(latency_s * self._rate)
        for block in self._blocks:
            if block.end > heard:
                in_block = max(0, heard - (block.end - block.num_samples))
                return (block.sound_end - block.num_sound + min(in_block, block.num_sound)) / self._rate
        return self.num_sound / self._rate

    def held_s(self, now: float) -> float:
        """How much of what was written is still to be heard, by the clock, seconds."""
        return 0.0 if self._zero_at_s is None else self._num_written / self._rate - (now - self._zero_at_s)

    @property
    def first_heard_at_s(self) -> float | None:
        """When the first sound was heard; None before there is some.

        An output takes the first blocks faster than it plays them, until it is full: from then on what it has taken
        less what it holds is what was heard.
        """
        if self._first_sound is None or self._zero_at_s is None or self._began_at_s is None:
            return None
        return max(self._zero_at_s, self._began_at_s) + self._first_sound / self._rate

    def _forget(self, latency_s: float) -> None:
        """Blocks that were heard long since."""
        heard = self._num_written - round(2 * latency_s * self._rate)
        while len(self._blocks) > 1 and self._blocks[0].end <= heard:
            self._blocks.popleft()
