"""Tests of the resampler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.pcm import to_s16le
from yuliu.audio.resample import Resampler, resampler_lag_s

if TYPE_CHECKING:
    from yuliu.types import Samples

RATES = [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]


def noise(num_samples: int) -> Samples:
    return (np.random.default_rng(5).standard_normal(num_samples) * 0.2).astype(np.float32)


def tone(frequency_hz: float, sample_rate: int, *, duration_s: float = 0.5) -> Samples:
    angle = 2 * np.pi * frequency_hz * np.arange(round(duration_s * sample_rate)) / sample_rate
    return (0.5 * np.sin(angle)).astype(np.float32)


def resampled(samples: Samples, source_rate: int, sample_rate: int, cuts: list[int] | None = None) -> Samples:
    resampler = Resampler(source_rate, sample_rate)
    pieces = np.split(samples, sorted(cuts or []))
    return np.concatenate([*(resampler.push(piece) for piece in pieces), resampler.flush()])


def level_db(samples: Samples) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(np.square(samples, dtype=np.float64))) + 1e-9))


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(RATES) | st.integers(8_000, 48_000),
    st.sampled_from(RATES) | st.integers(8_000, 48_000),
    st.integers(0, 3000),
    st.lists(st.integers(0, 3000), max_size=8),
)
def test_any_cut_gives_the_same_samples_and_the_right_length(
    source_rate: int, sample_rate: int, num_samples: int, cuts: list[int]
) -> None:
    """Output is exact at common and odd rates, and nothing is lost at the ends of short audio."""
    samples = noise(num_samples)
    whole = resampled(samples, source_rate, sample_rate)
    assert np.array_equal(resampled(samples, source_rate, sample_rate, [min(cut, num_samples) for cut in cuts]), whole)
    assert abs(len(whole) - num_samples * sample_rate / source_rate) <= 0.5


@pytest.mark.parametrize("sample_rate", [8_000, 11_025, 16_000, 22_050])
def test_frequencies_above_the_lower_rate_are_removed(sample_rate: int) -> None:
    """A tone just above half the new rate leaves no alias; a tone below it keeps its level."""
    above = resampled(tone(0.53 * sample_rate, 24_000), 24_000, sample_rate)[500:-500]
    below = resampled(tone(0.43 * sample_rate, 24_000), 24_000, sample_rate)[500:-500]
    assert level_db(above) < -90
    assert level_db(below) == pytest.approx(level_db(tone(1000, 24_000)), abs=0.1)


@pytest.mark.parametrize("sample_rate", [32_000, 44_100, 48_000])
def test_a_higher_rate_adds_no_image(sample_rate: int) -> None:
    """A tone near the top of the old band has no mirror above it."""
    louder = resampled(tone(11_000, 24_000), 24_000, sample_rate)[1000:-1000]
    spectrum = np.abs(np.fft.rfft(louder * np.blackman(len(louder))))
    frequencies = np.fft.rfftfreq(len(louder), 1 / sample_rate)
    assert 20 * np.log10(spectrum[frequencies > 12_500].max() / spectrum.max()) < -90


@pytest.mark.parametrize("source_rate", RATES)
@pytest.mark.parametrize("sample_rate", RATES)
def test_audio_keeps_its_position(source_rate: int, sample_rate: int) -> None:
    """A pulse keeps its time, to a sample of the lower rate."""
    samples = np.zeros(source_rate // 5, np.float32)
    samples[source_rate // 10] = 1.0
    place_s = float(np.argmax(resampled(samples, source_rate, sample_rate))) / sample_rate
    assert place_s == pytest.approx(0.1, abs=1 / min(source_rate, sample_rate))


@pytest.mark.parametrize("source_rate", RATES)
@pytest.mark.parametrize("sample_rate", RATES)
def test_at_most_nine_milliseconds_are_held_back(source_rate: int, sample_rate: int) -> None:
    """Output follows the input closely from the first 20 ms on, and ``resampler_lag_s`` states the bound."""
    resampler, num_out = Resampler(source_rate, sample_rate), 0
    for i, piece in enumerate(np.array_split(noise(source_rate // 5), 10), 1):
        num_out += len(resampler.push(piece))
        assert i * 0.02 - num_out / sample_rate < 0.009
        assert i * 0.02 - num_out / sample_rate <= resampler_lag_s(source_rate, sample_rate)


def test_overshoots_are_clipped_not_wrapped() -> None:
    """A square wave at full scale exceeds the range between its samples; as PCM it keeps its sign."""
    square = np.sign(tone(100, 24_000)).astype(np.float32)
    louder = resampled(square, 24_000, 48_000)
    assert np.abs(louder).max() > 1.0
    pcm = np.frombuffer(to_s16le(louder), "<i2").astype(np.float32)
    assert np.abs(pcm / 32767 - np.clip(louder, -1, 1)).max() < 1e-4


@pytest.mark.parametrize("rates", [(24_000, 31_999), (24_001, 8_000), (8_000, 47_999)])
def test_odd_rates_are_as_clean(rates: tuple[int, int]) -> None:
    """With interpolated filters a tone still has no distortion."""
    made = resampled(tone(1000, rates[0]), *rates)[1000:-1000]
    spectrum = np.abs(np.fft.rfft(made * np.blackman(len(made))))
    frequencies = np.fft.rfftfreq(len(made), 1 / rates[1])
    assert 20 * np.log10(spectrum[np.abs(frequencies - 1000) > 30].max() / spectrum.max()) < -80


def test_equal_rates_change_nothing() -> None:
    """The same samples are returned at once."""
    samples = noise(100)
    resampler = Resampler(24_000, 24_000)
    assert np.array_equal(resampler.push(samples), samples)
    assert not len(resampler.flush())


@pytest.mark.parametrize("rates", [(7_999, 24_000), (24_000, 48_001)])
def test_rates_out_of_range_are_refused(rates: tuple[int, int]) -> None:
    """The error states the supported range."""
    with pytest.raises(ValueError, match="8000 to 48000"):
        Resampler(*rates)
