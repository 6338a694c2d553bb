"""Signal processing of hibari: the same samples as its own code, for any blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hibari import dsp
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.engines.hibari.dsp import HOP, LAG_FRAMES, NUM_BINS, Carry, NoiseTable, render

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from yuliu.engines.hibari.dsp import Floats


@dataclass(frozen=True)
class Case:
    """Random spectra of a plausible level, with voiced and unvoiced stretches."""

    spectra: Floats
    noise: Floats
    f0: Floats


def make_case(seed: int, num_frames: int) -> Case:
    draw = np.random.default_rng(seed)
    spectra = draw.standard_normal((num_frames, 5 * NUM_BINS)).astype(np.float32)
    voiced = draw.random(num_frames // 5 + 1).repeat(5)[:num_frames] < 0.6
    f0 = np.where(voiced, draw.uniform(80, 400, num_frames), 0.0).astype(np.float32)
    return Case(spectra, NoiseTable(4096).frames(seed, 0, num_frames), f0)


def in_blocks(case: Case, ends: list[int]) -> list[Floats]:
    carry, blocks = Carry(), []
    for end in ends:
        taken = slice(carry.num_frames, end)
        samples, carry = render(case.spectra[taken], case.noise[taken], case.f0, carry)
        blocks.append(samples)
    return blocks


class FixedNoise:
    """Replaces numpy's generator in hibari's own code: returns the noise of a case."""

    def __init__(self, noise: Floats) -> None:
        self.noise = noise

    def standard_normal(self, shape: tuple[int, int], dtype: type) -> Floats:
        complex_noise = (self.noise[:, 0] + 1j * self.noise[:, 1]).T.astype(np.complex64)
        return np.ascontiguousarray(complex_noise).view(np.float32).reshape(shape).astype(dtype)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 99), num_frames=st.integers(3, 60))
def test_samples_equal_those_of_the_original_code(seed: int, num_frames: int) -> None:
    """Given the same noise, a whole utterance equals the output of the package to float precision."""
    case = make_case(seed, num_frames)
    lh, theta, ln, lr, phi = case.spectra.T.copy().reshape(5, NUM_BINS, num_frames)
    theirs: NDArray[np.float32] = dsp.synth(lh, theta, ln, lr, phi, case.f0, FixedNoise(case.noise))
    (ours,) = in_blocks(case, [num_frames])
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, atol=2e-5 * np.abs(theirs).max())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 99), cuts=st.sets(st.integers(2, 39), max_size=8))
def test_blocks_join_without_a_seam(seed: int, cuts: set[int]) -> None:
    """Any blocks give the samples of one block, to the precision of the carried phase."""
    case = make_case(seed, 40)
    (whole,) = in_blocks(case, [40])
    joined = np.concatenate(in_blocks(case, [*sorted(cuts), 40]))
    np.testing.assert_allclose(joined, whole, atol=2e-5 * np.abs(whole).max())


@settings(max_examples=10, deadline=None)
@given(cuts=st.sets(st.integers(2, 39), max_size=8))
def test_samples_lag_two_frames(cuts: set[int]) -> None:
    """Each block completes all samples except those of its last two frames; the last block completes all."""
    ends = [*sorted(cuts), 40]
    lengths = np.cumsum([len(block) for block in in_blocks(make_case(1, 40), ends)])
    expected = [(end - LAG_FRAMES) * HOP for end in ends[:-1]] + [40 * HOP]
    assert lengths.tolist() == expected


def test_noise_depends_only_on_seed_and_frame() -> None:
    """The same seed and first frame give the same noise, others give other noise, of about unit variance."""
    table = NoiseTable(1 << 16)
    noise = table.frames(7, 96, 48)
    assert np.array_equal(noise, NoiseTable(1 << 16).frames(7, 96, 48))
    assert not np.array_equal(noise, table.frames(8, 96, 48))
    assert not np.array_equal(noise, table.frames(7, 144, 48))
    assert noise.shape == (48, 2, NUM_BINS)
    assert noise.std() == pytest.approx(1.0, abs=0.02)


def test_noise_accepts_any_seed() -> None:
    """Negative and very large seeds work as well."""
    table = NoiseTable(4096)
    assert not np.array_equal(table.frames(-1, 0, 3), table.frames(1 << 63, 0, 3))
