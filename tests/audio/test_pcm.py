"""Tests of the conversion to 16-bit PCM."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.pcm import to_s16le


@given(st.lists(st.floats(-4, 4, width=32), max_size=50), st.integers(0, 50))
def test_pcm_is_chunk_exact_and_never_wraps(values: list[float], cut: int) -> None:
    """Any cut gives the same bytes, signs survive, and values beyond full scale are clipped."""
    samples = np.array(values, np.float32)
    pcm = np.frombuffer(to_s16le(samples), "<i2")
    assert to_s16le(samples[:cut]) + to_s16le(samples[cut:]) == pcm.tobytes()
    assert (np.sign(pcm) * np.sign(samples) >= 0).all()
    assert np.array_equal(pcm[np.abs(samples) >= 1], np.sign(samples[np.abs(samples) >= 1]) * 32767)


@given(st.integers(-32767, 32767))
def test_values_survive_a_round_trip(value: int) -> None:
    """A sample that is read from a WAV file is written back unchanged."""
    assert np.frombuffer(to_s16le(np.array([value / 32767], np.float32)), "<i2")[0] == value


def test_nan_is_silence_and_infinity_is_full_scale() -> None:
    """A fault elsewhere causes no noise at full scale."""
    samples = np.array([np.nan, np.inf, -np.inf, 0.5, 1e30], np.float32)
    assert np.frombuffer(to_s16le(samples), "<i2").tolist() == [0, 32767, -32767, 16384, 32767]
