"""Dynamic range compression, for listening in cars, in the street and on small loudspeakers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.audio.graphs import NO_SAMPLES, FilterGraph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.types import Samples

RANGES: Mapping[str, tuple[float, float]] = {
    "threshold_db": (-60.0, 0.0),
    "ratio": (1.0, 20.0),
    "attack_s": (0.0001, 2.0),
    "release_s": (0.0001, 9.0),
    "makeup_db": (0.0, 36.0),
}
"""Minimum and maximum of each field of :class:`Compression`."""


@dataclass(frozen=True, slots=True)
class Compression:
    """Settings of the compressor; the defaults suit voices at the common loudness."""

    threshold_db: float = -24.0
    """Level above which it works, in dBFS, -60 to 0."""
    ratio: float = 3.0
    """Ratio by which the level above the threshold is reduced, 1 to 20."""
    attack_s: float = 0.005
    """Time in which the gain falls, 0.0001 to 2 s."""
    release_s: float = 0.12
    """Time in which the gain recovers, 0.0001 to 9 s."""
    makeup_db: float = 0.0
    """Gain applied afterwards, 0 to 36 dB."""


class Compressor:
    """Compressor: reduces the level above a threshold by a ratio.

    Args:
        sample_rate: In Hz.
        compression: Settings.
    """

    lag_s = 0.0
    """This effect holds nothing back."""

    def __init__(self, sample_rate: int, compression: Compression = Compression()) -> None:
        options = {
            "threshold": f"{_factor(compression.threshold_db):.9f}",
            "ratio": f"{compression.ratio:.6f}",
            "attack": f"{compression.attack_s * 1000:.6f}",
            "release": f"{compression.release_s * 1000:.6f}",
            "makeup": f"{_factor(compression.makeup_db):.9f}",
        }
        self._graph = FilterGraph(sample_rate, [("acompressor", options)])

    def push(self, samples: Samples) -> Samples:
        """Return the compressed samples, float32, as many as were pushed; may exceed [-1, 1]."""
        return self._graph.push(samples)

    def flush(self) -> Samples:
        """Return nothing: this effect holds nothing back."""
        return NO_SAMPLES


def _factor(gain_db: float) -> float:
    return float(10 ** (gain_db / 20))
