"""Sound for parts of the audio chain, and how to run them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.types import Samples

RATE = 24_000


class Effect(Protocol):
    """What sound can be pushed through."""

    def push(self, samples: Samples) -> Samples: ...

    def flush(self) -> Samples: ...


def babble(num_samples: int, *, seed: int = 5, level: float = 0.1) -> Samples:
    """Noise whose loudness changes like that of syllables, five a second."""
    random = np.random.default_rng(seed)
    swell = 0.5 + 0.5 * np.sin(2 * np.pi * 5 * np.arange(num_samples) / RATE)
    return (random.standard_normal(num_samples) * swell * level).astype(np.float32)


def tone(frequency_hz: float, *, duration_s: float = 1.0, level: float = 0.5, sample_rate: int = RATE) -> Samples:
    """A sine."""
    angle = 2 * np.pi * frequency_hz * np.arange(round(duration_s * sample_rate)) / sample_rate
    return (level * np.sin(angle)).astype(np.float32)


def through(effect: Effect, samples: Samples, cuts: Sequence[int] = ()) -> Samples:
    """All that an effect makes of sound that comes in these pieces."""
    pieces = np.split(samples, sorted(min(cut, len(samples)) for cut in cuts))
    return np.concatenate([*(effect.push(piece) for piece in pieces), effect.flush()])


def most_held_s(
    effect: Effect, samples: Samples, *, speed: float = 1.0, sample_rate: int = RATE, piece_s: float = 0.001
) -> float:
    """The longest that output was behind input, in seconds of input that comes in pieces of this length."""
    num_in, num_out, most = 0, 0, 0.0
    num_piece = int(piece_s * sample_rate)
    for piece in np.split(samples, range(num_piece, len(samples), num_piece)):
        num_in += len(piece)
        num_out += len(effect.push(piece))
        most = max(most, num_in - num_out * speed)
    return most / sample_rate


def same_however_cut(make: Callable[[], Effect], samples: Samples, cuts: Sequence[int]) -> bool:
    """Bit for bit."""
    return np.array_equal(through(make(), samples, cuts), through(make(), samples))


def level_db(samples: Samples) -> float:
    """Of full scale, root of the mean square."""
    return float(10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-12))


def true_peak_db(samples: Samples, *, factor: int = 8) -> float:
    """Highest value of the band-limited sound through the samples, by a Fourier transform of all of it."""
    padded = np.concatenate((np.zeros(4096), samples, np.zeros(4096)))
    spectrum = np.fft.rfft(padded)
    spectrum = np.concatenate((spectrum, np.zeros((factor - 1) * len(padded) // 2)))
    fine = np.fft.irfft(spectrum, factor * len(padded)) * factor
    return float(20 * np.log10(np.abs(fine).max() + 1e-12))
