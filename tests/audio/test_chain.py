"""The parts in a row."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from effects import RATE, babble, level_db, most_held_s, same_however_cut, through, tone
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.chain import Chain, ChainOptions
from yuliu.audio.compressor import Compression
from yuliu.audio.limiter import CEILING_DB, Limiter
from yuliu.audio.stretch import Stretch
from yuliu.errors import InvalidRequest

ALL = ChainOptions(
    highpass=True, level=True, compression=Compression(), speed=1.25, pitch_semitones=-1.0, volume_db=6.0
)

options = st.builds(
    ChainOptions,
    highpass=st.booleans(),
    level=st.booleans(),
    compression=st.sampled_from([None, Compression(), Compression(makeup_db=12.0)]),
    speed=st.sampled_from([1.0, 0.8, 1.5]),
    pitch_semitones=st.sampled_from([0.0, 2.0]),
    volume_db=st.sampled_from([0.0, -6.0, 12.0]),
    limit=st.sampled_from([None, False, True]),
)


@settings(deadline=None, max_examples=60)
@given(options, st.integers(0, 12_000), st.lists(st.integers(0, 12_000), max_size=10))
def test_any_cut_gives_the_same_samples_and_the_right_length(
    chosen: ChainOptions, num_samples: int, cuts: list[int]
) -> None:
    """Whatever is on."""
    samples = babble(num_samples, level=0.4)
    assert same_however_cut(lambda: Chain(RATE, chosen), samples, cuts)
    assert len(through(Chain(RATE, chosen), samples, cuts)) == round(num_samples / chosen.speed)


@settings(deadline=None, max_examples=40)
@given(options, st.integers(0, 20_000))
def test_nothing_is_above_the_ceiling_where_peaks_may_rise(chosen: ChainOptions, num_samples: int) -> None:
    """Unless the limiter is refused."""
    samples = babble(num_samples, level=0.25).clip(-0.89, 0.89)
    if chosen.limit is not False:
        assert np.abs(through(Chain(RATE, chosen), samples)).max(initial=0.0) <= 10 ** (CEILING_DB / 20) * (1 + 1e-6)


def test_by_default_nothing_is_done() -> None:
    chain = Chain(RATE, ChainOptions())
    samples = babble(1000)
    assert chain.is_empty
    assert chain.lag_s == 0
    assert chain.push(samples) is samples
    assert len(chain.flush()) == 0


@pytest.mark.parametrize(
    ("chosen", "limits"),
    [
        (ChainOptions(), False),
        (ChainOptions(volume_db=-6.0), False),
        (ChainOptions(volume_db=3.0), True),
        (ChainOptions(volume_db=3.0, limit=False), False),
        (ChainOptions(limit=True), True),
        (ChainOptions(level=True), True),
        (ChainOptions(highpass=True), True),
        (ChainOptions(pitch_semitones=1.0), True),
    ],
)
def test_the_limiter_is_there_where_peaks_may_rise(chosen: ChainOptions, limits: bool) -> None:
    loud = tone(1000, level=0.99)
    held_down = bool(np.abs(through(Chain(RATE, chosen), loud)).max() <= 10 ** (CEILING_DB / 20) * (1 + 1e-6))
    assert chosen.limits is limits
    assert held_down is (limits or chosen.volume_db < 0)


@pytest.mark.parametrize("chosen", [ALL, ChainOptions(limit=True), ChainOptions(speed=2.0, limit=True)])
def test_the_lag_is_what_it_says(chosen: ChainOptions) -> None:
    """And the sum of its parts, each in seconds of what comes in."""
    chain = Chain(RATE, chosen)
    stretch = Stretch(RATE, chosen.speed, chosen.pitch_semitones)
    assert chain.lag_s == pytest.approx(stretch.lag_s + Limiter(RATE).lag_s * chosen.speed)
    assert most_held_s(chain, babble(2 * RATE), speed=chosen.speed) <= chain.lag_s + 0.001


def test_volume_comes_after_levelling() -> None:
    """What the user wants louder is not made softer again."""
    samples = babble(6 * RATE, level=0.02)
    plain = through(Chain(RATE, ChainOptions(level=True)), samples)
    louder = through(Chain(RATE, ChainOptions(level=True, volume_db=6.0)), samples)
    assert level_db(louder) - level_db(plain) == pytest.approx(6.0, abs=0.2)


@pytest.mark.parametrize(
    ("chosen", "param"),
    [
        (ChainOptions(speed=5.0), "speed"),
        (ChainOptions(pitch_semitones=-13.0), "pitch_semitones"),
        (ChainOptions(volume_db=21.0), "volume_db"),
        (ChainOptions(volume_db=float("nan")), "volume_db"),
        (ChainOptions(compression=Compression(ratio=0.5)), "compression"),
        (ChainOptions(compression=Compression(threshold_db=1.0)), "compression"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(chosen: ChainOptions, param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Chain(RATE, chosen)
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
def test_the_ends_of_all_ranges_are_served(limit: dict[str, float]) -> None:
    assert len(through(Chain(RATE, ChainOptions(compression=Compression(**limit))), babble(1000))) == 1000


def test_importing_it_does_not_load_the_filters() -> None:
    """They are loaded when a chain is made that needs them."""
    code = "import sys, yuliu.audio.chain; sys.exit('av' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
