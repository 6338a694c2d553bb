"""Louder and softer."""

from __future__ import annotations

import numpy as np
import pytest
from effects import babble, level_db, same_however_cut, through

from yuliu.audio.gain import Volume, amplify


@pytest.mark.parametrize("gain_db", [-20.0, -6.0, 12.0])
def test_volume_is_a_gain_and_nothing_else(gain_db: float) -> None:
    """It does not clip: that is for a limiter behind it."""
    samples = babble(5000, level=0.3)
    heard = through(Volume(gain_db), samples, [10, 500])
    assert level_db(heard) - level_db(samples) == pytest.approx(gain_db, abs=0.001)
    assert same_however_cut(lambda: Volume(gain_db), samples, [1, 7, 900])
    assert np.abs(through(Volume(12.0), samples)).max() > 1.0


def test_amplify_clips() -> None:
    samples = babble(5000, level=0.3)
    assert np.abs(amplify(samples, 12.0)).max() == 1.0
    assert amplify(samples, 0.0) is samples
