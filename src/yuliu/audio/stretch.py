"""Change of pace and pitch of finished audio; a model that changes its own pace sounds better.

Pace is changed by WSOLA (``atempo`` of FFmpeg: overlapping windows, placed where they match), pitch by WSOLA and
resampling. Formants move with the pitch: beyond two or three semitones the speaker sounds like another. The output is
early by about half a window (21 ms of the source at 24 kHz), and by less than a whole one.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.formats import MIN_RATE
from yuliu.audio.graphs import NO_SAMPLES, FilterGraph
from yuliu.audio.resample import Resampler
from yuliu.types import MAX_SPEED, MIN_SPEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Samples

MAX_SEMITONES = 12.0
"""One octave, up or down."""
MAX_STEP = 2.0
"""Maximum factor of one filter, either way; beyond it the filter would drop audio."""
MAX_LAG_WINDOWS = 2.8
"""Maximum that one filter holds back, in windows, for pushes of any size; measured."""
MAX_RESAMPLER_LAG_SAMPLES = 216
_MAX_DENOMINATOR = 500  # few enough filters for the resampler (1 ms to make); pitch is right to 0.02 semitones


class Stretch:
    """Change of pace, pitch or both. The output is as long as the input divided by the speed, to a sample.

    Args:
        sample_rate: In Hz.
        speed: 2.0 is twice as fast; 0.25 to 4.
        pitch_semitones: -12 to 12.

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
        """Maximum of the input that is held back, in seconds; 0 if nothing is changed."""
        self._sample_rate = sample_rate
        self._num_in = 0
        self._num_out = 0

    def push(self, samples: Samples) -> Samples:
        """Return the output that is certain now, float32; may be empty, and may slightly exceed [-1, 1]."""
        self._num_in += len(samples)
        made = self._run(samples)
        self._num_out += len(made)
        return made

    def flush(self) -> Samples:
        """Return the rest, which gives the whole output its exact length."""
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
        """Return silence as long as the maximum that the filters hold back or drop at the end."""
        return np.zeros(ceil(self._padding_s * max(1.0, self._speed) * self._sample_rate), np.float32)


class _Tempo:
    """One ``atempo`` filter, fed in pieces: a whole window first, then smaller ones.

    While the filter reaches back before the start of its input, it miscounts if its output is full in the middle of a
    joint: with a small first piece the output would depend on the cuts, and click. The output of a piece also comes
    only once all of it is ready, hence the small pieces.
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
    """Return the maximum that a :class:`Stretch` holds back, in seconds of its input, without making one."""
    ratio = _ratio(pitch_semitones)
    return _lag_s(_steps(speed / float(ratio)), sample_rate) + MAX_RESAMPLER_LAG_SAMPLES / sample_rate * speed * (
        ratio != 1
    )


def _ratio(pitch_semitones: float) -> Fraction:
    return Fraction(2 ** (pitch_semitones / 12)).limit_denominator(_MAX_DENOMINATOR)


def _steps(tempo: float) -> Sequence[float]:
    """Return equal factors within the range of one filter; none if the pace stays as it is."""
    num_steps = 1
    while not MAX_STEP**-num_steps <= tempo <= MAX_STEP**num_steps:
        num_steps += 1
    return [] if tempo == 1.0 else [tempo ** (1 / num_steps)] * num_steps


def _rates(ratio: Fraction) -> tuple[int, int]:
    """Return two rates with this ratio that the resampler supports."""
    factor = ceil(MIN_RATE / min(ratio.numerator, ratio.denominator))
    return ratio.numerator * factor, ratio.denominator * factor


def _lag_s(tempos: Sequence[float], sample_rate: int) -> float:
    """Return the lag in seconds of the input of the first filter."""
    num_windows, pace = 0.0, 1.0
    for tempo in tempos:
        num_windows += MAX_LAG_WINDOWS * pace
        pace *= tempo
    return num_windows * _window_s(sample_rate)


def _window_s(sample_rate: int) -> float:
    return _num_window(sample_rate) / sample_rate


def _num_window(sample_rate: int) -> int:
    """Return the length of a window: a power of two, at least a 24th of a second."""
    return 1 << (-(-sample_rate // 24) - 1).bit_length()
