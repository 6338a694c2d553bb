"""Lexicons as bodies and headers of HTTP, and as fields of a speech request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.text.lexicon import Entry
from yuliu.text.lexicon.problems import MAX_ENTRIES
from yuliu.wire import lexicons
from yuliu.wire.openai import SpeechLimits, parse_speech

ENTRIES = (Entry("SQL", "sequel"), Entry("行业", "hang2 ye4", "pinyin", lang="zh", match_case=True))


@pytest.mark.parametrize("form", ["json", "tsv", "pls"])
def test_a_lexicon_survives_every_format(form: lexicons.Form) -> None:
    """A response can be sent back as a request."""
    body = lexicons.lexicon_body("games", 3, ENTRIES, form)
    assert lexicons.parse_lexicon(body, form) == ENTRIES
    assert lexicons.form_of_body(lexicons.MEDIA_TYPES[form]) == form
    assert lexicons.form_of_answer(lexicons.MEDIA_TYPES[form]) == form


def test_json_holds_name_version_and_values_that_are_not_default() -> None:
    """Plain entries are short."""
    assert json.loads(lexicons.lexicon_body("games", 3, ENTRIES, "json")) == {
        "name": "games",
        "version": 3,
        "entries": [
            {"text": "SQL", "reading": "sequel"},
            {"text": "行业", "reading": "hang2 ye4", "alphabet": "pinyin", "lang": "zh", "match_case": True},
        ],
    }


@pytest.mark.parametrize("body", ['[{"text": "a", "reading": "b"}]', '{"text": "a", "reading": "b"}'])
def test_json_may_be_a_list_or_one_entry(body: str) -> None:
    """Either is accepted."""
    assert lexicons.parse_lexicon(body.encode(), "json") == (Entry("a", "b"),)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "not valid JSON"),
        (b"\xff", "UTF-8"),
        (b"5", "must be a list"),
        (b'{"entries": 5}', "must be a list"),
        (b'["a"]', r"'entries\[0\]' must be an object"),
        (b'[{"text": "a", "reading": "b", "x": 1}]', "unknown fields; known are text"),
        (b'[{"text": "a", "reading": "b", "match_case": "no"}]', "true or false"),
        (b'[{"text": "a", "reading": "b"}, {"text": "", "reading": "b"}]', r"entries\[1\]': 'text'"),
        (b'[{"text": "\\ud800", "reading": "b"}]', "half of a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_errors_in_json_name_entry_and_field(body: bytes, says: str) -> None:
    """The message is enough to find the error."""
    with pytest.raises(InvalidRequest, match=says):
        lexicons.parse_lexicon(body, "json")


@pytest.mark.parametrize("content_type", [None, "", "text/plain", "application/x-www-form-urlencoded"])
def test_body_types_of_simple_web_requests_are_refused(content_type: str | None) -> None:
    """The error lists the three accepted types."""
    with pytest.raises(InvalidRequest, match="application/pls"):
        lexicons.form_of_body(content_type)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, "json"),
        ("*/*", "json"),
        ("text/html, application/pls+xml;q=0.9", "pls"),
        ("TEXT/Tab-Separated-Values", "tsv"),
    ],
)
def test_the_response_has_the_accepted_format(accept: str | None, form: str) -> None:
    """JSON is the default if the request accepts no known format."""
    assert lexicons.form_of_answer(accept) == form


@pytest.mark.parametrize(("value", "version"), [(None, None), ("*", None), ('"3"', 3), ("3", 3), ('W/"12"', 12)])
def test_if_match_is_a_version(value: str | None, version: int | None) -> None:
    """Quotes are optional."""
    assert lexicons.parse_if_match(value) == version


@pytest.mark.parametrize("value", ["", "x", '"1", "2"', '"-1"', '"' + "9" * 30 + '"'])
def test_other_if_match_headers_are_refused(value: str) -> None:
    """Ignoring them would overwrite the lexicon."""
    with pytest.raises(InvalidRequest):
        lexicons.parse_if_match(value)


def speech(**fields: Any) -> Any:
    body = json.dumps({"input": "x"} | fields).encode()
    return parse_speech(body, "application/json", SpeechLimits())


def test_a_speech_request_names_lexicons_and_brings_entries() -> None:
    """The field takes one name or several; entries are objects, or texts with readings."""
    assert speech().lexicon == speech(lexicon=None).lexicon == speech(lexicon="").lexicon == ()
    assert speech(lexicon="games").lexicon == ("games",)
    assert speech(lexicon=["a", "b"]).lexicon == ("a", "b")
    assert speech(lexicon_entries={"SQL": "sequel"}).lexicon_entries == (ENTRIES[0],)
    assert speech(lexicon_entries=[lexicons.entry_values(entry) for entry in ENTRIES]).lexicon_entries == ENTRIES


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"lexicon": 5}, "lexicon"),
        ({"lexicon": [5]}, "lexicon"),
        ({"lexicon_entries": "a"}, "lexicon_entries"),
        ({"lexicon_entries": [{"text": "a"}]}, "lexicon_entries[0]"),
        ({"lexicon_entries": {"a": 5}}, "lexicon_entries[0]"),
    ],
)
def test_errors_in_a_speech_request_name_the_field(fields: dict[str, Any], param: str) -> None:
    """This agrees with all other fields."""
    with pytest.raises(InvalidRequest) as refused:
        speech(**fields)
    assert refused.value.param == param


def test_the_entries_are_not_in_the_repr() -> None:
    """They are text of the user."""
    assert "sequel" not in repr(speech(lexicon_entries={"SQL": "sequel"}))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "reading", "x"]), inner),
        max_leaves=6,
    )
)
def test_any_json_is_read_or_refused(value: Any) -> None:
    """No exception other than a refusal is raised."""
    for field in ("lexicon", "lexicon_entries"):
        try:
            speech(**{field: value})
        except InvalidRequest as error:
            assert error.param
            assert error.param.startswith(field)


def test_the_entity_tag_of_a_version_is_accepted() -> None:
    """``If-Match`` takes the tag that a response stated."""
    assert lexicons.entity_tag(3) == '"3"'


def test_too_many_entries_are_rejected() -> None:
    """The error names the field and the maximum."""
    body = json.dumps([{"text": "a", "reading": "b"}] * (MAX_ENTRIES + 1)).encode()
    with pytest.raises(InvalidRequest, match="more than") as caught:
        lexicons.parse_lexicon(body, "json")
    assert caught.value.param == "entries"


def test_the_entity_tag_is_the_quoted_version() -> None:
    """``If-Match`` accepts it unchanged."""
    assert lexicons.parse_if_match(lexicons.entity_tag(7)) == 7


def test_too_many_entries_are_refused_before_they_are_read() -> None:
    """No entry is parsed."""
    with pytest.raises(InvalidRequest, match="more than 20,000 entries"):
        lexicons.parse_lexicon(b"[" + b"0," * 20_000 + b"0]", "json")
