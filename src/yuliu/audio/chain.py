"""Effects on the audio of a part of a stream, in a fixed order, each off by default.

The order is noise suppression, high-pass, compressor, pace and pitch, volume, limiter. All are exact: the output does
not depend on how the input is cut into pushes. Levelling (:mod:`yuliu.audio.loudness`) is not among them: it remembers
earlier speech, so it belongs to the stream, not to a part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from yuliu.audio.compressor import RANGES, Compression, Compressor
from yuliu.audio.denoise import Denoiser
from yuliu.audio.gain import Knee, Volume
from yuliu.audio.highpass import HighPass
from yuliu.audio.limiter import Limiter, limiter_lag_s
from yuliu.audio.stretch import MAX_SEMITONES, Stretch, stretch_lag_s
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from yuliu.types import Samples

MIN_VOLUME_DB, MAX_VOLUME_DB = -60.0, 20.0


class Effect(Protocol):
    """One effect of a chain."""

    @property
    def lag_s(self) -> float:
        """Maximum that it holds back, in seconds of its input."""
        ...

    def push(self, samples: Samples) -> Samples:
        """Return the output that is certain now, float32, shape (num_samples,); may be empty."""
        ...

    def flush(self) -> Samples:
        """Return the rest; nothing is pushed afterwards."""
        ...


def _check(param: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidRequest(f"{param} must be from {low:g} to {high:g}, not {value:g}", param=param)


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects on the audio of a voice. None is on by default.

    Raises:
        InvalidRequest: ``pitch_semitones``, ``volume_db`` or ``compression`` is out of its range.
    """

    volume_db: float = 0.0
    """Gain, -60 to 20 dB."""
    pitch_semitones: float = 0.0
    """Change of pitch, -12 to 12. Formants move with it: beyond two or three semitones the speaker sounds like
    another."""
    level: bool = False
    """Slowly brings sentences to one loudness."""
    compression: Compression | None = None
    """Reduces the difference between loud and soft sounds."""
    highpass: bool = False
    """Removes everything below the range of a voice."""
    denoise: bool = False
    """Suppresses noise (RNNoise, the extra ``denoise``), for voices trained on noisy recordings."""
    limit: bool | None = None
    """Keeps true peaks below -1 dBFS. None limits if another effect may raise peaks; False bends peaks instead."""

    def __post_init__(self) -> None:
        """Reject values out of range."""
        _check("volume_db", self.volume_db, MIN_VOLUME_DB, MAX_VOLUME_DB)
        _check("pitch_semitones", self.pitch_semitones, -MAX_SEMITONES, MAX_SEMITONES)
        if (compression := self.compression) is not None:
            for name, (low, high) in RANGES.items():
                _check("effects.compress", getattr(compression, name), low, high)

    def raises_peaks(self, speed: float = 1.0) -> bool:
        """Return whether peaks may become higher: filters and stretching move them too, not only gains."""
        moves = self.denoise or self.highpass or self.pitch_semitones != 0.0 or speed != 1.0
        return moves or self.level or self.compression is not None or self.volume_db > 0

    def limits(self, speed: float = 1.0) -> bool:
        """Return whether a limiter is used."""
        return self.raises_peaks(speed) if self.limit is None else self.limit


NO_EFFECTS = Effects()


class Chain:
    """Chain of the effects on one part.

    Args:
        sample_rate: In Hz, 8000 to 48000.
        effects: Effects to apply; ``level`` only means that a limiter may be needed.
        speed: Pace, 0.25 to 4, for models that cannot change their own.

    Raises:
        InvalidRequest: Noise suppression is requested, but the extra ``denoise`` is not installed.
        ValueError: ``speed`` is out of its range.
    """

    def __init__(self, sample_rate: int, effects: Effects, speed: float = 1.0) -> None:
        self._effects = _row(sample_rate, effects, speed)
        self.lag_s = lag_s(sample_rate, effects, speed)
        """Maximum that is held back, in seconds of input; 0 also means that each push returns as many samples."""

    @property
    def is_empty(self) -> bool:
        """True if the chain changes nothing."""
        return not self._effects

    def push(self, samples: Samples) -> Samples:
        """Return the output that is certain now, float32, shape (num_samples,); may be empty."""
        for effect in self._effects:
            samples = effect.push(samples)
        return samples

    def flush(self) -> Samples:
        """Return the rest, which passes through all later effects. Nothing is pushed afterwards."""
        rest = np.zeros(0, np.float32)
        for effect in self._effects:
            rest = np.concatenate((effect.push(rest), effect.flush()))
        return rest


def _row(sample_rate: int, wanted: Effects, speed: float) -> list[Effect]:
    row: list[Effect] = []
    if wanted.denoise:
        row.append(Denoiser(sample_rate))
    if wanted.highpass:
        row.append(HighPass(sample_rate))
    if wanted.compression is not None:
        row.append(Compressor(sample_rate, wanted.compression))
    if speed != 1.0 or wanted.pitch_semitones:
        row.append(Stretch(sample_rate, speed, wanted.pitch_semitones))
    if wanted.volume_db:
        row.append(Volume(wanted.volume_db))
    if wanted.limits(speed):
        row.append(Limiter(sample_rate))
    elif wanted.raises_peaks(speed):
        row.append(Knee())
    return row


def lag_s(sample_rate: int, effects: Effects, speed: float = 1.0) -> float:
    """Return the maximum that a :class:`Chain` holds back, in seconds of its input, without making one.

    Audio held back after a change of pace counts as the input that it was made from.
    """
    found_s = Denoiser.lag_s if effects.denoise else 0.0
    found_s += stretch_lag_s(sample_rate, speed, effects.pitch_semitones)
    return found_s + (limiter_lag_s(sample_rate) * speed if effects.limits(speed) else 0.0)
