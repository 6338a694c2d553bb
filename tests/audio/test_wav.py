"""WAV headers."""

from __future__ import annotations

import io
import wave

import pytest

from yuliu.audio.wav import HEADER_NUM_BYTES, wav_header
from yuliu.types import AudioFormat


def test_header_with_size_is_read_by_the_standard_library() -> None:
    """A file with true sizes has the right rate, channels and length."""
    file = io.BytesIO(wav_header(AudioFormat(24_000), 480) + bytes(480))
    with wave.open(file) as reader:
        assert (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) == (24_000, 1, 2)
        assert reader.getnframes() == 240


def test_open_ended_header_lets_all_samples_be_read() -> None:
    """A stream of unknown length is read to its end."""
    pcm = bytes(range(200))
    with wave.open(io.BytesIO(wav_header(AudioFormat(8_000)) + pcm)) as reader:
        assert reader.readframes(10_000) == pcm


def test_header_has_its_stated_length_and_stereo_is_told() -> None:
    """The header is 44 bytes for any number of channels."""
    header = wav_header(AudioFormat(48_000, num_channels=2), 0)
    assert len(header) == HEADER_NUM_BYTES
    with wave.open(io.BytesIO(header)) as reader:
        assert reader.getnchannels() == 2


def test_too_long_for_a_wav_file_is_refused() -> None:
    """Sizes beyond 32 bits are an error, not a wrapped number."""
    with pytest.raises(ValueError, match="several files"):
        wav_header(AudioFormat(24_000), 2**32)
