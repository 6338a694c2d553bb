"""Signal processing from hibari's spectra to samples, block by block.

The mathematics are those of hibari's own signal processing (package ``hibari-tts`` 0.2.1, ``hibari/dsp.py``,
Apache-2.0): the spectrum of a frame is

    S = exp(lh) * exp(i pi tanh(theta)) * STFT(pulses(f0)) + exp(ln) * Z + exp(lr) * exp(i phi)

with a band-limited pulse train of unit harmonics, complex normal noise Z, and one inverse STFT (1200 points, hop 300,
periodic Hann, centred, divided by the summed squares of the window). Here blocks of frames are rendered one after the
other: the phase of the pulses, the pulses that later frames still need, and sums that are not complete yet are
carried in :class:`Carry`. A sample is complete two frames after its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SAMPLE_RATE = 24000
"""Hz."""
HOP = 300
"""Samples per frame."""
LAG_FRAMES = 2
"""Frames after its own that a sample needs."""
NUM_BINS = 601
_N_FFT = 1200
_OVERLAP = _N_FFT // HOP
_HALF = _N_FFT // 2
_MAX_LOG = np.float32(7.0)
_UNVOICED_BELOW_HZ = np.float32(40.0)
_HIGHEST_HARMONIC_HZ = np.float32(11000.0)
_WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_N_FFT) / _N_FFT)).astype(np.float32)
_WINDOW_SQUARES = (_WINDOW * _WINDOW).reshape(_OVERLAP, HOP)
_PULSE_WINDOW = _WINDOW / np.float32(_N_FFT / 4)
"""A harmonic of unit amplitude then peaks at 1 in its STFT."""
_TOWARDS_NEXT = (((np.arange(HOP) + 0.5) / HOP - 0.5) % 1.0).astype(np.float32)
"""Weight of the later of the two frames whose centres enclose a sample."""


@dataclass(frozen=True, slots=True)
class Carry:
    """State that the frames rendered so far leave for the next ones."""

    num_frames: int = 0
    """Frames rendered."""
    phase: float = 0.0
    """Cycles of the pulse train at the end of ``pulses``, [0, 1)."""
    pulses: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    """Pulses from two frames before frame ``num_frames`` on, one frame ahead of it; shape (num_samples,)."""
    sums: Floats = field(default_factory=lambda: np.zeros((_OVERLAP - 1, HOP), np.float32))
    """Sums that later frames add to; shape (3, 300)."""


class NoiseTable:
    """Complex normal noise that costs a copy: each frame takes its own stretch of one long table.

    Drawing 1202 normal numbers a frame would cost as much as all other signal processing together. Frames start at
    places drawn from 2**18, so two of them hardly ever share numbers, and then not at the same frequencies.

    Args:
        num_values: Length of the table; 4 bytes each.
    """

    def __init__(self, num_values: int = 1 << 18) -> None:
        width = 2 * NUM_BINS
        values = np.random.Generator(np.random.SFC64(0)).standard_normal(num_values + width - 1, dtype=np.float32)
        self._rows = np.lib.stride_tricks.sliding_window_view(values, width)

    def frames(self, seed: int, first_frame: int, num_frames: int) -> Floats:
        """Noise of a block of frames: a pure function of its arguments.

        Returns:
            float32, shape (num_frames, 2, 601): real and imaginary parts, each of variance 1.
        """
        frames = np.arange(first_frame, first_frame + num_frames, dtype=np.uint64)
        places = _scattered(frames + np.uint64(_scatter_seed(seed))) % np.uint64(len(self._rows))
        rows: Floats = self._rows[places]
        return rows.reshape(num_frames, 2, NUM_BINS)


def _scatter_seed(seed: int) -> int:
    """A start of 64 bits for each seed: seeds that follow each other are far apart."""
    return seed * 0xD1B54A32D192ED03 % (1 << 64)


def _scattered(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look drawn at random, one for each given: the finalizer of SplitMix64 (Steele et al. 2014).

    A generator of numpy would do the same, but making one for each block costs more than all it draws.
    """
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def render(spectra: Floats, noise: Floats, f0: Floats, carry: Carry) -> tuple[Floats, Carry]:
    """Render the frames that follow those in ``carry``.

    Args:
        spectra: float32, shape (num_frames, 3005): lh, theta, ln, lr, phi side by side.
        noise: float32, shape (num_frames, 2, 601).
        f0: Pitch of the whole utterance, Hz, float32, shape (F,), F >= 3; below 40: unvoiced.
        carry: ``Carry()`` for the first frames, then the carry of the call before.

    Returns:
        The samples now complete, float32, shape (num_samples,): those of frames up to two before the last one
        rendered, or all that are left after frame F - 1; and the next carry.
    """
    first, last = carry.num_frames, carry.num_frames + len(spectra)
    pulses, phase = _pulses_for(f0, carry, last)
    frames = np.fft.irfft(_spectrum(spectra, noise, pulses), _N_FFT, axis=1)
    frames *= _WINDOW
    sums = np.zeros((len(spectra) + _OVERLAP - 1, HOP), np.float32)
    sums[: _OVERLAP - 1] = carry.sums
    for part, pieces in enumerate(frames.reshape(-1, _OVERLAP, HOP).swapaxes(0, 1)):
        sums[part : part + len(spectra)] += pieces
    end = last + LAG_FRAMES if last == len(f0) else last
    begin = max(first, LAG_FRAMES)
    samples = sums[begin - first : end - first] / _window_sums(begin, end, len(f0))
    return samples.reshape(-1), Carry(last, phase, pulses[len(spectra) * HOP :], sums[len(spectra) :])


