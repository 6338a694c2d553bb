"""What is done to the sound of a stream before it is encoded: parts in a fixed order, each off unless asked for.

Noise suppression, high-pass, levelling, compressor, pace and pitch, volume, limiter. All are exact: however the sound
is cut into pushes, the same samples come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from yuliu.audio.compressor import Compression, Compressor
from yuliu.audio.denoise import Denoiser
from yuliu.audio.gain import Volume
from yuliu.audio.highpass import HighPass
from yuliu.audio.limiter import Limiter
from yuliu.audio.loudness import Levelling
from yuliu.audio.stretch import MAX_SEMITONES, MAX_SPEED, MIN_SPEED, Stretch
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


@dataclass(frozen=True, slots=True)
class ChainOptions:
    """Which parts are wanted. Nothing is changed by default."""

    denoise: bool = False
    """Takes noise away (RNNoise, the extra ``denoise``): for recordings."""
    highpass: bool = False
    """Takes away what lies below a voice."""
    level: bool = False
    """Brings sentences slowly to one loudness."""
    compression: Compression | None = None
    """Makes loud and soft parts more alike."""
    speed: float = 1.0
    """Pace of sound whose model has none of its own, 0.25 to 4."""
    pitch_semitones: float = 0.0
    """Higher or lower, -12 to 12. Formants move, too."""
    volume_db: float = 0.0
    """Louder or softer, -60 to 20 dB."""
    limit: bool | None = None
    """Keeps true peaks below -1 dB of full scale. None: where a part that is wanted may make peaks higher."""

    def check(self) -> None:
        """Refuse values that cannot be served.

        Raises:
            InvalidRequest: ``speed``, ``pitch_semitones``, ``volume_db`` or ``compression`` is out of its range.
        """
        _check("speed", self.speed, MIN_SPEED, MAX_SPEED)
        _check("pitch_semitones", self.pitch_semitones, -MAX_SEMITONES, MAX_SEMITONES)
        _check("volume_db", self.volume_db, MIN_VOLUME_DB, MAX_VOLUME_DB)
        if (compression := self.compression) is not None:
            _check("compression", compression.threshold_db, -60.0, 0.0)
            _check("compression", compression.ratio, 1.0, 20.0)
            _check("compression", compression.attack_s, 0.0001, 2.0)
            _check("compression", compression.release_s, 0.0001, 9.0)
            _check("compression", compression.makeup_db, 0.0, 36.0)

    @property
    def stretches(self) -> bool:
        """Whether pace or pitch is changed."""
        return self.speed != 1.0 or self.pitch_semitones != 0.0

    @property
    def limits(self) -> bool:
        """Whether there is a limiter. Filters and stretching move peaks, too, not only gains."""
        if self.limit is not None:
            return self.limit
        moved = self.denoise or self.highpass or self.stretches
        return moved or self.level or self.compression is not None or self.volume_db > 0


class Chain:
    """The parts that are wanted, in a row.

    Args:
        sample_rate: Hz, 8000 to 48000.
        options: Which parts.

    Raises:
        InvalidRequest: A value is out of its range, or the extra ``denoise`` is wanted and not installed.
    """

    def __init__(self, sample_rate: int, options: ChainOptions) -> None:
        options.check()
        self._effects = _effects(sample_rate, options)
        self.lag_s = _lag_s(self._effects, options.speed)
        """Most that is held back, seconds of what is pushed."""

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
        """The rest: what each part held back goes through those behind it. Nothing is pushed afterwards."""
        rest = np.zeros(0, np.float32)
        for effect in self._effects:
            rest = np.concatenate((effect.push(rest), effect.flush()))
        return rest


def _effects(sample_rate: int, options: ChainOptions) -> list[Effect]:
    effects: list[Effect] = []
    if options.denoise:
        effects.append(Denoiser(sample_rate))
    if options.highpass:
        effects.append(HighPass(sample_rate))
    if options.level:
        effects.append(Levelling(sample_rate))
    if options.compression is not None:
        effects.append(Compressor(sample_rate, options.compression))
    if options.stretches:
        effects.append(Stretch(sample_rate, options.speed, options.pitch_semitones))
    if options.volume_db:
        effects.append(Volume(options.volume_db))
    if options.limits:
        effects.append(Limiter(sample_rate))
    return effects


def _lag_s(effects: list[Effect], speed: float) -> float:
    """What is held back behind a change of pace is as many seconds of the input as it stands for."""
    lag_s, pace = 0.0, 1.0
    for effect in effects:
        lag_s += effect.lag_s * pace
        pace *= speed if isinstance(effect, Stretch) else 1.0
    return lag_s


def _check(param: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidRequest(f"{param} must be from {low:g} to {high:g}, not {value:g}", param=param)
