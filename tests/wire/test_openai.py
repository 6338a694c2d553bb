"""Parsing of speech requests from arbitrary bytes."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.formats import FORMATS, Encoding
from yuliu.errors import InvalidRequest, NothingToSpeak
from yuliu.wire.openai import (
    CODECS,
    MODELS,
    SpeechLimits,
    SpeechRequest,
    VoiceEntry,
    check_model,
    model_body,
    models_body,
    parse_speech,
    speech_encoding,
    voices_body,
)

JSON = "application/json"
LIMITS = SpeechLimits(max_characters=100, max_body_bytes=2_000)


def parse(body: bytes | str | dict[str, Any], content_type: str | None = JSON) -> SpeechRequest:
    if isinstance(body, dict):
        body = json.dumps(body)
    return parse_speech(body.encode() if isinstance(body, str) else body, content_type, LIMITS)


def fault(body: bytes | str | dict[str, Any], content_type: str | None = JSON) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parse(body, content_type)
    return caught.value


def test_only_the_input_is_required() -> None:
    """A request that holds only text gets the defaults."""
    assert parse({"input": "你好"}) == SpeechRequest("你好")


def test_all_fields_are_read() -> None:
    """Each supported field of OpenAI's has the value that the client sent."""
    body = {
        "model": "tts-1",
        "input": "hi",
        "voice": "alloy",
        "instructions": "softly",
        "response_format": "pcm",
        "speed": 2,
        "stream_format": "sse",
    }
    assert parse(body) == SpeechRequest("hi", "tts-1", "alloy", "pcm", 2.0, "sse")


def test_the_default_format_is_openais() -> None:
    """A client that names no format gets MP3, as one that saves the answer as .mp3 expects."""
    assert parse({"input": "hi"}).response_format == "mp3"
    assert parse({"input": "hi", "response_format": ""}).response_format == "mp3"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_requested(name: str) -> None:
    """The list holds OpenAI's six formats and those for browsers and telephones."""
    request = parse({"input": "hi", "response_format": name})
    encoding = speech_encoding(request, 24_000)
    assert encoding.name == name
    assert CODECS[encoding.name]


def test_rate_channels_and_bit_rate_can_be_requested() -> None:
    """Yuliu's own fields set the properties of the format."""
    request = parse({"input": "hi", "response_format": "aac", "sample_rate": 44_100, "channels": 2, "kbps": 128})
    assert speech_encoding(request, 24_000) == Encoding("aac", 44_100, 2, 128)


@pytest.mark.parametrize("source_rate", [16_000, 22_050, 24_000, 48_000])
def test_raw_samples_use_openais_rate(source_rate: int) -> None:
    """They have no header, and OpenAI's clients assume 24 kHz; headers of other formats state the rate."""
    assert speech_encoding(SpeechRequest("hi", response_format="pcm"), source_rate).sample_rate == 24_000
    assert speech_encoding(SpeechRequest("hi", response_format="wav"), source_rate).sample_rate == source_rate
    asked = SpeechRequest("hi", response_format="pcm", sample_rate=8_000)
    assert speech_encoding(asked, source_rate).sample_rate == 8_000


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"response_format": "wav", "sample_rate": 7_999}, "sample_rate"),
        ({"response_format": "wav", "sample_rate": 48_001}, "sample_rate"),
        ({"response_format": "opus", "sample_rate": 44_100}, "sample_rate"),
        ({"response_format": "mulaw", "channels": 2}, "channels"),
        ({"response_format": "wav", "channels": 0}, "channels"),
        ({"response_format": "wav", "channels": 3}, "channels"),
        ({"response_format": "flac", "kbps": 64}, "kbps"),
        ({"response_format": "mp3", "kbps": 9_999}, "kbps"),
        ({"kbps": 10**400}, "kbps"),
    ],
)
def test_an_unsupported_property_of_a_format_names_its_field(fields: dict[str, Any], param: str) -> None:
    """The error names the field of the request, not an internal name."""
    request = parse({"input": "hi", **fields})
    with pytest.raises(InvalidRequest) as caught:
        speech_encoding(request, 24_000)
    assert caught.value.param == param


def test_a_voice_may_be_an_object() -> None:
    """OpenAI's custom voices are objects with an id."""
    assert parse({"input": "hi", "voice": {"id": "heart"}}).voice == "heart"


def test_null_and_empty_names_count_as_absent() -> None:
    """Clients that send unset settings as null or "" get the defaults."""
    body = {"input": "hi", "voice": None, "model": "", "speed": None, "response_format": None, "stream_format": ""}
    assert parse(body) == SpeechRequest("hi")


