"""Output formats: names, media types, sample rates and bit rates. The encoders are in :mod:`yuliu.audio.encode`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

MIN_RATE, MAX_RATE = 8_000, 48_000
"""Lowest and highest supported sample rate, in Hz."""

FormatName = Literal["mp3", "opus", "aac", "flac", "wav", "pcm", "webm", "mp4", "mulaw", "alaw"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)

_OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
_MPEG_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)


@dataclass(frozen=True, slots=True)
class SoundFormat:
    """Properties of an output format."""

    media_type: str
    """Value of ``Content-Type``."""
    suffix: str
    """Suffix of file names, with its dot."""
    sample_rates: tuple[int, ...] = ()
    """Sample rates of the format, in Hz, ascending; empty if it carries any."""
    kbps: tuple[int, int] | None = None
    """Lowest and highest bit rate, in kilobits per second; None for a lossless format."""
    max_num_channels: int = 2


SOUND_FORMATS: Mapping[FormatName, SoundFormat] = {
    "mp3": SoundFormat("audio/mpeg", ".mp3", _MPEG_RATES, (16, 320)),
    "opus": SoundFormat("audio/ogg; codecs=opus", ".opus", _OPUS_RATES, (8, 256)),
    "aac": SoundFormat("audio/aac", ".aac", _MPEG_RATES, (16, 256)),
    "flac": SoundFormat("audio/flac", ".flac"),
    "wav": SoundFormat("audio/wav", ".wav"),
    "pcm": SoundFormat("audio/pcm", ".pcm"),
    "webm": SoundFormat("audio/webm; codecs=opus", ".webm", _OPUS_RATES, (8, 256)),
    "mp4": SoundFormat("audio/mp4; codecs=opus", ".mp4", _OPUS_RATES, (8, 256)),
    "mulaw": SoundFormat("audio/basic", ".ulaw", (8_000,), max_num_channels=1),
    "alaw": SoundFormat("audio/x-alaw-basic", ".alaw", (8_000,), max_num_channels=1),
}


@dataclass(frozen=True, slots=True)
class Encoding:
    """Format of one response with its parameters, made by :func:`choose_encoding`."""

    name: FormatName
    sample_rate: int
    """Sample rate in the format, in Hz. (Decoders of Opus always return 48 kHz.)"""
    num_channels: int = 1
    """1, or 2 with the same samples in both channels."""
    kbps: int | None = None
    """Bit rate, in kilobits per second; None for a lossless format."""

    @property
    def media_type(self) -> str:
        """Value of ``Content-Type``."""
        return SOUND_FORMATS[self.name].media_type

    @property
    def suffix(self) -> str:
        """Suffix of file names, with its dot."""
        return SOUND_FORMATS[self.name].suffix


def choose_encoding(
    name: str, source_rate: int, *, sample_rate: int | None = None, num_channels: int = 1, kbps: int | None = None
) -> Encoding:
    """Return the encoding for the requested parameters.

    Args:
        name: One of :data:`FORMATS`.
        source_rate: Sample rate of the voice, in Hz.
        sample_rate: In Hz; None takes the rate of the voice, or the next higher rate of the format.
        num_channels: 1 or 2.
        kbps: Bit rate, in kilobits per second; None takes one at which speech sounds clean.

    Raises:
        InvalidRequest: The format is unknown or does not support a parameter; ``param`` names the argument.
    """
    if name not in FORMATS:
        raise InvalidRequest(f"no such format; there are {', '.join(FORMATS)}", param="name")
    sound_format = SOUND_FORMATS[name]
    if not 1 <= num_channels <= sound_format.max_num_channels:
        raise InvalidRequest(f"{name} can have at most {sound_format.max_num_channels} channels", param="num_channels")
    rate = _nearest_rate(sound_format, source_rate) if sample_rate is None else _checked_rate(name, sample_rate)
    return Encoding(name, rate, num_channels, _bit_rate(name, rate, num_channels, kbps))


def _nearest_rate(sound_format: SoundFormat, source_rate: int) -> int:
    rates = sound_format.sample_rates or (source_rate,)
    return next((rate for rate in rates if rate >= source_rate), rates[-1])


def _checked_rate(name: FormatName, sample_rate: int) -> int:
    rates = SOUND_FORMATS[name].sample_rates
    if sample_rate not in rates if rates else not MIN_RATE <= sample_rate <= MAX_RATE:
        served = ", ".join(map(str, rates)) or f"{MIN_RATE} to {MAX_RATE}"
        raise InvalidRequest(f"{name} can have a sample rate of {served} Hz", param="sample_rate")
    return sample_rate


def _bit_rate(name: FormatName, sample_rate: int, num_channels: int, kbps: int | None) -> int | None:
    limits = SOUND_FORMATS[name].kbps
    if limits is None:
        if kbps is not None:
            raise InvalidRequest(f"{name} has no bit rate to choose", param="kbps")
        return None
    if kbps is None:
        return _clean_kbps(name, sample_rate) * (3 if num_channels == 2 else 2) // 2
    lowest, highest = limits[0], _highest_kbps(name, sample_rate)
    if not lowest <= kbps <= highest:
        raise InvalidRequest(f"{name} at {sample_rate} Hz can have {lowest} to {highest} kbps", param="kbps")
    return kbps


def _clean_kbps(name: FormatName, sample_rate: int) -> int:
    if name in ("mp3", "aac"):
        return 32 if sample_rate < 16_000 else 64 if sample_rate < 32_000 else 96
    return 48


def _highest_kbps(name: FormatName, sample_rate: int) -> int:
    """Return the highest bit rate, which in MPEG depends on the sample rate.

    MP3 follows the tables of ISO 11172-3 and 13818-3; AAC has at most 6144 bits per 1024 samples.
    """
    if name == "mp3":
        return 64 if sample_rate < 16_000 else 160 if sample_rate < 32_000 else 320
    if name == "aac":
        return min(256, sample_rate * 6 // 1000)
    return 256
