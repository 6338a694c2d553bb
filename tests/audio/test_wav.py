"""Tests of WAV headers."""

from __future__ import annotations

import io
import wave

import pytest

from yuliu.audio.wav import HEADER_NUM_BYTES, wav_header
from yuliu.types import AudioFormat


def test_the_standard_library_reads_a_header_with_sizes() -> None:
    """Rate, channels and length are right."""
    file = io.BytesIO(wav_header(AudioFormat(24_000), 480) + bytes(480))
    with wave.open(file) as reader:
        assert (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) == (24_000, 1, 2)
        assert reader.getnframes() == 240


def test_a_stream_of_unknown_length_can_be_read_to_its_end() -> None:
    """The header of a stream does not limit its length."""
    pcm = bytes(range(200))
    with wave.open(io.BytesIO(wav_header(AudioFormat(8_000)) + pcm)) as reader:
        assert reader.readframes(10_000) == pcm


def test_the_header_has_its_stated_length_for_stereo_too() -> None:
    """The header is 44 bytes for any number of channels."""
    header = wav_header(AudioFormat(48_000, num_channels=2), 0)
    assert len(header) == HEADER_NUM_BYTES
    with wave.open(io.BytesIO(header)) as reader:
        assert reader.getnchannels() == 2


def test_data_too_long_for_a_wav_file_is_rejected() -> None:
    """A size beyond 32 bits is an error, not a wrapped number."""
    with pytest.raises(ValueError, match="several files"):
        wav_header(AudioFormat(24_000), 2**32)
