"""Phrases to pin, as request bodies and as files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.wire.phrases import (
    MAX_PHRASE_CHARACTERS,
    MAX_PHRASES,
    PhrasesRequest,
    check_total,
    parse_phrase_file,
    parse_phrases,
    phrases_body,
)

JSON = "application/json"


def parse(value: object, content_type: str | None = JSON) -> PhrasesRequest:
    return parse_phrases(json.dumps(value).encode(), content_type)


def test_a_valid_request_is_read() -> None:
    """Phrases keep their order, and duplicates are dropped."""
    asked = parse({"phrases": ["你好！", "Hello.", "你好！"], "voice": "heart", "speed": 2})
    assert asked == PhrasesRequest(("你好！", "Hello."), "heart", 2.0)
    assert parse({"phrases": ["a"], "voice": None, "speed": None}) == PhrasesRequest(("a",))


@pytest.mark.parametrize(
    ("value", "param"),
    [
        ([], None),
        ({"phrases": ["a"], "other": 1}, None),
        ({}, "phrases"),
        ({"phrases": []}, "phrases"),
        ({"phrases": "a"}, "phrases"),
        ({"phrases": [1]}, "phrases"),
        ({"phrases": [""]}, "phrases"),
        ({"phrases": [" \n"]}, "phrases"),
        ({"phrases": ["a\ud800"]}, "phrases"),
        ({"phrases": ["a" * (MAX_PHRASE_CHARACTERS + 1)]}, "phrases"),
        ({"phrases": ["a"] * (MAX_PHRASES + 1)}, "phrases"),
        ({"phrases": ["a"], "voice": 1}, "voice"),
        ({"phrases": ["a"], "speed": "1"}, "speed"),
        ({"phrases": ["a"], "speed": 5}, "speed"),
    ],
)
def test_an_invalid_request_is_refused(value: Any, param: str | None) -> None:
    """The error names the field at fault, if there is one."""
    with pytest.raises(InvalidRequest) as caught:
        parse(value)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("body", "content_type"), [(b"{", JSON), (b"\xff", JSON), (b"{}", "text/plain"), (b"{}", None)]
)
def test_a_body_that_is_not_json_is_refused(body: bytes, content_type: str | None) -> None:
    """As at every endpoint, a web page can send other types without asking first."""
    with pytest.raises(InvalidRequest):
        parse_phrases(body, content_type)


@given(st.binary(max_size=60))
def test_any_bytes_give_phrases_or_an_error(body: bytes) -> None:
    """No other exception is raised."""
    try:
        assert parse_phrases(body, JSON).phrases
    except InvalidRequest as error:
        assert error.message


def test_a_file_has_one_phrase_per_line() -> None:
    """Comments and empty lines are ignored, as are a byte order mark and Windows line ends."""
    content = "\ufeff# greetings\r\n你好！\r\n\r\n  Hello.  \n# x\nHello.\n"
    assert parse_phrase_file(content, where="f") == ("你好！", "Hello.")


def test_a_file_with_an_overlong_line_is_refused() -> None:
    """The message states the line."""
    with pytest.raises(InvalidRequest, match=r"greetings\.txt, line 2"):
        parse_phrase_file("ok\n" + "a" * (MAX_PHRASE_CHARACTERS + 1), where="greetings.txt")


@pytest.mark.parametrize("phrases", [[str(i) for i in range(MAX_PHRASES + 1)], ["a" * 300] * 67])
def test_the_total_of_all_phrases_is_bounded(phrases: list[str]) -> None:
    """Bounds apply to their number and to their characters."""
    check_total(phrases[:-1])
    with pytest.raises(InvalidRequest):
        check_total(phrases)


def test_phrases_are_listed_by_voice() -> None:
    """The list holds texts and voices."""
    listed = json.loads(phrases_body({"a": ["你好"], "b": ["x", "y"]}))["phrases"]
    assert listed == [{"text": "你好", "voice": "a"}, {"text": "x", "voice": "b"}, {"text": "y", "voice": "b"}]
