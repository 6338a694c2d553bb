"""A buffer between what arrives unevenly and what plays evenly; it holds back as little as the network lets. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from yuliu.types import Samples

HEADROOM = 1.25
"""After a gap so many times its length is held."""
CALM_S = 5.0
"""After playing so long without a gap, less is held."""
CALM_FACTOR = 0.75


class JitterBuffer:
    """Sound that has arrived and was not played. ``now`` is in seconds, on any monotonic clock.

    Playing begins once as much is there as the network's unevenness so far asks for, and at the latest when the first
    of it has waited so long.

    Args:
        sample_rate: Hz.
        min_s: Is held at least, seconds.
        max_s: Is held at most, seconds; a longer gap is none of the network's: the text was late.
    """

    def __init__(self, sample_rate: int, *, min_s: float = 0.0, max_s: float = 0.5) -> None:
        self.target_s: float = min_s
        """How much is held before playing begins, or goes on after a gap, seconds."""
        self.num_gaps: int = 0
        """How often it ran dry before the end."""
        self.num_samples_played: int = 0
        """Of sound; silence in gaps does not count."""
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
        """How much it holds, seconds."""
        return self._num_held / self._rate

    @property
    def is_over(self) -> bool:
        """Whether all sound there is was played."""
        return self._ended and not self._num_held

    def put(self, samples: Samples, now: float) -> None:
        """Sound has arrived."""
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
        """No more will arrive: what is there is not held back."""
        self._ended = True

    def clear(self) -> None:
        """Forget what was not played; no more will arrive."""
        self._parts.clear()
        self._num_held = 0
        self._ended = True

    def restart(self) -> None:
        """For the sound of another stream: what was learnt of the network stays, as do the counts."""
        self.clear()
        self._ended = self._playing = False
        self._filling_since_s = self._dry_at_s = None

    def is_short_of(self, num_samples: int, now: float) -> bool:
        """Whether what is taken now would have silence in it that sound still to come could fill."""
        if not self._playing:
            self._begin_if_it_may(now)
        return not self._ended and not (self._playing and self._num_held >= num_samples)

    def take(self, num_samples: int, now: float) -> Samples:
        """What is to be played now, filled up with silence."""
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
