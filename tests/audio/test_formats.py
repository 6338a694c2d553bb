"""Tests of formats and the choice of an encoding."""

from __future__ import annotations

from typing import Any

import pytest

from yuliu.audio.formats import FORMATS, SOUND_FORMATS, Encoding, choose_encoding
from yuliu.errors import InvalidRequest


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("source_rate", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_every_format_supports_every_voice(name: str, source_rate: int) -> None:
    """The rate is the voice's if the format carries it, else the next higher one; G.711 has 8 kHz."""
    encoding = choose_encoding(name, source_rate)
    allowed = SOUND_FORMATS[encoding.name].sample_rates
    assert encoding.sample_rate == source_rate or source_rate not in allowed
    assert encoding.sample_rate >= source_rate or allowed == (8_000,)
    assert encoding.media_type.startswith("audio/")
    assert encoding.suffix.startswith(".")


def test_defaults_of_each_format() -> None:
    """Rates and bit rates for typical requests."""
    assert choose_encoding("mp3", 24_000) == Encoding("mp3", 24_000, 1, 64)
    assert choose_encoding("opus", 22_050, num_channels=2) == Encoding("opus", 24_000, 2, 72)
    assert choose_encoding("flac", 22_050) == Encoding("flac", 22_050, 1, None)
    assert choose_encoding("aac", 24_000, sample_rate=44_100, kbps=128) == Encoding("aac", 44_100, 1, 128)
    assert choose_encoding("opus", 24_000, kbps=256) == Encoding("opus", 24_000, 1, 256)
    assert choose_encoding("mulaw", 24_000) == Encoding("mulaw", 8_000, 1, None)


@pytest.mark.parametrize(
    ("name", "arguments", "param"),
    [
        ("mp4a", {}, "name"),
        ("opus", {"sample_rate": 22_050}, "sample_rate"),
        ("wav", {"sample_rate": 7_999}, "sample_rate"),
        ("wav", {"sample_rate": 48_001}, "sample_rate"),
        ("mulaw", {"sample_rate": 16_000}, "sample_rate"),
        ("mulaw", {"num_channels": 2}, "num_channels"),
        ("wav", {"num_channels": 3}, "num_channels"),
        ("wav", {"num_channels": 0}, "num_channels"),
        ("flac", {"kbps": 64}, "kbps"),
        ("mp3", {"kbps": 15}, "kbps"),
        ("mp3", {"kbps": 161}, "kbps"),
        ("aac", {"kbps": 145}, "kbps"),
        ("opus", {"kbps": 257}, "kbps"),
    ],
)
def test_unsupported_parameters_are_rejected(name: str, arguments: dict[str, Any], param: str) -> None:
    """The error names the argument at fault."""
    with pytest.raises(InvalidRequest) as caught:
        choose_encoding(name, 24_000, **arguments)
    assert caught.value.param == param
