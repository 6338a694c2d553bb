"""Listening tests of joints: none is audible with real voices, random cuts and every format; planted faults are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from decoded import decoded
from seams import Seams, seams

import yuliu
from yuliu.audio.encode import Encoder
from yuliu.audio.formats import FORMATS, FormatName, choose_encoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Samples

pytestmark = pytest.mark.voices

TEXTS = {
    "heart": "The quick brown fox jumps over the lazy dog, and it will rain at half past three this afternoon.",
    "baker": "今天天气很好，我们一起去公园散步吧。明天上午九点，会议在三楼举行，请大家准时参加。",
}
CUT_S = (0.02, 0.2)
BLUR_S = 0.002
DELAY_S = {"mp3": 0.046, "aac": 0.0427}
"""Delay that the codec adds at 24 kHz."""
LOSSY = [name for name in FORMATS if name not in ("wav", "pcm", "flac")]

Pieces = list["Samples"]


@pytest.fixture(scope="module", params=sorted(TEXTS))
def speech(request: pytest.FixtureRequest) -> tuple[Samples, int]:
    with yuliu.open(request.param) as synthesizer:
        audio = synthesizer.speak(TEXTS[request.param])
        return audio.samples, audio.sample_rate


def cut(samples: Samples, sample_rate: int, seed: int) -> Pieces:
    shortest, longest = (round(size_s * sample_rate) for size_s in CUT_S)
    places = np.cumsum(np.random.default_rng(seed).integers(shortest, longest, size=1000))
    return list(np.split(samples, places[places < len(samples)]))


def judge(pieces: Pieces, sample_rate: int, name: FormatName | None = None) -> Seams:
    """Judge the joints of pieces, directly or after encoding and decoding."""
    joints = np.cumsum([len(piece) for piece in pieces])[:-1]
    if name is None:
        return seams(np.concatenate(pieces), sample_rate, joints)
    encoding = choose_encoding(name, sample_rate)
    with Encoder(encoding, sample_rate) as encoder:
        sound = b"".join([*(encoder.write(piece) for piece in pieces), encoder.finish()])
    samples = decoded(sound, encoding, sample_rate)[0]
    delay = round(DELAY_S.get(name, 0.0) * sample_rate)
    return seams(samples, sample_rate, joints + delay, blur_s=BLUR_S if name in LOSSY else 0.0)


def without_40_samples(pieces: Pieces, where: Sequence[int]) -> Pieces:
    return [piece[40:] if i in where else piece for i, piece in enumerate(pieces)]


def softer(pieces: Pieces, where: Sequence[int], gain_db: float) -> Pieces:
    gain = np.float32(10 ** (gain_db / 20))
    return [piece * gain if i in where else piece for i, piece in enumerate(pieces)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FORMATS)
def test_joints_are_inaudible(speech: tuple[Samples, int], name: FormatName, seed: int) -> None:
    """Joints do not stand out in any format for any cuts."""
    found = judge(cut(*speech, seed), speech[1], name)
    assert found.num_judged > 30
    assert not found.heard, found


@pytest.mark.parametrize("name", FORMATS)
def test_40_samples_lost_at_joints_are_audible(speech: tuple[Samples, int], name: FormatName) -> None:
    """A loss of 1.7 ms at every joint is detected in any format."""
    pieces = cut(*speech, seed=1)
    assert judge(without_40_samples(pieces, range(1, len(pieces))), speech[1], name).jump_sigmas > 4


@pytest.mark.parametrize("name", FORMATS)
def test_steps_of_the_gain_are_audible(speech: tuple[Samples, int], name: FormatName) -> None:
    """6 dB, up and down in turn, through any format."""
    pieces = cut(*speech, seed=1)
    assert judge(softer(pieces, range(1, len(pieces), 2), -6), speech[1], name).break_sigmas > 4


def test_small_steps_are_heard_in_samples(speech: tuple[Samples, int]) -> None:
    """3 dB, where no codec smears them."""
    pieces = cut(*speech, seed=2)
    assert judge(softer(pieces, range(1, len(pieces), 2), -3), speech[1]).heard


def test_a_single_loss_is_often_detected_in_samples(speech: tuple[Samples, int]) -> None:
    """At least one loss in three is found among fifty joints; a loss between two glottal pulses makes no jump."""
    pieces = cut(*speech, seed=3)
    loud = [i for i, piece in enumerate(pieces[1:], 1) if np.sqrt(np.mean(piece[:400] ** 2)) > 0.05]
    found = [judge(without_40_samples(pieces, [place]), speech[1]).heard for place in loud[:12]]
    assert len(found) == 12
    assert np.mean(found) > 0.3
