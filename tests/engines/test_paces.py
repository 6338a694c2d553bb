"""The real voices at every pace: speed and loudness as requested."""

from __future__ import annotations

import numpy as np
import pyloudnorm
import pytest

import yuliu
from yuliu.stream import StreamOptions
from yuliu.types import MAX_SPEED, MIN_SPEED, SpeakOptions

pytestmark = pytest.mark.voices
TEXTS = {
    "baker": "我们把客服系统的语音播报换了一遍，大家都说听起来自然多了。",
    "heart": "We replaced the voice of our help desk, and everybody says that it sounds more natural now.",
}


@pytest.mark.parametrize("voice", TEXTS)
def test_the_pace_is_as_requested(voice: str) -> None:
    """The model alone stops getting faster, or gets softer: FastSpeech2 by 18 dB at four times its pace."""
    with yuliu.open(voice) as synthesizer:
        meter = pyloudnorm.Meter(synthesizer.sample_rate)
        found = {}
        for speed in (1.0, MIN_SPEED, 0.75, 1.5, 2.0, 3.0, MAX_SPEED):
            audio = synthesizer.speak(TEXTS[voice], options=StreamOptions(speak=SpeakOptions(speed=speed)))
            found[speed] = audio.duration_s, meter.integrated_loudness(audio.samples.astype(np.float64))
    length_s, loudness_lufs = found[1.0]
    for speed, (spoken_s, spoken_lufs) in found.items():
        assert length_s / spoken_s == pytest.approx(speed, rel=0.1)
        assert spoken_lufs == pytest.approx(loudness_lufs, abs=1.5)


@pytest.mark.parametrize("voice", TEXTS)
def test_timings_lie_within_the_audio_at_every_pace(voice: str) -> None:
    with yuliu.open(voice) as synthesizer:
        for speed in (MIN_SPEED, 1.0, 2.0, MAX_SPEED):
            audio = synthesizer.speak(TEXTS[voice], options=StreamOptions(speak=SpeakOptions(speed=speed)))
            starts_s = [timing.start_s for timing in audio.timings]
            assert starts_s == sorted(starts_s)
            assert 0.7 * audio.duration_s < audio.timings[-1].end_s <= audio.duration_s
