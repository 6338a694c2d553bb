"""Tests of noise suppression; most need the extra ``denoise``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest
from effects import RATE, babble, level_db, most_held_s, same_however_cut, through
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio import denoise
from yuliu.audio.chain import Chain, Effects
from yuliu.audio.denoise import Denoiser, require_denoise
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

needs_rnnoise = pytest.mark.skipif(find_spec("pyrnnoise") is None, reason="needs the extra denoise")


@pytest.fixture
def without_rnnoise(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide the installed library."""
    monkeypatch.setattr(denoise, "_PATH", None)
    denoise._library.cache_clear()
    yield
    denoise._library.cache_clear()


@pytest.mark.usefixtures("without_rnnoise")
def test_without_the_extra_the_error_names_the_package_to_install() -> None:
    with pytest.raises(InvalidRequest, match=r"pip install 'yuliu\[denoise\]'"):
        Chain(RATE, Effects(denoise=True))
    with pytest.raises(InvalidRequest) as caught:
        require_denoise()
    assert caught.value.param == "effects.denoise"


@needs_rnnoise
@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 12_000),
    st.lists(st.integers(0, 12_000), max_size=8),
    st.sampled_from([8_000, 22_050, 24_000, 48_000]),
)
def test_any_cut_gives_the_same_samples_and_the_right_length(
    num_samples: int, cuts: list[int], sample_rate: int
) -> None:
    samples = babble(num_samples)
    assert same_however_cut(lambda: Denoiser(sample_rate), samples, cuts)
    assert len(through(Denoiser(sample_rate), samples, cuts)) == num_samples


@needs_rnnoise
def test_steady_noise_is_suppressed() -> None:
    noise = (np.random.default_rng(2).standard_normal(3 * RATE) * 0.02).astype(np.float32)
    assert level_db(through(Denoiser(RATE), noise)[RATE:]) < level_db(noise) - 15


@needs_rnnoise
def test_speech_keeps_its_position() -> None:
    """A harmonic sound like a vowel, in silence, begins and ends where it did, to 10 ms."""
    angle = 2 * np.pi * 150 * np.arange(RATE) / RATE
    vowel = sum(np.sin(n * angle) / n for n in range(1, 12)) * 0.1
    samples = np.zeros(3 * RATE, np.float32)
    samples[RATE : 2 * RATE] = vowel
    heard = through(Denoiser(RATE), samples)
    lags = range(-RATE // 20, RATE // 20)
    alike = [float(heard[RATE : 2 * RATE] @ samples[RATE + lag : 2 * RATE + lag]) for lag in lags]
    assert abs(lags[int(np.argmax(alike))]) <= 2


@needs_rnnoise
@pytest.mark.parametrize("sample_rate", [8_000, 24_000, 48_000])
def test_no_more_than_the_stated_lag_is_held_back(sample_rate: int) -> None:
    held_s = most_held_s(Denoiser(sample_rate), babble(sample_rate), sample_rate=sample_rate)
    assert held_s <= Denoiser.lag_s + 0.001
