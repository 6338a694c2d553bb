"""Decoding of encoded audio with PyAV."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import av
import numpy as np

if TYPE_CHECKING:
    from yuliu.audio.formats import Encoding
    from yuliu.types import Samples

RAW = {"pcm": "s16le", "mulaw": "mulaw", "alaw": "alaw", "aac": "aac"}
"""FFmpeg names of the formats that cannot be recognised by their content."""


def decoded(sound: bytes, encoding: Encoding, sample_rate: int | None = None) -> Samples:
    """Return all channels of a body or of its beginning, float32, shape (num_channels, num_samples).

    The result is empty if nothing can be decoded yet.
    """
    resampler = av.AudioResampler(format="fltp", rate=sample_rate or encoding.sample_rate)
    try:
        with av.open(io.BytesIO(sound), "r", format=RAW.get(encoding.name), options=_options(encoding)) as container:
            frames = list(container.decode(audio=0))
    except av.FFmpegError:
        frames = []
    pieces = [piece.to_ndarray() for frame in [*frames, None] for piece in resampler.resample(frame)]
    return np.concatenate(pieces, axis=1) if pieces else np.zeros((encoding.num_channels, 0), np.float32)


def _options(encoding: Encoding) -> dict[str, str]:
    if encoding.name not in ("pcm", "mulaw", "alaw"):
        return {}
    layout = "mono" if encoding.num_channels == 1 else "stereo"
    return {"sample_rate": str(encoding.sample_rate), "ch_layout": layout}
