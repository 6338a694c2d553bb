"""The voice and the options of an order."""

from __future__ import annotations

import math

import pytest

from yuliu.delivery import SpeakingQuery, VoiceQuery
from yuliu.delivery.order import resolve_voice, stream_options
from yuliu.errors import InvalidRequest, UnknownVoice
from yuliu.presets import presets
from yuliu.wire.openai import ALIASES, MODELS
from yuliu.wire.synthesis_options import SynthesisOptions

VOICES = ("baker", "heart")


def query(name: str | None, alternative: str | None = None) -> VoiceQuery:
    return VoiceQuery(name, ALIASES, alternative)


@pytest.mark.parametrize(
    ("model", "voice", "chosen"),
    [
        (None, None, "baker"),
        ("tts-1", None, "baker"),
        ("tts-1", "heart", "heart"),
        ("heart", None, "heart"),
        ("heart", "alloy", "heart"),
        ("heart", "baker", "baker"),
        ("heart", "heart", "heart"),
        *((model, "alloy", "baker") for model in MODELS),
        *((None, alias, "baker") for alias in sorted(ALIASES)),
    ],
)
def test_the_voice_is_chosen_by_voice_then_model(model: str | None, voice: str | None, chosen: str) -> None:
    """Clients name the voice in either field, or use one of OpenAI's names."""
    assert resolve_voice(query(voice, model), VOICES, "baker") == chosen


def test_a_loaded_voice_wins_over_an_alias_of_its_name() -> None:
    """A loaded voice that has one of OpenAI's names is found by it."""
    assert resolve_voice(query("echo"), ("baker", "echo"), "baker") == "echo"


def test_an_unknown_voice_is_refused_with_those_there_are() -> None:
    """A misspelt voice is an error, not another voice."""
    with pytest.raises(UnknownVoice, match="baker, heart") as caught:
        resolve_voice(query("hart"), VOICES, "baker")
    assert caught.value.param == "voice"


def test_a_complete_text_is_never_cut_for_a_late_writer() -> None:
    """Only a text that is still being written is flushed when its writer pauses."""
    assert stream_options(SpeakingQuery(is_complete=True), presets()).stall_s == math.inf
    assert stream_options(SpeakingQuery(), presets()).stall_s < 10


def test_options_are_those_of_the_query() -> None:
    """Speed and lexicons reach the stream; an unknown preset is refused by its field."""
    options = stream_options(SpeakingQuery(speed=2.0, lexicon=("names",)), presets())
    assert (options.speak.speed, options.lexicon) == (2.0, ("names",))
    with pytest.raises(InvalidRequest) as refused:
        stream_options(SpeakingQuery(manner=SynthesisOptions(preset="nothing")), presets())
    assert refused.value.param == "preset"
