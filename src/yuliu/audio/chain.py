"""What is done to the sound of a part of a stream, in a fixed order, each off unless asked for.

Noise suppression, high-pass, compressor, pace and pitch, volume, limiter. All are exact: however the sound is cut into
pushes, the same samples come out. Levelling (:mod:`yuliu.audio.loudness`) is not among them: it remembers what was
spoken before, so that a stream has one and a part has none.
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
    """A part of a chain."""

    @property
    def lag_s(self) -> float:
        """Most that it holds back, seconds of what is pushed."""
        ...

    def push(self, samples: Samples) -> Samples:
        """What is certain now, float32, shape (num_samples,); may be empty."""
        ...

    def flush(self) -> Samples:
        """The rest; nothing is pushed afterwards."""
        ...


def _check(param: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidRequest(f"{param} must be from {low:g} to {high:g}, not {value:g}", param=param)


@dataclass(frozen=True, slots=True)
class Effects:
    """What is done to what a voice speaks. Nothing is changed by default.

    Raises:
        InvalidRequest: ``pitch_semitones``, ``volume_db`` or ``compression`` is out of its range.
    """

    volume_db: float = 0.0
    """Louder or softer, -60 to 20 dB."""
    pitch_semitones: float = 0.0
    """Higher or lower, -12 to 12. Formants move, too: beyond two or three it is another person."""
    level: bool = False
    """Brings sentences slowly to one loudness."""
    compression: Compression | None = None
    """Makes loud and soft sounds more alike."""
    highpass: bool = False
    """Takes away what lies below a voice."""
    denoise: bool = False
    """Takes noise away (RNNoise, the extra ``denoise``): for voices that were made from noisy recordings."""
    limit: bool | None = None
    """Keeps true peaks below -1 dB of full scale. None: where something that is wanted may make peaks higher. Where it
    is refused, peaks are bent instead."""

    def __post_init__(self) -> None:
        """Refuse values that cannot be served."""
        _check("volume_db", self.volume_db, MIN_VOLUME_DB, MAX_VOLUME_DB)
        _check("pitch_semitones", self.pitch_semitones, -MAX_SEMITONES, MAX_SEMITONES)
        if (compression := self.compression) is not None:
            for name, (low, high) in RANGES.items():
                _check("effects.compress", getattr(compression, name), low, high)

    def raises_peaks(self, speed: float = 1.0) -> bool:
        """Whether peaks may become higher: filters and stretching move them, too, not only gains."""
        moves = self.denoise or self.highpass or self.pitch_semitones != 0.0 or speed != 1.0
        return moves or self.level or self.compression is not None or self.volume_db > 0

    def limits(self, speed: float = 1.0) -> bool:
        """Whether there is a limiter."""
        return self.raises_peaks(speed) if self.limit is None else self.limit


NO_EFFECTS = Effects()


class Chain:
    """The effects on one part, in a row.

    Args:
        sample_rate: Hz, 8000 to 48000.
        effects: Which; ``level`` counts only in that a limiter is needed behind it.
        speed: Pace of sound whose model has none of its own, 0.25 to 4.

    Raises:
        InvalidRequest: The extra ``denoise`` is wanted and not installed.
        ValueError: ``speed`` is out of its range.
    """

    def __init__(self, sample_rate: int, effects: Effects, speed: float = 1.0) -> None:
        self._effects = _row(sample_rate, effects, speed)
        self.lag_s = lag_s(sample_rate, effects, speed)
        """Most that is held back, seconds of what is pushed; 0 also says that as many samples come out."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is changed."""
        return not self._effects

    def push(self, samples: Samples) -> Samples:
        """What is certain of the output now, float32, shape (num_samples,); may be empty."""
        for effect in self._effects:
            samples = effect.push(samples)
        return samples

    def flush(self) -> Samples:
        """The rest: what each effect held back goes through those behind it. Nothing is pushed afterwards."""
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
    """Most that a :class:`Chain` holds back, seconds of what is pushed, without making one.

    What is held back behind a change of pace is as many seconds of the input as it stands for.
    """
    found_s = Denoiser.lag_s if effects.denoise else 0.0
    found_s += stretch_lag_s(sample_rate, speed, effects.pitch_semitones)
    return found_s + (limiter_lag_s(sample_rate) * speed if effects.limits(speed) else 0.0)
