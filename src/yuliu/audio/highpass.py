"""High-pass filter for everything below a voice: a constant offset, room rumble, microphone thumps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.audio.graphs import BIQUAD, NO_SAMPLES, FilterGraph

if TYPE_CHECKING:
    from yuliu.types import Samples

CUTOFF_HZ = 60.0
"""Cutoff (-3 dB) of the filter; the lowest voices begin at about 75 Hz."""


class HighPass:
    """Second-order Butterworth high-pass: 12 dB per octave below its cutoff.

    Args:
        sample_rate: In Hz.
        cutoff_hz: Frequency at which the level is 3 dB lower.
    """

    lag_s = 0.0
    """This effect holds nothing back."""

    def __init__(self, sample_rate: int, cutoff_hz: float = CUTOFF_HZ) -> None:
        self._graph = FilterGraph(sample_rate, [("highpass", {"f": f"{cutoff_hz:g}", "poles": "2", **BIQUAD})])

    def push(self, samples: Samples) -> Samples:
        """Return the filtered samples, float32, as many as were pushed."""
        return self._graph.push(samples)

    def flush(self) -> Samples:
        """Return nothing: this effect holds nothing back."""
        return NO_SAMPLES
