"""Float samples to 16-bit PCM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from yuliu.types import Samples

FULL_SCALE = 32767
"""The s16 value of 1.0."""


def to_s16le(samples: Samples) -> bytes:
    """Round to signed 16-bit little-endian PCM; what exceeds [-1, 1] is clipped, never wrapped.

    Args:
        samples: float32, shape (num_samples,).
    """
    scaled = np.rint(samples * np.float32(FULL_SCALE))
    np.clip(scaled, -FULL_SCALE, FULL_SCALE, out=scaled)
    pcm: bytes = scaled.astype("<i2").tobytes()
    return pcm
