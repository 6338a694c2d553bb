"""Pace and pitch."""

from __future__ import annotations

import numpy as np
import pytest
from effects import RATE, babble, level_db, most_held_s, same_however_cut, through, tone
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.stretch import Stretch


def pitch_hz(samples: np.ndarray, sample_rate: int = RATE) -> float:
    """Frequency of the loudest partial, between bins."""
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
    """Also of sound that is shorter than one piece of the filter."""
    samples = babble(num_samples)
    assert same_however_cut(lambda: Stretch(sample_rate, speed, semitones), samples, cuts)
    assert len(through(Stretch(sample_rate, speed, semitones), samples, cuts)) == round(num_samples / speed)


SOUNDS = {
    "square": np.sign(tone(130)) * np.float32(0.4),
    "tone": tone(300),
    "offset": np.full(RATE, 0.5, np.float32),
    "rumble": np.cumsum(babble(RATE)) * np.float32(0.1),
}
"""Loud from their first sample on, and like themselves some milliseconds later: noise hides much."""


@pytest.mark.parametrize("name", list(SOUNDS))
@pytest.mark.parametrize("cuts", [[7], [0, 1, 1, 2, 7, 500, 501], range(1, 2000, 13), range(240, RATE, 240)])
@pytest.mark.parametrize(("speed", "semitones"), [(1.0, 12.0), (1.0, -2.0), (0.5, 0.0), (0.3, 0.0), (2.0, 0.0)])
def test_sound_that_begins_at_once_is_the_same_however_cut(
    name: str, cuts: list[int], speed: float, semitones: float
) -> None:
    assert same_however_cut(lambda: Stretch(RATE, speed, semitones), SOUNDS[name], cuts)


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.25, 2.0, 3.0])
def test_pace_leaves_pitch_and_loudness(speed: float) -> None:
    samples = tone(220, duration_s=2.0)
    heard = through(Stretch(RATE, speed), samples)[RATE // 5 : -RATE // 5]
    assert pitch_hz(heard) == pytest.approx(220, abs=1.0)
    assert level_db(heard) == pytest.approx(level_db(samples), abs=0.5)


@pytest.mark.parametrize("semitones", [-12.0, -2.0, 0.5, 2.0, 12.0])
def test_pitch_moves_by_semitones_and_length_stays(semitones: float) -> None:
    samples = tone(330, duration_s=2.0)
    heard = through(Stretch(RATE, pitch_semitones=semitones), samples)
    assert len(heard) == len(samples)
    assert pitch_hz(heard[RATE // 5 : -RATE // 5]) == pytest.approx(330 * 2 ** (semitones / 12), rel=0.003)


@pytest.mark.parametrize(
    ("speed", "semitones"), [(0.5, 0.0), (0.8, 0.0), (1.25, 0.0), (2.0, 0.0), (1.0, 2.0), (1.0, -2.0)]
)
def test_words_stay_in_their_places(speed: float, semitones: float) -> None:
    """Bursts begin where they should or earlier by less than a piece of the filter (43 ms of the source): times
    of words can be divided by the speed."""
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


def test_the_end_is_not_lost() -> None:
    """A burst that is the last of the sound is the last of what comes out."""
    samples = np.concatenate((np.zeros(RATE, np.float32), babble(RATE // 4, level=0.4)))
    for speed in (0.5, 0.8, 1.25, 2.0):
        heard = through(Stretch(RATE, speed), samples)
        assert level_db(heard[-round(RATE / 10 / speed) :]) > level_db(samples[-RATE // 10 :]) - 6


@pytest.mark.parametrize("sample_rate", [8_000, 22_050, 24_000, 48_000])
@pytest.mark.parametrize("speed", [0.25, 0.8, 1.0, 1.75, 2.0, 4.0])
@pytest.mark.parametrize("semitones", [-12.0, -2.0, 0.0, 2.0, 12.0])
@pytest.mark.parametrize("piece_s", [0.001, 0.04, 0.25, 0.9])
def test_no_more_is_held_back_than_it_says(sample_rate: int, speed: float, semitones: float, piece_s: float) -> None:
    """However much comes at once."""
    samples = babble(2 * sample_rate)
    stretch = Stretch(sample_rate, speed, semitones)
    held_s = most_held_s(stretch, samples, speed=speed, sample_rate=sample_rate, piece_s=piece_s)
    assert held_s <= stretch.lag_s + 0.001


def test_where_nothing_is_wanted_nothing_is_done() -> None:
    samples = babble(5000)
    assert np.array_equal(through(Stretch(RATE), samples, [100]), samples)
    assert Stretch(RATE).lag_s == 0.0


@pytest.mark.parametrize(("speed", "semitones"), [(0.2, 0.0), (4.1, 0.0), (1.0, 12.5), (1.0, float("nan"))])
def test_what_is_out_of_range_is_refused(speed: float, semitones: float) -> None:
    with pytest.raises(ValueError, match=r"speed|semitones"):
        Stretch(RATE, speed, semitones)