def test_unknown_fields_are_ignored() -> None:
    """Fields of other servers do not make a request fail."""
    assert parse({"input": "hi", "lang_code": "z", "stream": True, "x": {"y": [1]}}) == SpeechRequest("hi")


def test_a_byte_order_mark_is_ignored() -> None:
    """Some Windows clients send one before the body."""
    assert parse(b"\xef\xbb\xbf" + b'{"input": "hi"}') == SpeechRequest("hi")


def test_the_text_is_not_in_the_repr() -> None:
    """Text to be spoken cannot reach a log through a printed request."""
    assert "secret" not in repr(parse({"input": "secret"}))


def test_text_outside_the_basic_plane_is_counted_by_code_point() -> None:
    """A character that takes two escapes in JSON counts as one."""
    assert len(parse({"input": "😀" * 100}).input) == 100


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({}, "input"),
        ({"input": None}, "input"),
        ({"input": 5}, "input"),
        ({"input": ["a"]}, "input"),
        ({"input": "a" * 101}, "input"),
        ({"input": "a\ud83d"}, "input"),
        ({"input": "a", "model": 1}, "model"),
        ({"input": "a", "model": "\udc00"}, "model"),
        ({"input": "a", "voice": 1}, "voice"),
        ({"input": "a", "voice": {}}, "voice"),
        ({"input": "a", "voice": {"id": 1}}, "voice"),
        ({"input": "a", "voice": ["alloy"]}, "voice"),
        ({"input": "a", "instructions": 1}, "instructions"),
        ({"input": "a", "response_format": "ogg"}, "response_format"),
        ({"input": "a", "response_format": "MP3"}, "response_format"),
        ({"input": "a", "response_format": 1}, "response_format"),
        ({"input": "a", "stream_format": "events"}, "stream_format"),
        ({"input": "a", "stream_format": {}}, "stream_format"),
        ({"input": "a", "sample_rate": "24000"}, "sample_rate"),
        ({"input": "a", "sample_rate": 24000.5}, "sample_rate"),
        ({"input": "a", "sample_rate": True}, "sample_rate"),
        ({"input": "a", "channels": [1]}, "channels"),
        ({"input": "a", "kbps": 0.5}, "kbps"),
        ({"input": "a", "speed": "1"}, "speed"),
        ({"input": "a", "speed": True}, "speed"),
        ({"input": "a", "speed": 0.2}, "speed"),
        ({"input": "a", "speed": 4.1}, "speed"),
        ({"input": "a", "speed": 10**400}, "speed"),
        ({"input": "a", "speed": -1}, "speed"),
    ],
)
def test_an_error_in_a_field_names_the_field(fields: dict[str, Any], param: str) -> None:
    """The client learns which value is wrong."""
    assert fault(fields).param == param


def test_an_infinite_speed_is_rejected() -> None:
    """A number too large for a float does not pass as a high speed."""
    assert fault('{"input": "a", "speed": 1e999}').param == "speed"


def test_an_empty_text_has_its_own_error_code() -> None:
    """The code distinguishes an empty text from a missing one."""
    assert isinstance(fault({"input": ""}), NothingToSpeak)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "not valid JSON"),
        (b"{", "line 1, column 2"),
        (b'{"input": "a"', "not valid JSON"),
        (b"[]", "JSON object"),
        (b'"a"', "JSON object"),
        (b"null", "JSON object"),
        (b'{"input": "\xff"}', "UTF-8"),
        ('{"input": "a"}'.encode("utf-16"), "UTF-8"),
        (b'{"input": "a", "speed": NaN}', "NaN"),
        (b'{"input": "a", "speed": -Infinity}', "Infinity"),
        (b'{"input": "a", "input": "b"}', "twice"),
        (b'{"input": "a", "voice": {"id": "a", "id": "b"}}', "twice"),
        (b'{"input": "a\nb"}', "not valid JSON"),
        (b" " * 2_001, "2000 bytes"),
    ],
)
def test_an_error_in_the_body_states_the_reason(body: bytes, says: str) -> None:
    """A body that is not a request is refused with a reason and without a field."""
    error = fault(body)
    assert says in error.message
    assert error.param is None


def test_deep_nesting_is_refused() -> None:
    """A body that would exhaust the parser's stack is an error of the request, not of the server."""
    body = b'{"input":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(InvalidRequest, match="deeply"):
        parse_speech(body, JSON, SpeechLimits())


