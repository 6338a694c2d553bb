"""Tests of the limiter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from effects import RATE, babble, level_db, most_held_s, same_however_cut, through, tone, true_peak_db
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.limiter import CEILING_DB, LOOKAHEAD_S, Limiter
from yuliu.audio.pcm import to_s16
from yuliu.audio.resample import Resampler

if TYPE_CHECKING:
    from yuliu.types import Samples

CEILING = 10 ** (CEILING_DB / 20)


def hard_sounds() -> dict[str, Samples]:
    """Return signals far above full scale from their first sample."""
    square = np.sign(tone(441, level=4.0)) * np.float32(4.0)
    bursts = babble(RATE, level=2.0) * (np.arange(RATE) % 4000 < 30)
    return {
        "noise up to 10 kHz, +12 dB": through(Resampler(20_000, RATE), babble(RATE, level=0.25)) * np.float32(4.0),
        "square wave": square.astype(np.float32),
        "peaks between samples": (1.5 * np.sin(np.arange(RATE) * np.pi / 2 + np.pi / 4)).astype(np.float32),
        "a third of the rate": (3.0 * np.sin(np.arange(RATE) * 2 * np.pi / 3.001)).astype(np.float32),
        "bursts": bursts.astype(np.float32),
        "one sample": np.where(np.arange(RATE) == 100, 30.0, 0.0).astype(np.float32),
    }


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 6000),
    st.lists(st.integers(0, 6000), max_size=12),
    st.sampled_from([0.01, 0.3, 1.0, 8.0]),
    st.sampled_from([8_000, 24_000, 48_000]),
)
def test_any_cut_gives_the_same_samples_below_the_ceiling(
    num_samples: int, cuts: list[int], level: float, sample_rate: int
) -> None:
    samples = babble(num_samples, level=level)
    limited = through(Limiter(sample_rate), samples, cuts)
    assert same_however_cut(lambda: Limiter(sample_rate), samples, cuts)
    assert len(limited) == num_samples
    assert np.abs(limited).max(initial=0.0) <= CEILING * (1 + 1e-6)


@pytest.mark.parametrize("name", list(hard_sounds()))
def test_true_peaks_stay_below_full_scale(name: str) -> None:
    """Measured with a Fourier transform (8x) and a resampler (4x), both independent of the limiter's kernels."""
    limited = through(Limiter(RATE), hard_sounds()[name])
    assert np.abs(limited).max() <= CEILING * (1 + 1e-6)
    assert true_peak_db(limited) < CEILING_DB + 0.5
    fine = through(Resampler(12_000, 48_000), limited)
    assert 20 * np.log10(np.abs(fine).max()) < CEILING_DB + 0.3


def test_white_noise_exceeds_the_ceiling_only_slightly() -> None:
    """At the end of the spectrum, kernels of 32 samples slightly underestimate values between samples."""
    limited = through(Limiter(RATE), babble(RATE, level=1.0))
    assert np.abs(limited).max() <= CEILING * (1 + 1e-6)
    assert true_peak_db(limited) < CEILING_DB + 1.2


@pytest.mark.parametrize("name", list(hard_sounds()))
def test_pcm_is_neither_clipped_nor_wrapped(name: str) -> None:
    """Every sample keeps its sign and stays within the range."""
    samples = hard_sounds()[name]
    pcm = to_s16(through(Limiter(RATE), samples)).astype(np.int64)
    assert np.abs(pcm).max() < 32_767
    assert (pcm * np.sign(samples) >= 0).all()


def test_audio_below_the_ceiling_passes_unchanged() -> None:
    """True peaks just below the ceiling change no sample."""
    samples = tone(1000, level=CEILING * 0.99)
    assert np.array_equal(through(Limiter(RATE), samples), samples)


def test_the_gain_falls_before_a_peak_and_recovers_slowly() -> None:
    """The gain has no step: it falls over the lookahead and recovers over a longer time."""
    samples = tone(100, level=0.4)
    samples[RATE // 2] = 4.0
    gain = through(Limiter(RATE), samples) / np.where(np.abs(samples) > 1e-3, samples, np.nan)
    peak, ahead = RATE // 2, round(LOOKAHEAD_S * RATE)
    assert np.nanmin(gain[: peak - 2 * ahead]) == pytest.approx(1.0)
    assert gain[peak] == pytest.approx(CEILING / 4.0, abs=0.02)
    steps = np.diff(gain)
    assert np.nanmin(steps) > -1.05 / ahead
    assert 0.0 < np.nanmax(steps) < 0.001


def test_a_steady_loud_tone_stays_a_tone() -> None:
    """A tone 12 dB above the ceiling has distortion 40 dB below itself."""
    limited = through(Limiter(RATE), tone(400, level=4.0))[RATE // 2 :]
    spectrum = np.abs(np.fft.rfft(limited * np.blackman(len(limited))))
    frequencies = np.fft.rfftfreq(len(limited), 1 / RATE)
    assert 20 * np.log10(spectrum[np.abs(frequencies - 400) > 30].max() / spectrum.max()) < -40
    assert level_db(limited) > CEILING_DB - 3.01 - 1.0


@pytest.mark.parametrize("sample_rate", [8_000, 16_000, 24_000, 48_000])
def test_the_lag_is_as_stated_and_at_most_five_milliseconds(sample_rate: int) -> None:
    lag_s = Limiter(sample_rate).lag_s
    assert most_held_s(Limiter(sample_rate), babble(sample_rate), sample_rate=sample_rate) == pytest.approx(lag_s)
    assert lag_s <= 0.005


def test_the_ceiling_can_be_chosen() -> None:
    limited = through(Limiter(RATE, -6.0), tone(1000, level=2.0))
    assert 20 * np.log10(np.abs(limited).max()) == pytest.approx(-6.0, abs=0.1)
