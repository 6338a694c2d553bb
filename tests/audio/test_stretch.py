"""Tests of the change of pace and pitch."""

from __future__ import annotations

import numpy as np
import pytest
from effects import RATE, babble, level_db, most_held_s, same_however_cut, through, tone
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.stretch import Stretch


def pitch_hz(samples: np.ndarray, sample_rate: int = RATE) -> float:
    """Return the frequency of the loudest partial, at a fraction of a bin."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 8 * len(samples)))
    return float(np.argmax(spectrum)) * sample_rate / (8 * len(samples))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 12_000),
    st.lists(st.integers(0, 12_000), max_size=12),
    st.sampled_from([1.0, 0.25, 0.8, 1.25, 1.9, 4.0]) | st.floats(0.25, 4.0),
    st.sampled_from([0.0, 2.0, -2.0, 12.0, -12.0]) | st.floats(-12.0, 12.0),
    st.sampled_from([8_000, 22_050, 24_000, 48_000]),
)
def test_any_cut_gives_the_same_samples_and_the_right_length(
    num_samples: int, cuts: list[int], speed: float, semitones: float, sample_rate: int
) -> None:
    """Audio shorter than one window of the filter is covered too."""
    samples = babble(num_samples)
    assert same_however_cut(lambda: Stretch(sample_rate, speed, semitones), samples, cuts)
    assert len(through(Stretch(sample_rate, speed, semitones), samples, cuts)) == round(num_samples / speed)


SOUNDS = {
    "square": np.sign(tone(130)) * np.float32(0.4),
    "tone": tone(300),
    "offset": np.full(RATE, 0.5, np.float32),
    "rumble": np.cumsum(babble(RATE)) * np.float32(0.1),
}
"""Signals that are loud from their first sample and repeat after milliseconds; noise would hide faults."""


@pytest.mark.parametrize("name", list(SOUNDS))
@pytest.mark.parametrize("cuts", [[7], [0, 1, 1, 2, 7, 500, 501], range(1, 2000, 13), range(240, RATE, 240)])
@pytest.mark.parametrize(("speed", "semitones"), [(1.0, 12.0), (1.0, -2.0), (0.5, 0.0), (0.3, 0.0), (2.0, 0.0)])
def test_audio_without_leading_silence_is_exact_for_any_cuts(
    name: str, cuts: list[int], speed: float, semitones: float
) -> None:
    assert same_however_cut(lambda: Stretch(RATE, speed, semitones), SOUNDS[name], cuts)


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.25, 2.0, 3.0])
def test_a_change_of_pace_keeps_pitch_and_loudness(speed: float) -> None:
    samples = tone(220, duration_s=2.0)
    heard = through(Stretch(RATE, speed), samples)[RATE // 5 : -RATE // 5]
    assert pitch_hz(heard) == pytest.approx(220, abs=1.0)
    assert level_db(heard) == pytest.approx(level_db(samples), abs=0.5)


def test_pace_and_pitch_that_cancel_need_no_stretching() -> None:
    """Twice the pace and an octave up is a change of the sample rate alone."""
    samples = tone(330, duration_s=1.0)
    heard = through(Stretch(RATE, 2.0, 12.0), samples, [777])
    assert len(heard) == len(samples) // 2
    assert pitch_hz(heard) == pytest.approx(660, rel=0.003)


@pytest.mark.parametrize("semitones", [-12.0, -2.0, 0.5, 2.0, 12.0])
def test_a_change_of_pitch_keeps_the_length(semitones: float) -> None:
    samples = tone(330, duration_s=2.0)
    heard = through(Stretch(RATE, pitch_semitones=semitones), samples)
    assert len(heard) == len(samples)
    assert pitch_hz(heard[RATE // 5 : -RATE // 5]) == pytest.approx(330 * 2 ** (semitones / 12), rel=0.003)


@pytest.mark.parametrize(
    ("speed", "semitones"), [(0.5, 0.0), (0.8, 0.0), (1.25, 0.0), (2.0, 0.0), (1.0, 2.0), (1.0, -2.0)]
)
def test_words_keep_their_positions(speed: float, semitones: float) -> None:
    """Bursts begin on time or earlier by less than a window (43 ms of the source), so the times of words can be
    divided by the speed.
    """
    samples = np.zeros(4 * RATE, np.float32)
    starts = [RATE // 2, 3 * RATE // 2, 5 * RATE // 2, 7 * RATE // 2]
    for start in starts:
        samples[start : start + RATE // 4] = babble(RATE // 4, level=0.4)
    heard = np.abs(through(Stretch(RATE, speed, semitones), samples))
    for start in starts:
        place = round(start / speed)
        before, after = round(0.25 / speed * RATE), round(0.2 / speed * RATE)
        first = place - before + int(np.argmax(heard[place - before : place + after] > 0.05))
        assert -1024 / speed <= first - place <= 0.005 * RATE


def test_the_end_is_kept() -> None:
    """A burst at the end of the input is at the end of the output."""
    samples = np.concatenate((np.zeros(RATE, np.float32), babble(RATE // 4, level=0.4)))
    for speed in (0.5, 0.8, 1.25, 2.0):
        heard = through(Stretch(RATE, speed), samples)
        assert level_db(heard[-round(RATE / 10 / speed) :]) > level_db(samples[-RATE // 10 :]) - 6


@pytest.mark.parametrize("sample_rate", [8_000, 22_050, 24_000, 48_000])
@pytest.mark.parametrize("speed", [0.25, 0.8, 1.0, 1.75, 2.0, 4.0])
@pytest.mark.parametrize("semitones", [-12.0, -2.0, 0.0, 2.0, 12.0])
@pytest.mark.parametrize("piece_s", [0.001, 0.04, 0.25, 0.9])
def test_no_more_than_the_stated_lag_is_held_back(
    sample_rate: int, speed: float, semitones: float, piece_s: float
) -> None:
    """The bound holds for pushes of any size."""
    samples = babble(2 * sample_rate)
    stretch = Stretch(sample_rate, speed, semitones)
    held_s = most_held_s(stretch, samples, speed=speed, sample_rate=sample_rate, piece_s=piece_s)
    assert held_s <= stretch.lag_s + 0.001


def test_without_a_change_the_samples_stay_the_same() -> None:
    samples = babble(5000)
    assert np.array_equal(through(Stretch(RATE), samples, [100]), samples)
    assert Stretch(RATE).lag_s == 0.0


@pytest.mark.parametrize(("speed", "semitones"), [(0.2, 0.0), (4.1, 0.0), (1.0, 12.5), (1.0, float("nan"))])
def test_values_out_of_range_are_rejected(speed: float, semitones: float) -> None:
    with pytest.raises(ValueError, match=r"speed|semitones"):
        Stretch(RATE, speed, semitones)
