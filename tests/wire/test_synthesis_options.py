"""Class, weight, preset and other synthesis options from fields and headers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.wire.openai import SpeechLimits, parse_speech
from yuliu.wire.preset_fields import ChunkingFields
from yuliu.wire.synthesis_options import FIELDS, MAX_SEED, SynthesisOptions, parse_synthesis_options, presets_body


def fault(fields: dict[str, Any], headers: dict[str, str] | None = None) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parse_synthesis_options(fields, headers or {})
    return caught.value


def test_a_request_without_options_gets_the_defaults() -> None:
    """Null and empty names count as absent, as in OpenAI's own fields."""
    assert parse_synthesis_options({}, {}) == SynthesisOptions()
    assert parse_synthesis_options({**dict.fromkeys(FIELDS), "preset": ""}, {}) == SynthesisOptions()


def test_all_fields_are_read() -> None:
    """Fields that override those of a preset are kept apart from it."""
    chunking = {"strategy": "fixed", "max_weight": 12}
    asked = {"preset": "dialogue", "class": "bulk", "chunking": chunking, "max_lead_s": 3}
    manner = parse_synthesis_options({**asked, "weight": 2, "lead_in_ms": 250, "seed": 7, "language": "zh"}, {})
    overrides = {"class": "bulk", "chunking": ChunkingFields("fixed", max_weight=12), "max_lead_s": 3}
    assert manner == SynthesisOptions("dialogue", overrides, weight=2.0, lead_in_ms=250.0, seed=7, language="zh")
    assert parse_synthesis_options({"language": "auto"}, {}) == SynthesisOptions()
    assert [parse_synthesis_options({"language": tag}, {}).language for tag in ("zh-CN", "ZH", "EN_us")] == [
        "zh",
        "zh",
        "en",
    ]


def test_headers_stand_in_for_fields() -> None:
    """A client that can only add headers may set class and weight there; a field takes precedence."""
    headers = {"x-yuliu-class": " interactive ", "x-yuliu-weight": "2.5"}
    assert parse_synthesis_options({}, headers) == SynthesisOptions(overrides={"class": "interactive"}, weight=2.5)
    assert parse_synthesis_options({"class": "bulk", "weight": 1}, headers) == SynthesisOptions(
        overrides={"class": "bulk"}, weight=1.0
    )


WRONG: dict[str, list[Any]] = {
    "preset": [1, ["dialogue"], True],
    "weight": [0, 0.09, 10.1, -1, True, "1", [1], 10**400],
    "lead_in_ms": [-1, 1001, "0", False, {}],
    "seed": [-1, MAX_SEED + 1, 1.0, "7", True],
    "language": ["", "fr", "zh-yue", "zh CN", "AUTO", 1, ["zh"], {}],
}


@pytest.mark.parametrize(("param", "value"), [(param, value) for param, values in WRONG.items() for value in values])
def test_a_wrong_value_names_its_field(param: str, value: object) -> None:
    """No wrong value is silently corrected."""
    assert fault({param: value}).param == param


@pytest.mark.parametrize("value", ["", "heavy", "nan", "inf", "1e1", "0x1", "-1", "11", "٣", "1_0"])
def test_a_wrong_header_names_the_header(value: str) -> None:
    """Weights are plain decimals within the bounds."""
    assert fault({}, {"x-yuliu-weight": value}).param == "X-Yuliu-Weight"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from(FIELDS), VALUES),
    st.dictionaries(st.sampled_from(["x-yuliu-class", "x-yuliu-weight"]), st.text(max_size=8)),
)
def test_any_values_give_options_or_an_error(fields: dict[str, Any], headers: dict[str, str]) -> None:
    """Accepted options are within their bounds, and an error never quotes what was sent."""
    try:
        manner = parse_synthesis_options(fields, headers)
    except InvalidRequest as error:
        assert error.param is not None
        assert error.param.partition(".")[0] in {*FIELDS, "X-Yuliu-Weight"}
    else:
        assert 0.1 <= manner.weight <= 10
        assert 0 <= manner.lead_in_ms <= 1000
        assert 0 <= manner.seed <= MAX_SEED
        assert set(manner.overrides) <= {"class", "chunking", "max_lead_s"}


def test_a_speech_request_has_synthesis_options() -> None:
    """They come from the fields and headers of the request."""
    body = json.dumps({"input": "hi", "preset": "api"}).encode()
    request = parse_speech(body, "application/json", SpeechLimits(), headers={"x-yuliu-weight": "3"})
    assert request.manner == SynthesisOptions("api", weight=3.0)


def test_presets_are_listed_as_json() -> None:
    """Text beyond ASCII is escaped."""
    body = presets_body([{"name": "a", "description": "对话"}])
    assert body.isascii()
    assert json.loads(body) == {"presets": [{"name": "a", "description": "对话"}]}
