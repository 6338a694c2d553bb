"""Structs as schemas: decoded values, and errors that name the field and the remedy."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from yuliu.errors import InvalidRequest
from yuliu.wire.faults import must
from yuliu.wire.schema import Schema, convert_toml
from yuliu.wire.strict_json import check_keys, read_json


class Item(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(pattern="^[a-z]+$")]
    size: Annotated[int, Meta(ge=0, le=3)] = 0

    def __post_init__(self) -> None:
        if self.name == "refused":
            raise InvalidRequest("'name' is refused")


class Document(Struct, frozen=True, kw_only=True):
    title: str
    gain: Annotated[float, Meta(ge=1, le=2)] = 1.5
    level: float = 0.0
    count: int = 0
    on: bool = False
    choice: Literal["a", "b"] | None = None
    words: Annotated[list[str] | None, must("a list of words")] = None
    items: list[Item] = []
    inner: Item | None = None
    either: str | Item | None = None
    mapping: dict[str, int] = {}
    pair: tuple[int, int] | None = None


class First(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="first"):
    a: int


class Second(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="second"):
    b: list[int]


DOCUMENT: Schema[Document] = Schema(Document, what="the body")
MESSAGE: Schema[First | Second] = Schema(First | Second, what="the message")
CASES: list[tuple[dict[str, Any], str | None, str]] = [
    ({"title": 1}, "title", "'title' must be a string"),
    ({"gain": 3}, "gain", "'gain' must be a number from 1 to 2"),
    ({"gain": True}, "gain", "'gain' must be a number from 1 to 2"),
    ({"level": "x"}, "level", "'level' must be a number"),
    ({"count": 1.0}, "count", "'count' must be a whole number"),
    ({"on": 1}, "on", "'on' must be true or false"),
    ({"choice": "c"}, "choice", "'choice' must be one of a, b"),
    ({"words": ["a", 1]}, "words", "'words' must be a list of words"),
    ({"items": {}}, "items", "'items' must be a list"),
    ({"items": [5]}, "items[0]", "'items[0]' must be an object of name, size"),
    ({"items": [{"name": "a"}, {}]}, "items[1]", "'items[1]': 'name' is missing; it must be a string that matches"),
    ({"items": [{"name": "A"}]}, "items[0]", "'items[0]': 'name' must be a string that matches ^[a-z]+$"),
    ({"items": [{"name": "a", "x": 1}]}, "items[0]", "'items[0]' has unknown fields; known are name, size"),
    ({"items": [{"name": "a"}, {"name": "refused"}]}, "items[1]", "'items[1]': 'name' is refused"),
    ({"inner": {"name": "a", "size": 4}}, "inner.size", "'inner.size' must be a whole number from 0 to 3"),
    ({"inner": {"name": "a", "x": 1}}, "inner", "'inner' has unknown fields; known are name, size"),
    ({"inner": {"name": "refused"}}, None, "'name' is refused"),
    ({"either": 5}, "either", "'either' must be a string, or an object of name, size"),
    ({"mapping": {"a": "x"}}, "mapping", "'mapping' must be an object"),
    ({"pair": [1, "x"]}, "pair", "'pair' must be a list"),
    ({"title": "\ud800"}, "title", "'title' holds half of a surrogate pair, which is no character"),
    ({"words": ["\ud800"]}, "words", "'words' holds half of a surrogate pair"),
    ({"items": [{"name": "\ud800"}]}, "items[0]", "'items[0]': 'name' holds half of a surrogate pair"),
    ({"ignored": {"\ud800": 1}}, None, "the body holds half of a surrogate pair"),
]


def refusal(read: Any, document: object) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        read(document)
    return caught.value


@pytest.mark.parametrize(("fields", "param", "message"), CASES)
def test_errors_name_the_field_and_the_remedy(fields: dict[str, Any], param: str | None, message: str) -> None:
    """This holds for JSON and for a document that was parsed before."""
    document = {"title": "t", **fields}
    for error in (
        refusal(DOCUMENT.decode, json.dumps(document).encode()),
        refusal(DOCUMENT.decode, json.dumps(document)),
        refusal(DOCUMENT.convert, document),
    ):
        assert error.message.startswith(message)
        assert error.param == param


@pytest.mark.parametrize(
    ("document", "param", "message"),
    [
        ({}, "title", "'title' is missing; it must be a string"),
        ([], None, "the body must be a JSON object"),
        ({"title": "a", "items": [{"name": "refused"}, {"name": 5}]}, "items[0]", "'items[0]': 'name' is refused"),
    ],
)
def test_errors_of_whole_documents(document: Any, param: str | None, message: str) -> None:
    """A field is missing, the document is of another type, or the first of two errors is reported."""
    error = refusal(DOCUMENT.decode, json.dumps(document))
    assert (error.param, error.message) == (param, message)


def test_an_error_in_an_ambiguous_document_reports_the_ambiguity() -> None:
    """Other readers would not see the same item."""
    assert "twice" in refusal(DOCUMENT.decode, '{"title":"a","items":[{"name":"refused"}],"title":"b"}').message


@pytest.mark.parametrize(
    ("document", "param", "message"),
    [
        ({"type": "first", "a": "x"}, "a", "'a' must be a whole number"),
        ({"type": "second", "b": [1, "x"]}, "b", "'b[1]' must be a whole number"),
        ({"type": "second", "b": [], "c": 1}, None, "the message has unknown fields; known are b"),
        ({"type": "third"}, "type", "'type' must be one of first, second"),
        ({"type": ["first"]}, "type", "'type' must be one of first, second"),
        ({"a": 1}, "type", "'type' is missing; it must be one of first, second"),
    ],
)
def test_errors_of_tagged_structs_depend_on_the_tag(document: Any, param: str | None, message: str) -> None:
    """The tag determines the known fields."""
    for error in (refusal(MESSAGE.decode, json.dumps(document)), refusal(MESSAGE.convert, document)):
        assert (error.param, error.message) == (param, message)


def test_the_position_in_a_larger_document_precedes_the_field() -> None:
    """Items are converted one by one."""
    items: Schema[Item] = Schema(Item, what="the item")
    with pytest.raises(
        InvalidRequest, match=re.escape("'items[3]': 'size' must be a whole number from 0 to 3")
    ) as caught:
        items.convert({"name": "a", "size": 9}, at=("items", 3))
    assert caught.value.param == "items[3]"
    with pytest.raises(InvalidRequest, match=re.escape("'items[3]': 'name' is refused")):
        items.convert({"name": "refused"}, at=("items", 3))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "title is missing; it must be a string"),
        ({"title": "t", "gain": float("nan")}, "gain must be a number from 1 to 2"),
        ({"title": "t", "on": "yes"}, "on must be true or false"),
        ({"title": "t", "inner": []}, "inner must be a table of name, size"),
        ({"title": "t", "inner": {"name": "a", "nmae": "b"}}, "inner.nmae is not known; known here: name, size"),
        ({"title": "t", "items": [{"name": "a"}, {}]}, "items[1].name is missing; it must be a string that matches"),
        ({"title": "t", "items": [{"name": "a", "size": True}]}, "items[0].size must be a whole number from 0 to 3"),
    ],
)
def test_errors_of_toml_name_the_file_and_the_key(values: dict[str, Any], message: str) -> None:
    """The key is the whole path from the top of the file."""
    with pytest.raises(InvalidRequest, match=re.escape(f"a.toml: {message}")) as caught:
        convert_toml(values, Document, where="a.toml: ")
    assert caught.value.param == message.split()[0]


def test_toml_tables_are_read() -> None:
    """Absent keys get defaults; a scalar may be read by itself."""
    found = convert_toml({"title": "t", "items": [{"name": "a"}]}, Document, where="a.toml: ")
    assert found == Document(title="t", items=[Item("a")])
    with pytest.raises(InvalidRequest, match=re.escape("a.toml: parts.zh must be a string")):
        convert_toml(5, str, where="a.toml: ", at=("parts", "zh"))
    with pytest.raises(InvalidRequest, match=re.escape("a.toml: sources.box.a must be a whole number")):
        convert_toml({"type": "first", "a": "x"}, First | Second, where="a.toml: ", at=("sources", "box"))


KEYS = st.sampled_from(["a", "b", "c:d", 'e"', "f\\", "é"])
VALUES = st.recursive(
    st.none() | st.integers(0, 9) | st.sampled_from(['": "', "a:b", "\\", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(KEYS, inner), max_size=3),
    max_leaves=8,
)


def written(value: object) -> str:
    """Write JSON in which a list of pairs is an object that may repeat its keys."""
    if isinstance(value, list) and value and all(isinstance(each, tuple) for each in value):
        return "{" + ", ".join(f"{json.dumps(key)} : {written(each)}" for key, each in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4))
def test_repeated_keys_are_found_as_by_a_reference_reader(pairs: list[tuple[str, object]]) -> None:
    """Keys and texts may hold colons, quotes and backslashes."""
    text = written(pairs)

    def refuses(check: Any) -> bool:
        try:
            check()
        except InvalidRequest:
            return True
        return False

    slow = refuses(lambda: read_json(text, what="it"))
    assert refuses(lambda: check_keys(text, what="it", known=())) == slow
    assert refuses(lambda: check_keys(text.encode(), what="it", known=("a",))) == slow
