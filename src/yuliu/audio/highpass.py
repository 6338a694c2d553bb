"""Takes away what lies below a voice: a constant offset, hum of the air, thumps of a microphone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.audio.graphs import BIQUAD, NO_SAMPLES, FilterGraph

if TYPE_CHECKING:
    from yuliu.types import Samples

CUTOFF_HZ = 60.0
"""Where the sound is 3 dB softer; the lowest voices begin at about 75 Hz."""


class HighPass:
    """A Butterworth high-pass of second order: 12 dB less for each octave below its cutoff.

    Args:
        sample_rate: Hz.
        cutoff_hz: Where it takes 3 dB.
    """

    lag_s = 0.0
    """Nothing is held back."""

    def __init__(self, sample_rate: int, cutoff_hz: float = CUTOFF_HZ) -> None:
        self._graph = FilterGraph(sample_rate, [("highpass", {"f": f"{cutoff_hz:g}", "poles": "2", **BIQUAD})])

    def push(self, samples: Samples) -> Samples:
        """The samples without what lies below, float32, as many as came in."""
        return self._graph.push(samples)

    def flush(self) -> Samples:
        """Nothing: all is out."""
        return NO_SAMPLES
