"""True-peak limiter: no sample, and no value between two samples, exceeds a ceiling, without the noise of clipping.

Gains are integers (units of 2**-30), since sums and minima of integers are the same in any order: the output does not
depend on how the input is cut, and no loop over samples is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.graphs import NO_SAMPLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from yuliu.types import Samples

    Gains = NDArray[np.int64]

CEILING_DB = -1.0
"""Maximum true peak, in dBFS, with headroom for what codecs add."""
LOOKAHEAD_S = 0.003
"""Time before a peak at which the gain begins to fall."""
RELEASE_S = 0.3
"""Time in which the gain would rise linearly from 0 to 1."""
HALF_TAPS = 16
"""Samples on each side from which values between two samples are interpolated."""
NUM_PARTS = 4
"""Oversampling factor."""
_ONE = 1 << 30


class Limiter:
    """Limiter that lowers the gain just before a peak and raises it again slowly.

    Every sample gets a gain from the true peak around it (4x oversampled). The minimum over the lookahead is taken,
    rises slowly, and is averaged over the lookahead, so that the gain falls linearly and is low enough when the peak
    comes.

    Args:
        sample_rate: In Hz.
        ceiling_db: Maximum true peak of the output, in dBFS, below 0.
    """

    def __init__(self, sample_rate: int, ceiling_db: float = CEILING_DB) -> None:
        self._ceiling = 10 ** (ceiling_db / 20)
        self._num_ahead = round(LOOKAHEAD_S * sample_rate)
        self._rise = max(1, round(_ONE / (RELEASE_S * sample_rate)))
        self.lag_s = limiter_lag_s(sample_rate)
        """Duration that is held back, in seconds: 3 ms and 16 samples."""
        self._kernels = _kernels()
        self._reach = 0.999 * self._ceiling / float(np.abs(self._kernels).sum(axis=1).max())
        """Sample value below which no true peak exceeds the ceiling."""
        self._heard: Samples = np.zeros(HALF_TAPS, np.float32)
        """Samples whose true peaks are not known yet, and the ones just before them."""
        # Silence precedes the input and is dropped again, so that a peak at the very start is anticipated too.
        self._num_dropped = self._num_ahead
        self._waiting: Samples = np.zeros(self._num_ahead, np.float32)
        self._wanted: Gains = np.full(self._num_ahead, _ONE, np.int64)
        """Gains of the waiting samples, as far as they are known."""
        self._risen = _ONE
        self._past: Gains = np.full(self._num_ahead, _ONE, np.int64)

    def push(self, samples: Samples) -> Samples:
        """Return the output that is certain now, float32, shape (num_samples,); may be empty."""
        self._waiting = np.concatenate((self._waiting, samples))
        self._heard = np.concatenate((self._heard, samples))
        num_known = len(self._heard) - 2 * HALF_TAPS
        if num_known > 0:
            self._wanted = np.concatenate((self._wanted, self._gains(self._heard)))
            self._heard = self._heard[num_known:]
        limited = self._take(max(0, len(self._wanted) - self._num_ahead))
        num_dropped = min(self._num_dropped, len(limited))
        self._num_dropped -= num_dropped
        return limited[num_dropped:]

    def flush(self) -> Samples:
        """Return the rest."""
        num_rest = len(self._waiting) - self._num_dropped
        silence = np.zeros(self._num_ahead + HALF_TAPS, np.float32)
        return self.push(silence)[:num_rest]

    def _gains(self, heard: Samples) -> Gains:
        """Return the gain of each sample, except the first and last few, which only serve as context."""
        num_known = len(heard) - 2 * HALF_TAPS
        own = np.abs(heard[HALF_TAPS : HALF_TAPS + num_known])
        if float(np.abs(heard).max()) <= self._reach:
            return np.full(num_known, _ONE, np.int64)
        peaks = own.astype(np.float64)
        for kernel in self._kernels:  # between a sample and the next
            between = np.correlate(heard[1:], kernel, "valid")
            np.maximum(peaks, np.abs(between[:num_known]), out=peaks)
        gains: Gains = (self._ceiling / np.maximum(peaks, self._ceiling) * _ONE).astype(np.int64)
        return gains

    def _take(self, num_samples: int) -> Samples:
        if not num_samples:
            return NO_SAMPLES
        taken, self._waiting = self._waiting[:num_samples], self._waiting[num_samples:]
        wanted, self._wanted = self._wanted, self._wanted[num_samples:]
        if self._risen == _ONE and int(wanted.min()) == _ONE and int(self._past.min(initial=_ONE)) == _ONE:
            return taken
        risen = self._rising(_least_ahead(wanted, self._num_ahead + 1)[:num_samples])
        window = np.concatenate((self._past, risen))
        self._past = window[num_samples:]
        sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(window)))
        mean = (sums[self._num_ahead + 1 :] - sums[: -self._num_ahead - 1]) // (self._num_ahead + 1)
        limited: Samples = (taken * (mean / _ONE)).astype(np.float32)
        return limited

    def _rising(self, least: Gains) -> Gains:
        """Return the gains, limited to the maximum slope upwards."""
        slope = self._rise * np.arange(1, len(least) + 1, dtype=np.int64)
        start = np.concatenate(([self._risen], least - slope))
        risen: Gains = np.minimum.accumulate(start)[1:] + slope
        self._risen = int(risen[-1])
        return risen


def limiter_lag_s(sample_rate: int) -> float:
    """Return the duration that a :class:`Limiter` holds back, in seconds, without making one."""
    return (round(LOOKAHEAD_S * sample_rate) + HALF_TAPS) / sample_rate


def _least_ahead(gains: Gains, num_window: int) -> Gains:
    """Return the minimum of each run of ``num_window`` gains, as many as there are."""
    least, width = gains, 1
    while width < num_window:
        step = min(width, num_window - width)
        least = np.minimum(least[:-step], least[step:])
        width += step
    return least


def _kernels() -> Samples:
    """Return windowed sinc kernels that interpolate between their middle two samples, one row for each position."""
    places = np.arange(1, NUM_PARTS)[:, None] / NUM_PARTS
    away = np.arange(1 - HALF_TAPS, HALF_TAPS + 1)[None, :] - places
    kernels = np.sinc(away) * np.cos(np.pi * away / (2 * HALF_TAPS + 1)) ** 2
    scaled: Samples = (kernels / kernels.sum(axis=1, keepdims=True)).astype(np.float32)
    return scaled
