"""Conversion of float samples to 16-bit PCM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from yuliu.types import Samples

    Pcm = NDArray[np.int16]
    """Audio as signed 16-bit numbers, mono, shape ``(num_samples,)``, never -32768."""

FULL_SCALE = 32767
"""16-bit value of 1.0."""


def to_s16(samples: Samples) -> Pcm:
    """Round to signed 16-bit PCM; values beyond [-1, 1] are clipped, never wrapped, and NaN becomes silence.

    Args:
        samples: float32, shape (num_samples,).
    """
    scaled = np.rint(samples * np.float32(FULL_SCALE))
    np.clip(scaled, -FULL_SCALE, FULL_SCALE, out=scaled)
    scaled[np.isnan(scaled)] = 0.0  # the result of casting NaN depends on the machine
    pcm: Pcm = scaled.astype(np.int16)
    return pcm


def to_s16le(samples: Samples) -> bytes:
    """Return the bytes of :func:`to_s16`, little-endian."""
    return little_endian(to_s16(samples))


def little_endian(pcm: Pcm, num_channels: int = 1) -> bytes:
    """Return the bytes of PCM, with each sample repeated for every channel."""
    return np.repeat(pcm, num_channels).astype("<i2", copy=False).tobytes()
