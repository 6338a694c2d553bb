"""Gain without clipping: samples close to full scale are bent smoothly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from yuliu.types import Samples

KNEE_DB = -1.0
"""Level below which samples are left unchanged, in dBFS."""
_KNEE = 10 ** (KNEE_DB / 20)
_ROOM = 1.0 - _KNEE


def bend(samples: Samples) -> Samples:
    """Return samples within [-1, 1]: values above -1 dBFS are bent towards 1, and their order is kept.

    Each sample depends on itself alone, so nothing is held back and cuts do not matter. Returns the same object if no
    sample is above the knee. Where peaks are far above it, a limiter sounds better.
    """
    size = np.abs(samples)
    if not len(samples) or float(size.max()) <= _KNEE:
        return samples
    bent = samples.copy()
    loud = np.flatnonzero(size > _KNEE)
    room_left = _ROOM / (size[loud].astype(np.float64) - _KNEE)
    bent[loud] = np.copysign(_KNEE + _ROOM / np.hypot(1.0, room_left), samples[loud])
    return bent


def scaled(samples: Samples, gain: float) -> Samples:
    """Return the samples times a factor, kept within [-1, 1] by :func:`bend`."""
    return bend(samples if gain == 1.0 else samples * np.float32(gain))


class Volume:
    """Constant gain; its output may exceed [-1, 1], so a limiter or :class:`Knee` follows it.

    Args:
        gain_db: Gain, in dB.
    """

    lag_s = 0.0
    """This effect holds nothing back."""

    def __init__(self, gain_db: float) -> None:
        self._factor = np.float32(10 ** (gain_db / 20))

    def push(self, samples: Samples) -> Samples:
        """Return the samples with the gain applied."""
        return samples * self._factor

    def flush(self) -> Samples:
        """Return nothing: this effect holds nothing back."""
        return np.zeros(0, np.float32)


class Knee:
    """:func:`bend` as an effect of a chain, for streams without a limiter."""

    lag_s = 0.0
    """This effect holds nothing back."""

    def push(self, samples: Samples) -> Samples:
        """Return the samples, kept within [-1, 1]."""
        return bend(samples)

    def flush(self) -> Samples:
        """Return nothing: this effect holds nothing back."""
        return np.zeros(0, np.float32)
