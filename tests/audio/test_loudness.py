"""Tests of the loudness meter and of levelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyloudnorm
import pytest
from effects import RATE, babble, most_held_s, same_however_cut, through, tone
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.loudness import (
    HOP_S,
    MAX_CORRECTION_DB,
    MAX_SLOPE_DB_S,
    TARGET_LUFS,
    Levelling,
    Meter,
    weighting,
)

if TYPE_CHECKING:
    from yuliu.types import Samples


def lufs(samples: Samples) -> float:
    """Return the loudness by pyloudnorm, an independent implementation."""
    return float(pyloudnorm.Meter(RATE).integrated_loudness(samples.astype(np.float64)))


def sentence(loudness_lufs: float, *, seed: int = 0, duration_s: float = 2.5) -> Samples:
    """Return noise with the envelope of syllables at this loudness, and a pause."""
    samples = babble(round(duration_s * RATE), seed=seed)
    louder = samples * np.float32(10 ** ((loudness_lufs - lufs(samples)) / 20))
    return np.concatenate((louder, np.zeros(RATE // 4, np.float32)))


def levelled(loudnesses: list[float]) -> list[float]:
    """Return the loudness of each sentence after levelling them as one stream."""
    levelling = Levelling(RATE)
    return [lufs(levelling.push(sentence(lufs_, seed=seed))) for seed, lufs_ in enumerate(loudnesses)]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 20_000), st.lists(st.integers(0, 20_000), max_size=12), st.sampled_from([8_000, 22_050, 24_000]))
def test_any_cut_gives_the_same_samples(num_samples: int, cuts: list[int], sample_rate: int) -> None:
    samples = babble(num_samples, level=0.4)
    assert same_however_cut(lambda: Levelling(sample_rate), samples, cuts)
    assert len(through(Levelling(sample_rate), samples, cuts)) == num_samples


@pytest.mark.parametrize("frequency_hz", [100, 500, 997, 4000, 8000])
def test_the_meter_agrees_with_pyloudnorm(frequency_hz: float) -> None:
    """Steady tones have the LUFS of pyloudnorm, to 0.1 dB."""
    samples = tone(frequency_hz, duration_s=30.0, level=0.1)
    meter = Meter()
    for hop in np.split(weighting(RATE).push(samples), range(2400, len(samples), 2400)):
        meter.hear(float(np.mean(np.square(hop, dtype=np.float64))))
    assert meter.present_lufs == pytest.approx(lufs(samples), abs=0.1)
    assert meter.level_lufs == pytest.approx(lufs(samples), abs=1.0)


def test_pauses_do_not_count() -> None:
    meter = Meter()
    for power in [0.01] * 30 + [0.0] * 100:
        meter.hear(power)
    assert meter.present_lufs == pytest.approx(-20.7, abs=0.3)


@pytest.mark.parametrize("loudness_lufs", [TARGET_LUFS - 5, TARGET_LUFS + 5])
def test_a_voice_that_is_not_calibrated_comes_to_the_common_loudness(loudness_lufs: float) -> None:
    """From the second sentence on it is within 1 dB."""
    assert levelled([loudness_lufs] * 8)[2:] == pytest.approx([TARGET_LUFS] * 6, abs=1.0)


def test_sentences_of_a_calibrated_voice_differ_by_less_than_three_decibels() -> None:
    """Before levelling they are up to 4 dB apart, in random order."""
    loudnesses = TARGET_LUFS + np.random.default_rng(1).uniform(-2.0, 2.0, 20)
    assert np.ptp(loudnesses) > 3.4
    assert np.ptp(levelled(list(loudnesses))) < 3.0


def test_a_fading_stream_is_levelled() -> None:
    """A fall of 10 dB over twenty sentences is reduced to 3 dB."""
    assert np.ptp(levelled(list(TARGET_LUFS + np.linspace(5.0, -5.0, 20)))) < 3.0


def test_the_gain_is_bounded_and_moves_slowly() -> None:
    """Audio 20 dB too soft gains 6 dB in at least a second; silence changes nothing afterwards."""
    levelling = Levelling(RATE)
    samples = sentence(TARGET_LUFS - 20, duration_s=20.0)
    gains = [0.0]
    for hop in np.split(samples, range(2400, len(samples), 2400)):
        levelling.push(hop)
        gains.append(levelling.correction_db)
    assert gains[-1] == pytest.approx(MAX_CORRECTION_DB)
    assert np.abs(np.diff(gains)).max() <= MAX_SLOPE_DB_S * HOP_S + 1e-9
    levelling.push(np.zeros(5 * RATE, np.float32))
    assert levelling.correction_db == pytest.approx(gains[-1])


def test_the_gain_has_no_steps() -> None:
    """A constant input exposes the gain: neighbouring samples differ by no more than the slope allows."""
    levelling = Levelling(RATE)
    levelling.push(sentence(TARGET_LUFS + 8))
    gain = levelling.push(np.ones(RATE, np.float32))
    assert np.abs(np.diff(gain)).max() < 10 ** (MAX_SLOPE_DB_S / 20) / RATE


def test_levelling_holds_nothing_back() -> None:
    assert most_held_s(Levelling(RATE), babble(RATE)) == Levelling.lag_s == 0


def test_a_new_sentence_resets_the_present_level() -> None:
    """After a soft sentence the gain returns in the pause, so that the next one does not become loud."""
    after = {}
    for begins in (False, True):
        levelling = Levelling(RATE)
        for seed in range(4):
            levelling.push(sentence(TARGET_LUFS, seed=seed))
        levelling.push(sentence(TARGET_LUFS - 5, seed=4)[: -RATE // 4])
        if begins:
            levelling.begin()
        levelling.push(np.zeros(2 * RATE // 5, np.float32))
        after[begins] = lufs(levelling.push(sentence(TARGET_LUFS, seed=5, duration_s=1.5)))
    assert after[False] > after[True] + 0.5
    assert after[True] == pytest.approx(TARGET_LUFS, abs=1.0)
