"""Tests of gain and of the knee."""

from __future__ import annotations

import numpy as np
import pytest
from effects import babble, level_db, same_however_cut, through, tone
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.gain import KNEE_DB, Knee, Volume, bend, scaled


@pytest.mark.parametrize("gain_db", [-20.0, -6.0, 12.0])
def test_volume_only_applies_its_gain(gain_db: float) -> None:
    """Volume does not clip; a limiter follows it."""
    samples = babble(5000, level=0.3)
    heard = through(Volume(gain_db), samples, [10, 500])
    assert level_db(heard) - level_db(samples) == pytest.approx(gain_db, abs=0.001)
    assert same_however_cut(lambda: Volume(gain_db), samples, [1, 7, 900])
    assert np.abs(through(Volume(12.0), samples)).max() > 1.0


@given(st.lists(st.floats(-8, 8, width=32), max_size=60), st.integers(0, 60))
def test_samples_near_full_scale_are_bent(values: list[float], cut: int) -> None:
    """Samples below the knee stay unchanged; above it sign and order stay, and none is clipped."""
    samples = np.unique(np.array(values, np.float32))
    bent = bend(samples)
    assert np.array_equal(np.concatenate((bend(samples[:cut]), bend(samples[cut:]))), bent)
    is_below = np.abs(samples) <= np.float32(10 ** (KNEE_DB / 20))
    assert np.array_equal(bent[is_below], samples[is_below])
    assert (np.abs(bent) < 1.0).all()
    assert (np.abs(bent) <= np.abs(samples)).all()
    assert (np.sign(bent) == np.sign(samples)).all()
    assert (np.diff(bent) >= 0).all()


@pytest.mark.parametrize("level", [0.9, 1.0, 1.5, 3.0])
def test_a_bent_tone_keeps_its_crest(level: float) -> None:
    """The crest still rises where a clipped tone would be flat."""
    loud = tone(100, level=level, duration_s=0.1)
    crest = bend(loud)[40:60]  # its first quarter ends at sample 60
    assert (np.diff(crest) > 0).all()


def test_the_bend_has_no_corner() -> None:
    """Its slope is 1 at the knee and falls smoothly."""
    ramp = np.linspace(0.88, 1.2, 3201, dtype=np.float64).astype(np.float32)
    slope = np.diff(bend(ramp).astype(np.float64)) / np.diff(ramp.astype(np.float64))
    assert np.abs(np.diff(slope)).max() < 0.02
    assert slope[0] == pytest.approx(1.0)


def test_soft_samples_are_returned_unchanged() -> None:
    samples = babble(5000, level=0.1)
    assert bend(samples) is samples
    assert scaled(samples, 1.0) is samples
    assert np.array_equal(scaled(samples, 0.5), samples * np.float32(0.5))
    assert through(Knee(), samples, [7]).tolist() == samples.tolist()
    assert len(bend(samples[:0])) == 0
