"""Louder and softer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from yuliu.types import Samples


def amplify(samples: Samples, gain_db: float) -> Samples:
    """Samples with a gain; what would leave [-1, 1] is clipped. The same object where the gain is 0 dB."""
    if not gain_db:
        return samples
    louder: Samples = np.clip(samples * np.float32(10 ** (gain_db / 20)), -1.0, 1.0).astype(np.float32, copy=False)
    return louder


class Volume:
    """A gain on all of a stream, without clipping: what may leave [-1, 1] is for a limiter.

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
