"""Louder and softer, and no clip: what comes close to full scale is bent, never cut off flat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from yuliu.types import Samples

KNEE_DB = -1.0
"""Samples below this level are left as they are, dB of full scale."""
_KNEE = 10 ** (KNEE_DB / 20)
_ROOM = 1.0 - _KNEE


def bend(samples: Samples) -> Samples:
    """Samples within [-1, 1]: what is above -1 dB of full scale is bent towards 1, the louder stays the louder.

    Each sample depends on itself alone, so nothing is held back and any cuts give the same. The same object where no
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
    """Samples times a factor, within [-1, 1] as by :func:`bend`."""
    return bend(samples if gain == 1.0 else samples * np.float32(gain))


class Volume:
    """A gain on all of a stream, which may leave [-1, 1]: that is for a limiter, or :class:`Knee`.

    Args:
        gain_db: Louder or softer, dB.
    """

    lag_s = 0.0
    """Nothing is held back."""

    def __init__(self, gain_db: float) -> None:
        self._factor = np.float32(10 ** (gain_db / 20))

    def push(self, samples: Samples) -> Samples:
        """The samples, louder or softer."""
        return samples * self._factor

    def flush(self) -> Samples:
        """Nothing: all is out."""
        return np.zeros(0, np.float32)


class Knee:
    """:func:`bend` as a part of a chain, where no limiter is wanted."""

    lag_s = 0.0
    """Nothing is held back."""

    def push(self, samples: Samples) -> Samples:
        """The samples, within [-1, 1]."""
        return bend(samples)

    def flush(self) -> Samples:
        """Nothing: all is out."""
        return np.zeros(0, np.float32)
