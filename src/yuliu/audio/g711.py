"""G.711, telephone audio with 8 bits per sample, by tables built from the definition of the two laws (ITU-T G.711)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from yuliu.audio.pcm import Pcm

Law = Literal["mulaw", "alaw"]

_MULAW_BIAS = 0x84


def to_g711(pcm: Pcm, law: Law) -> bytes:
    """Return one byte per sample: the code whose decoded value is nearest."""
    codes: bytes = _codes(law)[pcm.astype(np.int32) + 0x8000].tobytes()
    return codes


@cache
def decoded(law: Law) -> NDArray[np.int32]:
    """Return the 16-bit value of each of the 256 codes."""
    codes = np.arange(256)
    return _mulaw_values(codes) if law == "mulaw" else _alaw_values(codes)


def _mulaw_values(codes: NDArray[np.int_]) -> NDArray[np.int32]:
    inverted = ~codes & 0xFF
    exponent, mantissa = inverted >> 4 & 7, inverted & 15
    magnitude = ((mantissa * 8 + _MULAW_BIAS) << exponent) - _MULAW_BIAS
    return np.where(inverted & 0x80, -magnitude, magnitude).astype(np.int32)


def _alaw_values(codes: NDArray[np.int_]) -> NDArray[np.int32]:
    toggled = codes ^ 0x55
    exponent, mantissa = toggled >> 4 & 7, toggled & 15
    step = mantissa * 16 + 8
    magnitude = np.where(exponent == 0, step, (step + 0x100) << np.maximum(exponent - 1, 0))
    return np.where(toggled & 0x80, magnitude, -magnitude).astype(np.int32)


@cache
def _codes(law: Law) -> NDArray[np.uint8]:
    """Return the code of each 16-bit value, from -32768 up."""
    values = decoded(law)
    order = np.argsort(values, kind="stable")
    borders = (values[order][1:] + values[order][:-1]) / 2
    return order[np.searchsorted(borders, np.arange(-0x8000, 0x8000))].astype(np.uint8)
