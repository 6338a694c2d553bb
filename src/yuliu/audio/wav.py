"""WAV (RIFF, PCM s16le) headers: exact for files, open-ended for streams of unknown length."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.types import AudioFormat

BYTES_PER_SAMPLE = 2
HEADER_NUM_BYTES = 44
UNKNOWN_NUM_BYTES = 0xFFFF_FFFF
"""Size that streaming players (ffmpeg, browsers, Python's ``wave``) read as "until the stream ends"."""


def wav_header(audio_format: AudioFormat, data_num_bytes: int | None = None) -> bytes:
    """Return the 44 bytes that precede the samples.

    Args:
        audio_format: Sample rate and number of channels.
        data_num_bytes: Number of bytes of PCM that follow; None if unknown, as in a stream.

    Raises:
        ValueError: The data does not fit the 32-bit sizes of a WAV file.
    """
    if data_num_bytes is None:
        riff_num_bytes = data_num_bytes = UNKNOWN_NUM_BYTES
    else:
        riff_num_bytes = data_num_bytes + HEADER_NUM_BYTES - 8
        if riff_num_bytes > UNKNOWN_NUM_BYTES:
            raise ValueError(f"a WAV file holds at most 4 GiB, not {data_num_bytes} bytes; write several files")
    block = audio_format.num_channels * BYTES_PER_SAMPLE
    fmt = struct.pack(
        "<HHIIHH", 1, audio_format.num_channels, audio_format.sample_rate, audio_format.sample_rate * block, block, 16
    )
    return b"".join(
        (
            b"RIFF" + struct.pack("<I", riff_num_bytes) + b"WAVE",
            b"fmt " + struct.pack("<I", len(fmt)) + fmt,
            b"data" + struct.pack("<I", data_num_bytes),
        )
    )
