"""Loudness of speech as it goes by, and a slow correction of it.

Loudness is measured as in ITU-R BS.1770 (LUFS): a weighting for the ear, power over 400 ms, and what is much softer
than the rest (pauses) left out. Voices are brought to :data:`TARGET_LUFS` by the ``gain_db`` of their manifests; what
is left are differences between one sentence and the next.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.graphs import BIQUAD, NO_SAMPLES, FilterGraph

if TYPE_CHECKING:
    from yuliu.types import Samples

TARGET_LUFS = -21.0
"""Loudness that voices are brought to: peaks of speech then stay below full scale."""
MAX_CORRECTION_DB = 6.0
"""More than this is never added or taken away."""
MAX_SLOPE_DB_S = 8.0
"""How fast the gain moves at most, dB a second."""
LONG_S, SHORT_S = 20.0, 0.5
"""How much speech the level of the stream is taken of, and that of the present."""
TOLERANCE_DB = 0.5
"""The present may differ from the stream by so much; only what is more is corrected at once."""
TRUST_S = 2.0
"""How much speech the target counts as at the beginning of a stream."""
HOP_S = 0.1
"""How often a new gain is found."""
BLOCK_HOPS = 4
"""Hops over which power is measured."""
QUIET_LUFS = -50.0
PAUSE_DB = 12.0
"""What is softer than QUIET_LUFS, or by PAUSE_DB than the loudest of the last few seconds, is no speech."""
RECENT_HOPS = 30
_K_OFFSET = -0.691


def weighting(sample_rate: int) -> FilterGraph:
    """The K-weighting of BS.1770 for any rate: high tones louder, rumble gone. Nothing is held back."""
    shelf = {"f": "1500", "g": "4", "t": "q", "w": f"{0.5**0.5}", **BIQUAD}
    return FilterGraph(sample_rate, [("treble", shelf), ("highpass", {"f": "38", "t": "q", "w": "0.5", **BIQUAD})])


class Meter:
    """Loudness of speech as it goes by, of all of a stream and of the present."""

    def __init__(self, level_lufs: float = TARGET_LUFS) -> None:
        self._long = _Mean(_power(level_lufs), TRUST_S, LONG_S)
        self._short = _Mean(_power(level_lufs), HOP_S * BLOCK_HOPS, SHORT_S)
        self._hops: list[float] = []  # powers, those of a block
        self._recent: list[float] = []  # of the last blocks

    @property
    def level_lufs(self) -> float:
        """Loudness of the stream so far."""
        return _loudness(self._long.power)

    @property
    def present_lufs(self) -> float:
        """Loudness of the last moments of speech."""
        return _loudness(self._short.power)

    def forget_present(self) -> None:
        """What comes next need not be like what was heard last: it is taken to be like all of the stream."""
        self._short = _Mean(self._long.power, HOP_S * BLOCK_HOPS, SHORT_S)

    def hear(self, power: float) -> None:
        """The mean square of the next :data:`HOP_S` of weighted sound."""
        self._hops = [*self._hops[1 - BLOCK_HOPS :], power]
        block = sum(self._hops) / len(self._hops)
        self._recent = [*self._recent[1 - RECENT_HOPS :], block]
        if _loudness(min(block, power)) >= max(QUIET_LUFS, _loudness(max(self._recent)) - PAUSE_DB):
            self._long.add(block)
            self._short.add(block)


class _Mean:
    """A running mean of power.

    Args:
        power: What to begin with.
        known_s: How much speech that counts as.
        memory_s: How much speech it is taken of at most.
    """

    def __init__(self, power: float, known_s: float, memory_s: float) -> None:
        self.power = power
        self._known_s = known_s
        self._memory_s = memory_s

    def add(self, power: float) -> None:
        self._known_s = min(self._known_s + HOP_S, self._memory_s)
        self.power += (power - self.power) * HOP_S / self._known_s


class Levelling:
    """Brings speech slowly to one loudness.

    What all of a stream has too much or too little is taken off or put on slowly; where the last moments of a sentence
    differ from the stream by more than a tolerance, the excess is, too, until the next one begins. The gain for a hop
    is found from what was heard before it, so that nothing is held back; within a hop it moves in a straight line.

    Args:
        sample_rate: Hz.
        target_lufs: Loudness to come to.
    """

    lag_s = 0.0
    """Nothing is held back."""

    def __init__(self, sample_rate: int, target_lufs: float = TARGET_LUFS) -> None:
        self._target_lufs = target_lufs
        self._num_hop = round(HOP_S * sample_rate)
        self._weighting = weighting(sample_rate)
        self._meter = Meter(target_lufs)
        self._hop = np.zeros(self._num_hop)
        self._num_heard = 0  # of the hop
        self._wanted_db = self._correction_db = 0.0
        self._gains = (1.0, 1.0)  # at the beginning and at the end of the hop
        self._ramp = np.arange(self._num_hop) / self._num_hop

    @property
    def correction_db(self) -> float:
        """The gain to which it moves now, dB."""
        return self._correction_db

    def begin(self) -> None:
        """Another sentence or clause comes, after its pause: the gain goes back to what the whole stream needs."""
        self._meter.forget_present()
        self._find_gain()

    def push(self, samples: Samples) -> Samples:
        """The samples, louder or softer; may leave [-1, 1]. As many as came in."""
        weighted = self._weighting.push(samples)
        levelled = np.empty(len(samples), np.float32)
        start = 0
        while start < len(samples):
            stop = min(len(samples), start + self._num_hop - self._num_heard)
            place = slice(self._num_heard, self._num_heard + stop - start)
            self._hop[place] = weighted[start:stop]
            first, last = self._gains
            levelled[start:stop] = samples[start:stop] * (first + (last - first) * self._ramp[place])
            self._num_heard = place.stop
            if self._num_heard == self._num_hop:
                self._next_hop()
            start = stop
        return levelled

    def flush(self) -> Samples:
        """Nothing: all is out."""
        return NO_SAMPLES

    def _next_hop(self) -> None:
        self._num_heard = 0
        self._meter.hear(float(np.square(self._hop).mean()))
        self._find_gain()
        self._correction_db += _within(self._wanted_db - self._correction_db, MAX_SLOPE_DB_S * HOP_S)
        self._gains = (self._gains[1], 10 ** (self._correction_db / 20))

    def _find_gain(self) -> None:
        level, present = self._meter.level_lufs, self._meter.present_lufs
        difference_db = present - level
        excess_db = difference_db - _within(difference_db, TOLERANCE_DB)
        self._wanted_db = _within(self._target_lufs - level - excess_db, MAX_CORRECTION_DB)


def _within(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


def _loudness(power: float) -> float:
    return _K_OFFSET + 10 * log10(power + 1e-12)


def _power(loudness_lufs: float) -> float:
    return float(10 ** ((loudness_lufs - _K_OFFSET) / 10))
