"""Adaptive jitter buffer between uneven arrival and even playback; it delays as little as the network allows. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from yuliu.types import Samples

HEADROOM = 1.25
"""Target level after a gap, as a multiple of the gap's length."""
CALM_S = 5.0
"""Playing time without a gap after which the target level shrinks, seconds."""
CALM_FACTOR = 0.75
"""Factor by which the target level shrinks."""


class JitterBuffer:
    """Audio that has arrived and has not been played. ``now`` is in seconds, on any monotonic clock.

    Playback starts once the buffer holds its target level, and at the latest when the first samples have waited for
    that long.

    Args:
        sample_rate: Sample rate of the audio, Hz.
        min_s: Minimum target level, seconds.
        max_s: Maximum target level, seconds. A gap that would need more is not jitter: the text was late.
    """

    def __init__(self, sample_rate: int, *, min_s: float = 0.0, max_s: float = 0.5) -> None:
        self.target_s: float = min_s
        """Target level: audio to hold before playback starts, or resumes after a gap, seconds."""
        self.num_gaps: int = 0
        """Number of times the buffer ran empty before the end."""
        self.num_samples_played: int = 0
        """Samples of audio taken; silence in gaps does not count."""
        self._rate, self._min_s, self._max_s = sample_rate, min_s, max_s
        self._parts: deque[Samples] = deque()
        self._num_held = 0
        self._ended = False
        self._playing = False
        self._filling_since_s: float | None = None
        self._dry_at_s: float | None = None
        self._calm_from_s = 0.0

    @property
    def level_s(self) -> float:
        """Audio in the buffer, seconds."""
        return self._num_held / self._rate

    @property
    def is_over(self) -> bool:
        """True if all audio has been played."""
        return self._ended and not self._num_held

    def put(self, samples: Samples, now: float) -> None:
        """Add audio that has arrived."""
        if not len(samples):
            return
        if self._dry_at_s is not None:
            gap_s = now - self._dry_at_s
            if 0 < HEADROOM * gap_s <= self._max_s:
                self.target_s = max(self.target_s, HEADROOM * gap_s)
            self._dry_at_s = None
        if not self._playing and self._filling_since_s is None:
            self._filling_since_s = now
        self._parts.append(samples)
        self._num_held += len(samples)

    def end(self) -> None:
        """Mark the end of the audio: the rest is played without waiting."""
        self._ended = True

    def clear(self) -> None:
        """Discard the audio that has not been played, and mark the end."""
        self._parts.clear()
        self._num_held = 0
        self._ended = True

    def restart(self) -> None:
        """Prepare for the audio of another stream; the target level and the counters are kept."""
        self.clear()
        self._ended = self._playing = False
        self._filling_since_s = self._dry_at_s = None

    def is_short_of(self, num_samples: int, now: float) -> bool:
        """Return True if a block taken now would contain silence that audio still to arrive could fill."""
        if not self._playing:
            self._begin_if_it_may(now)
        return not self._ended and not (self._playing and self._num_held >= num_samples)

    def take(self, num_samples: int, now: float) -> Samples:
        """Return the next samples to play, padded with silence."""
        if not self._playing:
            self._begin_if_it_may(now)
        out = np.zeros(num_samples, np.float32)
        num_filled = 0
        while self._playing and self._parts and num_filled < num_samples:
            part = self._parts.popleft()
            cut = min(len(part), num_samples - num_filled)
            out[num_filled : num_filled + cut] = part[:cut]
            num_filled += cut
            if cut < len(part):
                self._parts.appendleft(part[cut:])
        self._num_held -= num_filled
        self.num_samples_played += num_filled
        if self._playing and num_filled < num_samples and not self._ended:
            self._run_dry(now + num_filled / self._rate)
        elif self._playing:
            self._relax(now)
        return out

    def _begin_if_it_may(self, now: float) -> None:
        since_s = self._filling_since_s
        if since_s is None:
            return
        if self._ended or self.level_s >= self.target_s or now - since_s >= self.target_s:
            self._playing, self._filling_since_s, self._calm_from_s = True, None, now

    def _run_dry(self, at_s: float) -> None:
        self._playing, self._dry_at_s = False, at_s
        self.num_gaps += 1

    def _relax(self, now: float) -> None:
        if now - self._calm_from_s >= CALM_S:
            self.target_s = max(self._min_s, CALM_FACTOR * self.target_s)
            self._calm_from_s = now
