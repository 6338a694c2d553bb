"""Tests of the high-pass filter."""

from __future__ import annotations

import numpy as np
import pytest
from effects import RATE, babble, level_db, most_held_s, same_however_cut, through, tone
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.highpass import HighPass


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 4000), st.lists(st.integers(0, 4000), max_size=12), st.sampled_from([8_000, 22_050, 24_000]))
def test_any_cut_gives_the_same_samples(num_samples: int, cuts: list[int], sample_rate: int) -> None:
    samples = babble(num_samples)
    assert same_however_cut(lambda: HighPass(sample_rate), samples, cuts)
    assert len(through(HighPass(sample_rate), samples, cuts)) == num_samples


def test_an_offset_is_removed_and_the_voice_stays() -> None:
    """A constant decays; tones from 120 Hz stay within half a decibel."""
    assert np.abs(through(HighPass(RATE), np.full(RATE, 0.5, np.float32))[RATE // 2 :]).max() < 1e-4
    for frequency_hz in (120, 1000, 8000):
        heard = through(HighPass(RATE), tone(frequency_hz))[RATE // 4 :]
        assert level_db(heard) == pytest.approx(level_db(tone(frequency_hz)), abs=0.5)


@pytest.mark.parametrize(("frequency_hz", "lost_db"), [(60, 3.0), (30, 12.3), (15, 24.1)])
def test_the_slope_is_twelve_decibels_per_octave(frequency_hz: float, lost_db: float) -> None:
    """As a Butterworth filter of second order does: 10 log10(1 + (60 / f)**4)."""
    samples = tone(frequency_hz, duration_s=2.0)
    heard = through(HighPass(RATE), samples)
    assert level_db(samples[RATE:]) - level_db(heard[RATE:]) == pytest.approx(lost_db, abs=0.2)


def test_the_filter_holds_nothing_back() -> None:
    assert most_held_s(HighPass(RATE), babble(RATE)) == HighPass.lag_s == 0
