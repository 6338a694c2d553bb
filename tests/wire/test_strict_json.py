"""One strict reader for all JSON that the server takes: each entry point refuses ambiguous JSON."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import yuliu
from yuliu.errors import InvalidRequest
from yuliu.wire.feedback import parse_feedback
from yuliu.wire.keys import parse_keys
from yuliu.wire.lexicons import parse_lexicon
from yuliu.wire.native.body_codec import LINES, Body
from yuliu.wire.native.decode import parse_message
from yuliu.wire.openai import SpeechLimits, parse_speech
from yuliu.wire.phrases import parse_phrases
from yuliu.wire.strict_json import read_json

if TYPE_CHECKING:
    from collections.abc import Callable

JSON = "application/json"
READERS: dict[str, tuple[Callable[[bytes], object], dict[str, Any]]] = {
    "speech": (lambda body: parse_speech(body, JSON, SpeechLimits()), {"input": "a", "speed": 1}),
    "phrases": (lambda body: parse_phrases(body, JSON), {"phrases": ["a"], "speed": 1}),
    "feedback": (lambda body: parse_feedback(body, JSON), {"stream": "a", "kind": "click"}),
    "lexicon": (lambda body: parse_lexicon(body, "json"), {"entries": [{"text": "a", "reading": "b"}]}),
    "keys": (parse_keys, {"version": 1, "keys": [{"name": "a", "sha256": "0" * 64, "weight": 1}]}),
    "lines": (
        lambda body: [Body(LINES, {}).push(body + b"\n")],
        {"type": "start", "speed": 1},
    ),
    "message": (
        lambda body: parse_message(body.decode("utf-8-sig")),
        {"type": "start", "context": "a", "speed": 1},
    ),
}
"""Each reader with a body that it accepts."""
LOOSE = {
    "wire/openai_events.py": "what we have written ourselves",
    "wire/strict_json.py": "the reader itself",
}
"""Modules that may read JSON in another way, each with the reason."""


@pytest.mark.parametrize("name", READERS)
def test_valid_json_is_read_with_or_without_a_byte_order_mark(name: str) -> None:
    """Some editors and shells put one before a file."""
    read, value = READERS[name]
    body = json.dumps(value).encode()
    assert repr(read(b"\xef\xbb\xbf" + body)) == repr(read(body))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("wrong", ["NaN", "Infinity", "-Infinity", "[" * 100_000, "9" * 5_000, "'a'", "[1,]", "01"])
def test_json_outside_the_standard_is_refused(name: str, wrong: str) -> None:
    """This applies to the value of any field, including ignored ones."""
    read, value = READERS[name]
    whole = json.dumps(value)
    body = whole[:-1] + f', "more": {wrong}}}'
    with pytest.raises(InvalidRequest, match=r"JSON|nested too deeply"):
        read(body.encode())


@pytest.mark.parametrize("name", READERS)
def test_a_repeated_key_is_refused(name: str) -> None:
    """This applies at any depth, whether or not the values are equal."""
    read, value = READERS[name]
    whole = json.dumps(value)
    first = json.dumps(next(iter(value)))
    inner = ', "more": [{"a": 1, "a": 1}]}'
    for body in (f"{{{first}: 0, {whole[1:]}", whole[:-1] + inner):
        with pytest.raises(InvalidRequest, match="stands twice"):
            read(body.encode())


@pytest.mark.parametrize("name", [name for name in READERS if name != "message"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_other_encodings_are_refused(name: str, encoding: str) -> None:
    """Python's own reader would guess them."""
    read, value = READERS[name]
    body = json.dumps({**value, "more": "é"}, ensure_ascii=False).encode(encoding)
    with pytest.raises(InvalidRequest):
        read(body)


def test_no_other_module_reads_json() -> None:
    """New modules of wire and server must use the same reader."""
    source = Path(yuliu.__file__).parent
    found = {
        str(path.relative_to(source).as_posix())
        for folder in ("wire", "server")
        for path in (source / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("loads", "load", "JSONDecoder")
        if isinstance(node.value, ast.Name) and node.value.id == "json"
    }
    assert found == set(LOOSE)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda each: st.lists(each, max_size=3)))
def test_json_written_by_python_is_read(value: object) -> None:
    """The value is unchanged."""
    assert read_json(json.dumps(value), what="it") == value
    assert read_json(json.dumps(value).encode(), what="it") == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    """The message names the error and never quotes the content."""
    try:
        read_json(body, what="the thing")
    except InvalidRequest as error:
        assert error.message.startswith("the thing")


@given(st.text(st.characters(), max_size=20) | st.integers() | st.none())
def test_texts_can_be_encoded_as_utf_8(value: object) -> None:
    """Otherwise a lexicon could not be stored, or a response not be sent."""
    try:
        parse_phrases(json.dumps({"phrases": ["a"], "voice": value}).encode(), JSON).voice or b""
    except InvalidRequest as error:
        assert error.param == "voice"
        assert not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value)
