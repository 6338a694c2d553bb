"""Tests of the compressor."""

from __future__ import annotations

import numpy as np
import pytest
from effects import RATE, babble, level_db, most_held_s, same_however_cut, through, tone
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.compressor import Compression, Compressor


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 6000), st.lists(st.integers(0, 6000), max_size=12))
def test_any_cut_gives_the_same_samples(num_samples: int, cuts: list[int]) -> None:
    samples = babble(num_samples, level=0.4)
    assert same_however_cut(lambda: Compressor(RATE), samples, cuts)
    assert len(through(Compressor(RATE), samples, cuts)) == num_samples


@pytest.mark.parametrize("ratio", [2.0, 4.0])
def test_levels_above_the_threshold_shrink_by_the_ratio(ratio: float) -> None:
    """Two steady tones 10 dB apart above the threshold end 10 / ratio apart; below it nothing changes."""
    compression = Compression(threshold_db=-30.0, ratio=ratio)
    levels = []
    for level in (0.1, 0.1 * 10**0.5):
        heard = through(Compressor(RATE, compression), tone(500, level=level))
        levels.append(level_db(heard[RATE // 2 :]))
    assert levels[1] - levels[0] == pytest.approx(10 / ratio, abs=0.3)
    soft = tone(500, level=0.003)
    assert np.allclose(through(Compressor(RATE, compression), soft), soft, atol=1e-6)


def test_makeup_is_a_gain_on_all_of_the_output() -> None:
    soft = tone(500, level=0.003)
    heard = through(Compressor(RATE, Compression(makeup_db=6.0)), soft)
    assert level_db(heard) - level_db(soft) == pytest.approx(6.0, abs=0.1)


def test_the_compressor_holds_nothing_back() -> None:
    assert most_held_s(Compressor(RATE), babble(RATE)) == Compressor.lag_s == 0
