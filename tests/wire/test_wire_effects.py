"""Parsing of the audio effects of a request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.chain import Effects
from yuliu.audio.compressor import Compression
from yuliu.errors import InvalidRequest
from yuliu.wire.effects import EFFECT_FIELDS, EFFECT_NAMES, effects_of, parse_effects
from yuliu.wire.native.body_codec import start_of_query
from yuliu.wire.native.decode import message_of
from yuliu.wire.native.messages import Config, Start
from yuliu.wire.openai import SpeechLimits, parse_speech
from yuliu.wire.synthesis_options import parse_synthesis_options

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*EFFECT_NAMES, "ratio", "attack_ms"]) | st.text(max_size=4), inner, max_size=4
        )
    ),
    max_leaves=8,
)


def test_absent_effects_change_nothing() -> None:
    assert parse_effects({}) == {}
    assert parse_effects({"volume_db": None, "pitch_semitones": None, "effects": None}) == {}
    assert parse_effects({"effects": {"level": None, "compress": None}}) == {}
    assert effects_of({"effects": {}}) == Effects()


def test_all_effects_are_read() -> None:
    said = {
        "volume_db": -3,
        "pitch_semitones": 1.5,
        "effects": {"level": True, "compress": True, "highpass": True, "denoise": True, "limit": False},
    }
    assert effects_of(said) == Effects(
        volume_db=-3.0,
        pitch_semitones=1.5,
        level=True,
        compression=Compression(),
        highpass=True,
        denoise=True,
        limit=False,
    )


def test_a_compressor_has_its_own_settings() -> None:
    compress = {"threshold_db": -30, "ratio": 4, "attack_ms": 2, "release_ms": 250, "makeup_db": 6}
    assert effects_of({"effects": {"compress": compress}}).compression == Compression(-30, 4, 0.002, 0.25, 6)
    assert effects_of({"effects": {"compress": {"ratio": 2}}}).compression == Compression(ratio=2)
    assert effects_of({"effects": {"compress": False}}).compression is None


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"volume_db": 21}, "volume_db"),
        ({"volume_db": "loud"}, "volume_db"),
        ({"volume_db": True}, "volume_db"),
        ({"volume_db": float("nan")}, "volume_db"),
        ({"pitch_semitones": -12.5}, "pitch_semitones"),
        ({"effects": ["level"]}, "effects"),
        ({"effects": {"reverb": True}}, "effects"),
        ({"effects": {"level": 1}}, "effects.level"),
        ({"effects": {"limit": "yes"}}, "effects.limit"),
        ({"effects": {"compress": 3}}, "effects.compress"),
        ({"effects": {"compress": {"knee": 1}}}, "effects.compress"),
        ({"effects": {"compress": {"ratio": 0.5}}}, "effects.compress.ratio"),
        ({"effects": {"compress": {"attack_ms": 0}}}, "effects.compress.attack_ms"),
        ({"effects": {"compress": {"threshold_db": False}}}, "effects.compress.threshold_db"),
    ],
)
def test_impossible_effects_are_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        effects_of(fields)
    assert refused.value.param == param


@given(st.dictionaries(st.sampled_from(EFFECT_FIELDS), ANYTHING))
def test_any_effects_are_read_or_refused(fields: dict[str, Any]) -> None:
    """Accepted effects can be applied, and a refusal names its field."""
    try:
        found = parse_effects(fields)
    except InvalidRequest as refused:
        assert refused.param is not None
        assert refused.param.split(".")[0] in fields
    else:
        assert replace(Effects(), **found) == effects_of(fields)


def test_every_endpoint_reads_effects() -> None:
    said: dict[str, Any] = {"volume_db": 3, "pitch_semitones": -2, "effects": {"level": True}}
    wanted = Effects(volume_db=3.0, pitch_semitones=-2.0, level=True)
    assert parse_synthesis_options(said, {}).effects == wanted
    body = b'{"input": "a", "volume_db": 3, "pitch_semitones": -2, "effects": {"level": true}}'
    assert parse_speech(body, "application/json", SpeechLimits()).manner.effects == wanted
    start = message_of({"type": "start", "context": "a", **said})
    assert isinstance(start, Start)
    assert start.manner.effects == wanted
    config = message_of({"type": "config", "context": "a", **said})
    assert isinstance(config, Config)
    assert Effects(**config.effects) == wanted


def test_a_query_separates_effects_with_commas() -> None:
    found = start_of_query({"volume_db": "-4.5", "effects": "level,compress"})
    assert effects_of(found) == Effects(volume_db=-4.5, level=True, compression=Compression())
    assert effects_of(start_of_query({"effects": ""})) == Effects()
    with pytest.raises(InvalidRequest):
        effects_of(start_of_query({"effects": "level,reverb"}))
