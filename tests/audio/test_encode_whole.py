"""Tests of complete bodies, whose headers state their length."""

from __future__ import annotations

import io
import wave

import av
import numpy as np
import pytest

from yuliu.audio.encode import whole
from yuliu.audio.formats import FORMATS, FormatName, choose_encoding

RATE = 24_000
NUM_SAMPLES = 30_001


def body(name: str, num_samples: int = NUM_SAMPLES, num_channels: int = 1) -> bytes:
    samples = (0.3 * np.sin(2 * np.pi * 300 * np.arange(num_samples) / RATE)).astype(np.float32)
    return whole(samples, choose_encoding(name, RATE, num_channels=num_channels), RATE)


@pytest.mark.parametrize("num_channels", [1, 2])
def test_wav_has_true_sizes(num_channels: int) -> None:
    """The standard library reads the file, and both sizes are right."""
    sound = body("wav", num_channels=num_channels)
    with wave.open(io.BytesIO(sound)) as reader:
        assert (reader.getnframes(), reader.getnchannels()) == (NUM_SAMPLES, num_channels)
    assert int.from_bytes(sound[4:8], "little") == len(sound) - 8


@pytest.mark.parametrize("num_channels", [1, 2])
def test_flac_states_its_number_of_samples_and_checksum(num_channels: int) -> None:
    """Both are in STREAMINFO (RFC 9639, 8.2), which some readers require."""
    info = body("flac", num_channels=num_channels)[8 : 8 + 34]
    assert int.from_bytes(info[13:18], "big") & 0xF_FFFF_FFFF == NUM_SAMPLES
    assert any(info[18:34])


def test_mp3_has_a_xing_header() -> None:
    """Players know the length and skip the silence that the codec adds."""
    sound = body("mp3")
    assert b"Info" in sound[:64] or b"Xing" in sound[:64]
    with av.open(io.BytesIO(sound), "r") as container:
        assert sum(int(frame.samples) for frame in container.decode(audio=0)) == NUM_SAMPLES


@pytest.mark.parametrize("name", ["mp4", "webm", "flac", "wav", "mp3"])
@pytest.mark.parametrize("num_samples", [300, 480, NUM_SAMPLES, 40 * RATE])
def test_the_length_is_known_before_playback(name: FormatName, num_samples: int) -> None:
    """The stated length is right to a frame of the codec."""
    with av.open(io.BytesIO(body(name, num_samples)), "r") as container:
        assert container.duration is not None
        assert container.duration / av.time_base == pytest.approx(num_samples / RATE, abs=0.025)


def test_mp4_has_its_header_before_the_audio() -> None:
    """A browser can start playback without requesting the end first."""
    sound = body("mp4", 40 * RATE)
    assert sound.index(b"moov") < sound.index(b"mdat")


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_audio_gives_the_same_body(name: FormatName) -> None:
    """Bodies contain no time and no random numbers, so they can be cached and compared."""
    assert body(name) == body(name)
