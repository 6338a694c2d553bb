"""Tests of the chain of effects."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from effects import RATE, babble, most_held_s, same_however_cut, through, tone
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.chain import Chain, Effects, lag_s
from yuliu.audio.compressor import Compression
from yuliu.audio.gain import bend
from yuliu.audio.limiter import CEILING_DB, Limiter
from yuliu.audio.stretch import Stretch
from yuliu.errors import InvalidRequest

ALL = Effects(highpass=True, compression=Compression(), pitch_semitones=-1.0, volume_db=6.0)

SPEEDS = st.sampled_from([1.0, 0.8, 1.5])
EFFECTS = st.builds(
    Effects,
    highpass=st.booleans(),
    level=st.booleans(),
    compression=st.sampled_from([None, Compression(), Compression(makeup_db=12.0)]),
    pitch_semitones=st.sampled_from([0.0, 2.0]),
    volume_db=st.sampled_from([0.0, -6.0, 12.0]),
    limit=st.sampled_from([None, False, True]),
)


@settings(deadline=None, max_examples=60)
@given(EFFECTS, SPEEDS, st.integers(0, 12_000), st.lists(st.integers(0, 12_000), max_size=10))
def test_any_cut_gives_the_same_samples_and_the_right_length(
    chosen: Effects, speed: float, num_samples: int, cuts: list[int]
) -> None:
    """The chain is exact with any effects on."""
    samples = babble(num_samples, level=0.4)
    assert same_however_cut(lambda: Chain(RATE, chosen, speed), samples, cuts)
    assert len(through(Chain(RATE, chosen, speed), samples, cuts)) == round(num_samples / speed)


@settings(deadline=None, max_examples=40)
@given(EFFECTS, SPEEDS, st.integers(0, 20_000))
def test_output_is_never_clipped(chosen: Effects, speed: float, num_samples: int) -> None:
    """Peaks stay below the ceiling where they may rise, and below full scale where the limiter is off."""
    samples = babble(num_samples, level=0.25).clip(-0.89, 0.89)
    most = float(np.abs(through(Chain(RATE, chosen, speed), samples)).max(initial=0.0))
    assert most < 1.0
    if chosen.limit is not False:
        assert most <= 10 ** (CEILING_DB / 20) * (1 + 1e-6)


def test_the_default_chain_changes_nothing() -> None:
    chain = Chain(RATE, Effects())
    samples = babble(1000)
    assert chain.is_empty
    assert chain.lag_s == 0
    assert chain.push(samples) is samples
    assert len(chain.flush()) == 0


@pytest.mark.parametrize(
    ("chosen", "limits"),
    [
        (Effects(), False),
        (Effects(volume_db=-6.0), False),
        (Effects(volume_db=3.0), True),
        (Effects(volume_db=3.0, limit=False), False),
        (Effects(limit=True), True),
        (Effects(level=True), True),
        (Effects(highpass=True), True),
        (Effects(pitch_semitones=1.0), True),
    ],
)
def test_a_limiter_is_used_if_peaks_may_rise(chosen: Effects, limits: bool) -> None:
    loud = tone(1000, level=0.99)
    held_down = bool(np.abs(through(Chain(RATE, chosen), loud)).max() <= 10 ** (CEILING_DB / 20) * (1 + 1e-6))
    assert chosen.limits() is limits
    assert held_down is (limits or chosen.volume_db < 0)


def test_without_the_limiter_peaks_are_bent() -> None:
    """Each sample is bent on its own."""
    loud = tone(1000, level=0.99)
    heard = through(Chain(RATE, Effects(volume_db=6.0, limit=False)), loud)
    assert np.array_equal(heard, bend(loud * np.float32(10 ** (6 / 20))))


@pytest.mark.parametrize(
    ("chosen", "speed"), [(ALL, 1.25), (Effects(limit=True), 1.0), (Effects(), 2.0), (Effects(level=True), 1.0)]
)
def test_the_lag_is_the_sum_of_its_effects(chosen: Effects, speed: float) -> None:
    """The lag counts in seconds of input, and ``lag_s`` states it without making a chain."""
    chain = Chain(RATE, chosen, speed)
    stretch = Stretch(RATE, speed, chosen.pitch_semitones)
    assert chain.lag_s == lag_s(RATE, chosen, speed) == pytest.approx(stretch.lag_s + Limiter(RATE).lag_s * speed)
    assert most_held_s(chain, babble(2 * RATE), speed=speed) <= chain.lag_s + 0.001


@pytest.mark.parametrize(
    "chosen", [Effects(highpass=True, limit=False), Effects(compression=Compression(), limit=False, volume_db=-3.0)]
)
def test_without_lag_each_push_returns_as_many_samples(chosen: Effects) -> None:
    chain = Chain(RATE, chosen)
    assert chain.lag_s == 0
    assert [len(chain.push(babble(size))) for size in (1, 7, 500)] == [1, 7, 500]
    assert len(chain.flush()) == 0


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"pitch_semitones": -13.0}, "pitch_semitones"),
        ({"volume_db": 21.0}, "volume_db"),
        ({"volume_db": float("nan")}, "volume_db"),
        ({"compression": Compression(ratio=0.5)}, "effects.compress"),
        ({"compression": Compression(threshold_db=1.0)}, "effects.compress"),
    ],
)
def test_values_out_of_range_are_rejected_by_name(wrong: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Effects(**wrong)
    assert refused.value.param == param


@pytest.mark.parametrize(
    "limit",
    [
        {"threshold_db": -60.0},
        {"threshold_db": 0.0},
        {"ratio": 20.0},
        {"attack_s": 0.0001},
        {"attack_s": 2.0},
        {"release_s": 0.0001},
        {"release_s": 9.0},
        {"makeup_db": 36.0},
    ],
)
def test_the_limits_of_all_ranges_are_accepted(limit: dict[str, float]) -> None:
    assert len(through(Chain(RATE, Effects(compression=Compression(**limit))), babble(1000))) == 1000


def test_importing_the_chain_does_not_load_pyav() -> None:
    """PyAV is loaded by the first chain that needs a filter."""
    code = "import sys, yuliu.audio.chain; sys.exit('av' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
