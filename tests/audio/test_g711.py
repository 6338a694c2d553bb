"""Tests of G.711."""

from __future__ import annotations

import io
from typing import cast

import av
import numpy as np
import pytest

from yuliu.audio.g711 import Law, decoded, to_g711

LAWS: list[Law] = ["mulaw", "alaw"]
EVERY_VALUE = np.arange(-0x8000, 0x8000).astype(np.int16)


def heard(codes: bytes, law: Law) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the values to which FFmpeg decodes the codes."""
    with av.open(io.BytesIO(codes), "r", format=law) as container:
        frames = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
    return cast("np.ndarray[tuple[int], np.dtype[np.int32]]", np.concatenate(frames).astype(np.int32))


@pytest.mark.parametrize("law", LAWS)
def test_codes_decode_as_in_ffmpeg(law: Law) -> None:
    """All 256 codes have the values that FFmpeg gives them."""
    assert np.array_equal(decoded(law), heard(bytes(range(256)), law))


@pytest.mark.parametrize("law", LAWS)
def test_every_value_gets_its_nearest_code(law: Law) -> None:
    """No other code is nearer to any of the 65,536 values."""
    errors = np.abs(heard(to_g711(EVERY_VALUE, law), law) - EVERY_VALUE)
    values = np.sort(decoded(law))
    above = np.searchsorted(values, EVERY_VALUE).clip(0, 255)
    nearest = np.minimum(np.abs(values[above] - EVERY_VALUE), np.abs(values[(above - 1).clip(0)] - EVERY_VALUE))
    assert np.array_equal(errors, nearest)


@pytest.mark.parametrize("law", LAWS)
def test_the_error_is_no_larger_than_that_of_ffmpeg(law: Law) -> None:
    """Codes differ in a few places, where both are valid; the total error is not larger."""
    file = io.BytesIO()
    with av.open(file, "w", format=law) as container:
        stream = cast("av.AudioStream", container.add_stream(f"pcm_{law}", rate=8_000, layout="mono"))
        frame = av.AudioFrame.from_ndarray(EVERY_VALUE[np.newaxis], format="s16", layout="mono")
        frame.sample_rate = 8_000
        container.mux([*stream.encode(frame), *stream.encode(None)])
    theirs, ours = heard(file.getvalue(), law), heard(to_g711(EVERY_VALUE, law), law)
    assert np.square(ours - EVERY_VALUE).sum() <= np.square(theirs - EVERY_VALUE).sum()
    assert np.mean(ours != theirs) < 0.02
