"""Each reader of ``wire`` accepts an input or refuses it with a reason, and raises no other exception."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yuliu.wire
from yuliu.errors import InvalidRequest
from yuliu.wire import effects, encoding, feedback, keys, lexicons, openai, phrases, strict_json, synthesis_options
from yuliu.wire.native import body_codec, client_codec, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

JSON = "application/json"
ENTRY = {"text": "a", "reading": "b", "alphabet": "ipa", "lang": "en", "match_case": True, "where": "word"}
SPEECH = {"input": "hello 你好", "model": "tts-1", "voice": {"id": "alloy"}, "response_format": "wav", "speed": 1.5}
SPEECH |= {"stream_format": "sse", "sample_rate": 8000, "channels": 2, "kbps": 64, "lexicon": ["a"], "seed": 1}
SPEECH |= {"lexicon_entries": [ENTRY], "preset": "a", "class": "bulk", "weight": 2, "lead_in_ms": 5, "chunking": "a"}
START = {"type": "start", "context": "a", "voice": "a", "format": "pcm", "sample_rate": 8000, "speed": 1.0, "seed": 5}
KEY = {"name": "a", "sha256": "0" * 64, "scopes": ["speak"], "weight": 2.5, "per_minute": 1, "created": "2026-01-31"}
PLS = (
    '<?xml version="1.0" encoding="UTF-8"?><lexicon version="1.0" alphabet="ipa" xml:lang="en"'
    ' xmlns="http://www.w3.org/2005/01/pronunciation-lexicon"><lexeme><grapheme>a</grapheme>'
    "<phoneme>b</phoneme></lexeme></lexicon>"
)
DONE = {"type": "done", "context": "a", "seq": 1, "spoken": [[0, 1]], "skipped": [[1, 2, "a"]], "failed": []}

READERS: Mapping[str, tuple[Callable[[bytes], object], list[bytes]]] = {
    "openai.parse_speech": (
        lambda data: openai.parse_speech(data, JSON, openai.SpeechLimits()),
        [json.dumps(SPEECH).encode()],
    ),
    "phrases.parse_phrases": (
        lambda data: phrases.parse_phrases(data, JSON),
        [json.dumps({"phrases": ["a", "b"], "voice": "c", "speed": 1.5}).encode()],
    ),
    "phrases.parse_phrase_file": (
        lambda data: phrases.parse_phrase_file(data.decode("utf-8", "replace"), where="a"),
        ["# a\n你好\n\nhello\n".encode()],
    ),
    "feedback.parse_feedback": (
        lambda data: feedback.parse_feedback(data, JSON),
        [json.dumps({"stream": "a", "kind": "click"}).encode()],
    ),
    "lexicons.parse_lexicon": (
        lambda data: [lexicons.parse_lexicon(data, form) for form in lexicons.MEDIA_TYPES],
        [json.dumps({"entries": [ENTRY]}).encode(), b"text\treading\nab\tcd\n", PLS.encode()],
    ),
    "lexicons.parse_entry": (lambda data: lexicons.parse_entry(loose(data), "a"), [json.dumps(ENTRY).encode()]),
    "lexicons.entries_of": (lambda data: lexicons.entries_of(fields(data)), [b'{"a": "b"}']),
    "lexicons.parse_if_match": (lambda data: lexicons.parse_if_match(data.decode("latin-1")), [b'W/"17"']),
    "lexicons.form_of_body": (lambda data: lexicons.form_of_body(data.decode("latin-1")), [b"application/json"]),
    "keys.parse_keys": (keys.parse_keys, [json.dumps({"version": 1, "keys": [KEY]}).encode()]),
    "synthesis_options.parse_synthesis_options": (
        lambda data: synthesis_options.parse_synthesis_options(
            fields(data), {"x-yuliu-weight": data.decode("latin-1")}
        ),
        [json.dumps(SPEECH).encode()],
    ),
    "synthesis_options.parse_language": (
        lambda data: synthesis_options.parse_language(fields(data).get("language")),
        [b'{"language": "zh"}'],
    ),
    "effects.parse_effects": (
        lambda data: effects.parse_effects(fields(data)),
        [json.dumps({"volume_db": 3, "pitch_semitones": 2, "effects": {"level": True, "limit": False}}).encode()],
    ),
    "strict_json.read_json": (lambda data: strict_json.read_json(data, what="a"), [json.dumps(SPEECH).encode()]),
    "encoding.encoding_asked_for": (
        lambda data: encoding.encoding_asked_for(
            str(fields(data).get("format")),
            24_000,
            field="format",
            sample_rate=whole(data, "sample_rate"),
            channels=whole(data, "channels") or 1,
            kbps=whole(data, "kbps"),
        ),
        [json.dumps({"format": "mp3", "sample_rate": 8000, "channels": 2, "kbps": 64}).encode()],
    ),
    "native.decode.parse_object": (lambda data: decode.parse_object(text(data)), [json.dumps(START).encode()]),
    "native.decode.parse_message": (lambda data: decode.parse_message(text(data)), [json.dumps(START).encode()]),
    "native.decode.message_of": (lambda data: decode.message_of(fields(data)), [json.dumps(START).encode()]),
    "native.body_codec.start_of_query": (
        lambda data: body_codec.start_of_query({name: str(value) for name, value in fields(data).items()}),
        [json.dumps({"voice": "a", "speed": 1.5, "seed": 5, "lexicon": "a"}).encode()],
    ),
    "native.body_codec.Body": (
        lambda data: [pieces(kind, data) for kind in (body_codec.TEXT, body_codec.LINES)],
        [f"{json.dumps({'type': 'start'})}\n{json.dumps({'type': 'text', 'text': 'a'})}\n".encode()],
    ),
    "native.client_codec.parse_reply": (lambda data: client_codec.parse_reply(text(data)), [json.dumps(DONE).encode()]),
    "native.encode.parse_sound_frame": (encode.parse_sound_frame, [encode.sound_bytes(1, 5, b"abcd")]),
}
"""Readers of external input, which take bytes, each with examples that it accepts."""
CLIENTS = ("native.client_codec.parse_reply", "native.encode.parse_sound_frame")
"""Readers of the client's half, which raise plain ``ValueError``: their errors are not sent to a server."""


