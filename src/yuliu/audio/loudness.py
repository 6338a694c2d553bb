"""Running loudness of speech, and a slow correction of it.

Loudness is measured as in ITU-R BS.1770 (LUFS): a frequency weighting, power over 400 ms, and no pauses. The
``gain_db`` of a voice's manifest brings it to :data:`TARGET_LUFS`; the correction evens out differences between
sentences.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.graphs import BIQUAD, NO_SAMPLES, FilterGraph

if TYPE_CHECKING:
    from yuliu.types import Samples

TARGET_LUFS = -21.0
"""Common loudness of voices, at which peaks of speech stay below full scale."""
MAX_CORRECTION_DB = 6.0
"""Maximum correction, either way."""
MAX_SLOPE_DB_S = 8.0
"""Maximum speed at which the gain changes, in dB per second."""
LONG_S, SHORT_S = 20.0, 0.5
"""Time constants of the level of the stream and of the present level."""
TOLERANCE_DB = 0.5
"""Tolerated difference between the present level and the stream's; only the excess is corrected at once."""
TRUST_S = 2.0
"""Amount of speech that the target counts as at the beginning of a stream."""
HOP_S = 0.1
"""Interval at which the gain is updated."""
BLOCK_HOPS = 4
"""Number of hops over which power is measured."""
QUIET_LUFS = -50.0
PAUSE_DB = 12.0
"""Audio softer than QUIET_LUFS, or by PAUSE_DB than the loudest of the last seconds, counts as a pause."""
RECENT_HOPS = 30
_K_OFFSET = -0.691


def weighting(sample_rate: int) -> FilterGraph:
    """Return the K-weighting of BS.1770 for any rate; it raises high frequencies and removes rumble, without delay."""
    shelf = {"f": "1500", "g": "4", "t": "q", "w": f"{0.5**0.5}", **BIQUAD}
    return FilterGraph(sample_rate, [("treble", shelf), ("highpass", {"f": "38", "t": "q", "w": "0.5", **BIQUAD})])


class Meter:
    """Meter of the loudness of a stream and of its present moment."""

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
        """Loudness of the latest speech."""
        return _loudness(self._short.power)

    def forget_present(self) -> None:
        """Reset the present level to that of the stream, because the next sentence may differ from the last one."""
        self._short = _Mean(self._long.power, HOP_S * BLOCK_HOPS, SHORT_S)

    def hear(self, power: float) -> None:
        """Take the mean square of the next :data:`HOP_S` of weighted audio."""
        self._hops = [*self._hops[1 - BLOCK_HOPS :], power]
        block = sum(self._hops) / len(self._hops)
        self._recent = [*self._recent[1 - RECENT_HOPS :], block]
        if _loudness(min(block, power)) >= max(QUIET_LUFS, _loudness(max(self._recent)) - PAUSE_DB):
            self._long.add(block)
            self._short.add(block)


class _Mean:
    """Running mean of power.

    Args:
        power: Initial value.
        known_s: Amount of speech that the initial value counts as, in seconds.
        memory_s: Maximum time constant, in seconds.
    """

    def __init__(self, power: float, known_s: float, memory_s: float) -> None:
        self.power = power
        self._known_s = known_s
        self._memory_s = memory_s

    def add(self, power: float) -> None:
        self._known_s = min(self._known_s + HOP_S, self._memory_s)
        self.power += (power - self.power) * HOP_S / self._known_s


class Levelling:
    """Levelling: brings speech slowly to one loudness.

    The difference between the stream and the target is corrected slowly. Where the latest speech differs from the
    stream by more than a tolerance, the excess is corrected too, until the next sentence begins. The gain of a hop
    follows from the audio before it, so that nothing is held back; within a hop it moves linearly.

    Args:
        sample_rate: In Hz.
        target_lufs: Target loudness.
    """

    lag_s = 0.0
    """This effect holds nothing back."""

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
        """Gain that is being approached, in dB."""
        return self._correction_db

    def begin(self) -> None:
        """Begin another sentence or clause, before its pause: the gain returns to what the whole stream needs."""
        self._meter.forget_present()
        self._find_gain()

    def push(self, samples: Samples) -> Samples:
        """Return the levelled samples, as many as were pushed; they may exceed [-1, 1]."""
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
        """Return nothing: this effect holds nothing back."""
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
