"""Pace and pitch of sound that is there already; where a voice's model can speak faster by itself, that sounds better.

Pace is changed by WSOLA (``atempo`` of FFmpeg: overlapping pieces, laid where they match); pitch by doing so and then
resampling. Formants move with the pitch: more than two or three semitones make another person. What is heard comes
early by about half a piece (21 ms of the source at 24 kHz), by less than a whole one.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.graphs import NO_SAMPLES, FilterGraph
from yuliu.audio.resample import MIN_RATE, Resampler
from yuliu.types import MAX_SPEED, MIN_SPEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Samples

MAX_SEMITONES = 12.0
"""An octave, up or down."""
MAX_STEP = 2.0
"""One filter halves or doubles the pace at most; beyond that it would leave sound out."""
MAX_LAG_WINDOWS = 2.8
"""Most that one filter holds back, in pieces of its own length, however much it is given at once; measured."""
MAX_RESAMPLER_LAG_SAMPLES = 216
_MAX_DENOMINATOR = 500  # few enough filters for the resampler (1 ms to make); pitch is right to 0.02 semitones


class Stretch:
    """Sound at another pace, another pitch, or both. Its length is the input's divided by the speed, to a sample.

    Args:
        sample_rate: Hz.
        speed: 2.0 is twice as fast; 0.25 to 4.
        pitch_semitones: Higher or lower, -12 to 12.

    Raises:
        ValueError: ``speed`` or ``pitch_semitones`` is out of range.
    """

    def __init__(self, sample_rate: int, speed: float = 1.0, pitch_semitones: float = 0.0) -> None:
        if not MIN_SPEED <= speed <= MAX_SPEED:
            raise ValueError(f"speed is {MIN_SPEED:g} to {MAX_SPEED:g}, not {speed:g}")
        if not abs(pitch_semitones) <= MAX_SEMITONES:
            raise ValueError(f"pitch is moved by at most {MAX_SEMITONES:g} semitones, not {pitch_semitones:g}")
        ratio = _ratio(pitch_semitones)
        tempos = _steps(speed / float(ratio))
        self._speed = speed
        self._tempos = [_Tempo(sample_rate, tempo) for tempo in tempos]
        self._resampler = Resampler(*_rates(ratio)) if ratio != 1 else None
        self._padding_s = MAX_LAG_WINDOWS * _window_s(sample_rate) * len(tempos)
        self.lag_s = stretch_lag_s(sample_rate, speed, pitch_semitones)
        """Most of what was pushed that is held back, seconds; 0 where nothing is changed."""
        self._sample_rate = sample_rate
        self._num_in = 0
        self._num_out = 0

    def push(self, samples: Samples) -> Samples:
        """What is certain now, float32, shape (num_samples,); may be empty, and may leave [-1, 1] a little."""
        self._num_in += len(samples)
        made = self._run(samples)
        self._num_out += len(made)
        return made

    def flush(self) -> Samples:
        """The rest; the whole then has its right length."""
        if not self._tempos and self._resampler is None:
            return NO_SAMPLES
        wanted = round(self._num_in / self._speed)
        rest = [self._run(self._silence())]
        if self._tempos:
            rest.append(self._resampled(self._flushed()))
        if self._resampler is not None:
            rest.append(self._resampler.flush())
        return np.concatenate([*rest, self._silence()])[: max(0, wanted - self._num_out)]

    def _run(self, samples: Samples) -> Samples:
        for tempo in self._tempos:
            samples = tempo.push(samples)
        return self._resampled(samples)

    def _flushed(self) -> Samples:
        rest = NO_SAMPLES
        for tempo in self._tempos:
            rest = np.concatenate((tempo.push(rest), tempo.flush()))
        return rest

    def _resampled(self, samples: Samples) -> Samples:
        return samples if self._resampler is None else self._resampler.push(samples)

    def _silence(self) -> Samples:
        """As long as what the filters may hold back or leave out at the end."""
        return np.zeros(ceil(self._padding_s * max(1.0, self._speed) * self._sample_rate), np.float32)


class _Tempo:
    """One ``atempo``, which is fed in pieces: the first one whole, none of the others large.

    While it reaches back before the beginning of its input, it miscounts where its output is full in the midst of a
    joint: with a small first piece the sound would depend on the cuts, and click. And it gives nothing of what came of
    a piece before it can give all of it.
    """

    def __init__(self, sample_rate: int, tempo: float) -> None:
        self._graph = FilterGraph(sample_rate, [("atempo", {"tempo": f"{tempo:.12f}"})])
        self._num_head = _num_window(sample_rate)
        self._num_piece = self._num_head // 2
        self._held = NO_SAMPLES
        self._begun = False

    def push(self, samples: Samples) -> Samples:
        if self._begun:
            return self._fed(samples)
        held = np.concatenate((self._held, samples))
        if len(held) < self._num_head:
            self._held = held
            return NO_SAMPLES
        return self._begin(held)

    def flush(self) -> Samples:
        head = NO_SAMPLES if self._begun else self._begin(self._held)
        return np.concatenate((head, self._graph.flush()))

    def _begin(self, samples: Samples) -> Samples:
        self._begun, self._held = True, NO_SAMPLES
        first = self._graph.push(samples[: self._num_head])
        return np.concatenate((first, self._fed(samples[self._num_head :])))

    def _fed(self, samples: Samples) -> Samples:
        starts = range(0, len(samples), self._num_piece)
        pieces = [self._graph.push(samples[start : start + self._num_piece]) for start in starts]
        return np.concatenate(pieces) if pieces else NO_SAMPLES


def stretch_lag_s(sample_rate: int, speed: float, pitch_semitones: float) -> float:
    """What a :class:`Stretch` holds back at most, seconds of what is pushed, without making one."""
    ratio = _ratio(pitch_semitones)
    return _lag_s(_steps(speed / float(ratio)), sample_rate) + MAX_RESAMPLER_LAG_SAMPLES / sample_rate * speed * (
        ratio != 1
    )


def _ratio(pitch_semitones: float) -> Fraction:
    return Fraction(2 ** (pitch_semitones / 12)).limit_denominator(_MAX_DENOMINATOR)


def _steps(tempo: float) -> Sequence[float]:
    """Equal factors that each filter can do; none where nothing is to be done."""
    num_steps = 1
    while not MAX_STEP**-num_steps <= tempo <= MAX_STEP**num_steps:
        num_steps += 1
    return [] if tempo == 1.0 else [tempo ** (1 / num_steps)] * num_steps


def _rates(ratio: Fraction) -> tuple[int, int]:
    """Two rates with this ratio that the resampler serves."""
    factor = ceil(MIN_RATE / min(ratio.numerator, ratio.denominator))
    return ratio.numerator * factor, ratio.denominator * factor


def _lag_s(tempos: Sequence[float], sample_rate: int) -> float:
    """In seconds of what the first filter is given."""
    num_windows, pace = 0.0, 1.0
    for tempo in tempos:
        num_windows += MAX_LAG_WINDOWS * pace
        pace *= tempo
    return num_windows * _window_s(sample_rate)


def _window_s(sample_rate: int) -> float:
    return _num_window(sample_rate) / sample_rate


def _num_window(sample_rate: int) -> int:
    """Length of the pieces: a power of two, at least a 24th of a second."""
    return 1 << (-(-sample_rate // 24) - 1).bit_length()