def test_a_number_with_too_many_digits_is_refused() -> None:
    """Python itself refuses to convert it."""
    with pytest.raises(InvalidRequest, match="not valid JSON"):
        parse_speech(b'{"input":"a","speed":' + b"9" * 5_000 + b"}", JSON, SpeechLimits())


@pytest.mark.parametrize("content_type", [None, "", "text/plain", "application/x-www-form-urlencoded", "json"])
def test_a_body_that_is_not_declared_as_json_is_refused(content_type: str | None) -> None:
    """A web page can send other types to a loopback server without a preflight request of the browser."""
    assert "application/json" in fault({"input": "a"}, content_type).message


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", " application/json "])
def test_the_json_media_type_may_be_spelled_in_any_way(content_type: str) -> None:
    """Case, spaces and parameters of the media type are ignored."""
    assert parse({"input": "a"}, content_type).input == "a"


@given(st.binary(max_size=300), st.none() | st.sampled_from([JSON, "text/plain"]))
def test_any_bytes_give_a_request_or_an_error(body: bytes, content_type: str | None) -> None:
    """No body makes the parser raise anything but an error of the request."""
    try:
        request = parse(body, content_type)
    except InvalidRequest as error:
        assert error.message
    else:
        assert request.input


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
FIELDS = (
    *("input", "model", "voice", "response_format", "speed", "stream_format", "instructions", "other"),
    *("sample_rate", "channels", "kbps"),
)


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_any_fields_give_a_request_or_an_error(fields: dict[str, Any]) -> None:
    """For any JSON in the fields, an accepted request keeps its invariants."""
    try:
        request = parse(json.dumps(fields).encode("utf-8", "surrogatepass"))
    except InvalidRequest as error:
        assert error.message
    else:
        assert 0 < len(request.input) <= LIMITS.max_characters
        assert 0.25 <= request.speed <= 4
        request.input.encode()
        with contextlib.suppress(InvalidRequest):
            speech_encoding(request, 24_000)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100), st.booleans())
def test_a_text_arrives_unchanged(text: str, escaped: bool) -> None:
    """Characters are the same whether or not a client escapes them."""
    body = json.dumps({"input": text}, ensure_ascii=escaped).encode()
    assert parse_speech(body, JSON, SpeechLimits()).input == text


VOICES = ("baker", "heart")


def test_an_unknown_model_is_refused_with_the_list_of_models() -> None:
    """An unknown model is not silently replaced by another one."""
    with pytest.raises(InvalidRequest, match=r"tts-1.*heart") as caught:
        check_model("kokoro", VOICES)
    assert caught.value.param == "model"


ENTRIES = [VoiceEntry("baker", ("zh",), 24_000, is_default=True), VoiceEntry("heart", ("en",), 24_000)]


def test_models_are_listed_in_openais_format() -> None:
    """The list holds OpenAI's names and the voices, each of which can be requested as a model."""
    listed = json.loads(models_body(ENTRIES))
    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == [*MODELS, "baker", "heart"]
    assert {model["object"] for model in listed["data"]} == {"model"}


def test_a_model_is_found_by_name() -> None:
    """An unknown name is an error."""
    body = model_body("heart", ENTRIES)
    assert body is not None
    assert json.loads(body)["id"] == "heart"
    assert model_body("kokoro", ENTRIES) is None


def test_voices_are_listed_in_both_formats() -> None:
    """Newer clients read objects, older ones plain names."""
    objects = json.loads(voices_body(ENTRIES))["voices"]
    assert objects[0] == {
        "id": "baker",
        "name": "baker",
        "languages": ["zh"],
        "sample_rate": 24_000,
        "default": True,
    }
    assert json.loads(voices_body(ENTRIES, names_only=True)) == {"voices": ["baker", "heart"]}


def test_a_whole_body_cannot_be_sent_as_events() -> None:
    """Events are a stream."""
    assert fault({"input": "hi", "stream": False, "stream_format": "sse"}).param == "stream"


@pytest.mark.parametrize("model", [None, "tts-1", "heart"])
def test_a_model_may_be_a_known_name_or_a_voice(model: str | None) -> None:
    """The field may also be absent."""
    check_model(model, ["heart"])


def test_events_cannot_be_sent_whole() -> None:
    """The two fields contradict each other."""
    assert fault({"input": "a", "stream": False, "stream_format": "sse"}).param == "stream"
    assert not parse({"input": "a", "stream": False}).stream