def _spectrum(spectra: Floats, noise: Floats, pulses: Floats) -> NDArray[np.complex64]:
    """S of each frame; where all pulses under the window are 0 the first term is not computed."""
    theta, phi = spectra[:, NUM_BINS : 2 * NUM_BINS], spectra[:, 4 * NUM_BINS :]
    scales = np.exp(np.minimum(spectra[:, 2 * NUM_BINS : 4 * NUM_BINS], _MAX_LOG))
    of_noise, of_rest = scales[:, :NUM_BINS], scales[:, NUM_BINS:]
    spectrum = np.empty((len(spectra), NUM_BINS), np.complex64)
    spectrum.real = of_noise * noise[:, 0] + of_rest * np.cos(phi)
    spectrum.imag = of_noise * noise[:, 1] + of_rest * np.sin(phi)
    windows = np.lib.stride_tricks.sliding_window_view(pulses, _N_FFT)[::HOP][: len(spectra)]
    voiced = windows.any(axis=1)
    if voiced.any():
        turn = np.tanh(theta[voiced]) * np.float32(np.pi)
        scale = np.exp(np.minimum(spectra[voiced, :NUM_BINS], _MAX_LOG))
        filters = np.empty_like(spectrum[voiced])
        filters.real, filters.imag = scale * np.cos(turn), scale * np.sin(turn)
        spectrum[voiced] += filters * np.fft.rfft(windows[voiced] * _PULSE_WINDOW, axis=1)
    return spectrum


def _pulses_for(f0: Floats, carry: Carry, last: int) -> tuple[Floats, float]:
    """Pulses from two frames before the first to render up to one frame behind ``last``; mirrored at both ends."""
    made = carry.num_frames + 1 if carry.num_frames else 0
    new, phase = _pulse_train(f0, made, min(last + 1, len(f0)), carry.phase)
    parts = [carry.pulses, new]
    if not carry.num_frames:
        parts.insert(0, new[_HALF:0:-1])
    if last == len(f0):
        tail = np.concatenate(parts)
        parts = [tail, tail[-2 : -_HALF - 2 : -1]]
    return np.concatenate(parts), phase


def _pulse_train(f0: Floats, begin: int, end: int, phase: float) -> tuple[Floats, float]:
    """Samples of frames ``begin`` to ``end``: the sum of cos(h t) over all harmonics h below 11 kHz, 0 where unvoiced.

    The sum over h <= H is sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2, which tends to H where sin(t / 2) tends to 0.
    """
    if begin >= end:
        return np.zeros(0, np.float32), phase
    pitch = _pitch_of_samples(f0, begin, end)
    voiced = pitch > _UNVOICED_BELOW_HZ
    np.maximum(pitch, _UNVOICED_BELOW_HZ, out=pitch)
    cycles = np.cumsum(pitch, dtype=np.float64)
    cycles *= 1.0 / SAMPLE_RATE
    cycles += phase
    cycles -= np.floor(cycles)
    angle = (cycles * (2 * np.pi)).astype(np.float32)
    harmonics = np.floor(_HIGHEST_HARMONIC_HZ / pitch)
    below = np.sin(angle * np.float32(0.5)) * np.float32(2.0)
    peak = np.abs(below) <= np.float32(2e-3)
    below[peak] = 1.0
    harmonics += np.float32(0.5)
    train = np.where(peak, harmonics, np.sin(harmonics * angle) / below)
    train -= np.float32(0.5)
    train[~voiced] = 0.0
    return train, float(cycles[-1])


def _pitch_of_samples(f0: Floats, begin: int, end: int) -> Floats:
    """Pitch drawn in straight lines between the centres of frames; Hz, shape ((end - begin) * 300,)."""
    places = np.clip(np.arange(begin - 1, end + 1), 0, len(f0) - 1)
    around = f0[places][:, None]
    half = HOP // 2
    ahead, behind = _TOWARDS_NEXT, 1 - _TOWARDS_NEXT
    pitch = np.empty((end - begin, HOP), np.float32)
    pitch[:, :half] = around[:-2] * behind[:half] + around[1:-1] * ahead[:half]
    pitch[:, half:] = around[1:-1] * behind[half:] + around[2:] * ahead[half:]
    return pitch.reshape(-1)


def _window_sums(begin: int, end: int, num_frames: int) -> Floats:
    """Summed squares of the windows over rows ``begin`` to ``end`` of the overlap-add; shape (end - begin, 300)."""
    row = np.arange(begin, end)[:, None] - np.arange(_OVERLAP)
    there = ((row >= 0) & (row < num_frames)).astype(np.float32)
    return np.maximum(there @ _WINDOW_SQUARES, np.float32(1e-11))
