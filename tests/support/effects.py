"""Test signals for effects, and functions that run and measure them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.types import Samples

RATE = 24_000


class Effect(Protocol):
    """Effect under test."""

    def push(self, samples: Samples) -> Samples: ...

    def flush(self) -> Samples: ...


def babble(num_samples: int, *, seed: int = 5, level: float = 0.1) -> Samples:
    """Return noise with the envelope of syllables, five per second."""
    random = np.random.default_rng(seed)
    swell = 0.5 + 0.5 * np.sin(2 * np.pi * 5 * np.arange(num_samples) / RATE)
    return (random.standard_normal(num_samples) * swell * level).astype(np.float32)


def tone(frequency_hz: float, *, duration_s: float = 1.0, level: float = 0.5, sample_rate: int = RATE) -> Samples:
    """Return a sine."""
    angle = 2 * np.pi * frequency_hz * np.arange(round(duration_s * sample_rate)) / sample_rate
    return (level * np.sin(angle)).astype(np.float32)


def through(effect: Effect, samples: Samples, cuts: Sequence[int] = ()) -> Samples:
    """Return the whole output of an effect for audio that is cut at these places."""
    pieces = np.split(samples, sorted(min(cut, len(samples)) for cut in cuts))
    return np.concatenate([*(effect.push(piece) for piece in pieces), effect.flush()])


def most_held_s(
    effect: Effect, samples: Samples, *, speed: float = 1.0, sample_rate: int = RATE, piece_s: float = 0.001
) -> float:
    """Return the maximum delay of the output, in seconds of input that is pushed in pieces of this length."""
    num_in, num_out, longest = 0, 0, 0.0
    num_piece = int(piece_s * sample_rate)
    for piece in np.split(samples, range(num_piece, len(samples), num_piece)):
        num_in += len(piece)
        num_out += len(effect.push(piece))
        longest = max(longest, num_in - num_out * speed)
    return longest / sample_rate


def same_however_cut(make: Callable[[], Effect], samples: Samples, cuts: Sequence[int]) -> bool:
    """Return whether the output with these cuts is bit for bit that without cuts."""
    return np.array_equal(through(make(), samples, cuts), through(make(), samples))


def level_db(samples: Samples) -> float:
    """Return the RMS level, in dBFS."""
    return float(10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-12))


def true_peak_db(samples: Samples, *, factor: int = 8) -> float:
    """Return the maximum of the band-limited signal through the samples, by one Fourier transform."""
    padded = np.concatenate((np.zeros(4096), samples, np.zeros(4096)))
    spectrum = np.fft.rfft(padded)
    spectrum = np.concatenate((spectrum, np.zeros((factor - 1) * len(padded) // 2)))
    fine = np.fft.irfft(spectrum, factor * len(padded)) * factor
    return float(20 * np.log10(np.abs(fine).max() + 1e-12))