SETTINGS = settings(max_examples=40, deadline=None)
WORDS = [b"null", b"true", b"-1", b"1e999", b"{}", b"[]", b'""', b"NaN", b"\x00", b"\xff", b",", b"9" * 400]
ODD = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
        st.sampled_from(["a" * 300, 10**400, "\ud800"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def loose(data: bytes) -> object:
    """Return the JSON value of a text as Python's own reader finds it; a text that is not JSON stands for itself."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return text(data)


def fields(data: bytes) -> dict[str, Any]:
    value = loose(data)
    return value if isinstance(value, dict) else {"type": value, "text": value}


def whole(data: bytes, name: str) -> int | None:
    value = fields(data).get(name)
    return value if isinstance(value, int) else None


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def pieces(kind: str, data: bytes) -> list[object]:
    """Cut a body into three pieces; the cuts depend on the bytes."""
    reader = body_codec.Body(kind, {})
    at = sorted((sum(data) % (len(data) + 1), len(data) // 2))
    found = [reader.push(part) for part in (data[: at[0]], data[at[0] : at[1]], data[at[1] :])]
    return [*found, reader.finish()]


def read(name: str, data: bytes) -> object:
    """Return the value that was read, or the refusal; any other exception passes through."""
    try:
        return READERS[name][0](data)
    except InvalidRequest as error:
        assert error.message
        assert error.code != "error"
        return error
    except ValueError as error:
        assert name in CLIENTS
        return error


def test_every_reader_is_listed() -> None:
    """The table covers all functions of ``wire`` that are named as readers, and all that may refuse input."""
    found = set()
    for module in pkgutil.walk_packages(yuliu.wire.__path__, "yuliu.wire."):
        for name, value in vars(importlib.import_module(module.name)).items():
            refuses = inspect.isfunction(value) and "InvalidRequest" in (value.__doc__ or "")
            if getattr(value, "__module__", "") == module.name and (name.startswith("parse_") or refuses):
                found.add(f"{module.name.removeprefix('yuliu.wire.')}.{name}")
    elsewhere = {
        "openai.check_model",  # takes names, in test_openai
        "openai.speech_encoding",  # used by encoding.encoding_asked_for
        "phrases.check_total",  # used by both readers of phrases
        "strict_json.check_keys",  # takes JSON that a schema has decoded
        "schema.convert_toml",  # takes tables, in test_schema
        "native.client_codec.request_text",  # writes, in test_client_codec
    }
    assert found - elsewhere - set(READERS) == set()
    assert set(READERS) - found == {"native.body_codec.Body", "native.encode.parse_sound_frame"} - found


@pytest.mark.parametrize("name", READERS)
def test_examples_are_accepted(name: str) -> None:
    """Otherwise the damaged examples of the tests below would reach little of a reader."""
    reader, examples = READERS[name]
    if name == "lexicons.parse_lexicon":
        for form, example in zip(lexicons.MEDIA_TYPES, examples, strict=True):
            assert lexicons.parse_lexicon(example, form)
    elif name == "native.body_codec.Body":
        assert pieces(body_codec.LINES, examples[0])
    else:
        for example in examples:
            reader(example)


@pytest.mark.parametrize("name", READERS)
@SETTINGS
@given(data=st.binary(max_size=80) | st.text(max_size=40).map(lambda given: given.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    """The result is the same each time."""
    first, second = read(name, data), read(name, data)
    assert told(first) == told(second)


@pytest.mark.parametrize("name", READERS)
@SETTINGS
@given(data=st.data())
def test_damaged_examples_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Part of a valid example is lost, doubled or replaced, which reaches nearly all of a reader."""
    example = data.draw(st.sampled_from(READERS[name][1]))
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(example)), st.integers(0, len(example)))))
    instead = data.draw(st.binary(max_size=6) | st.sampled_from(WORDS) | st.just(example[start:end] * 2))
    read(name, example[:start] + instead + example[end:])


@pytest.mark.parametrize("name", READERS)
@SETTINGS
@given(data=st.data())
def test_other_values_in_examples_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """A value of a valid example is replaced by one of another type, or one that is too large or too long."""
    example = data.draw(st.sampled_from(READERS[name][1]))
    value = loose(example)
    if not isinstance(value, dict):
        return
    field = data.draw(st.sampled_from(sorted(value)))
    read(name, json.dumps({**value, field: data.draw(ODD)}).encode())


def told(found: object) -> object:
    """Return the outcome in a form that can be compared."""
    if isinstance(found, Exception):
        return type(found), str(found)
    return repr(asdict(found)) if is_dataclass(found) and not isinstance(found, type) else repr(found)
