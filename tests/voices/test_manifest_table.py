"""Tests of tables of TOML: values, limits and error messages that name the file and the key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from yuliu.errors import InvalidRequest
from yuliu.voices.table import TomlTable

if TYPE_CHECKING:
    from collections.abc import Callable

WORD = re.compile("[a-z]+")


def table(**values: object) -> TomlTable:
    return TomlTable(values, "a.toml")


def test_values_within_their_limits_are_returned() -> None:
    """A default stands for a missing key."""
    found = table(name="ab", size=3, gain=1.5, on=True, langs=["zh", "en"])
    assert (found.has("name"), found.has("other")) == (True, False)
    assert (found.text("name"), found.text("name", pattern=WORD), found.text("x", default="-")) == ("ab", "ab", "-")
    assert found.integer("size", low=0, high=3) == 3
    assert found.number("gain", low=0, high=2, default=0.0) == 1.5
    assert found.number("y", low=0, high=2, default=0.5) == 0.5
    assert found.flag("on") is True
    assert found.texts("langs", pattern=WORD) == ("zh", "en")
    found.finish()


@pytest.mark.parametrize(
    ("read", "values", "message"),
    [
        (lambda t: t.text("k"), {}, "k is missing: a string is needed"),
        (lambda t: t.text("k"), {"k": 1}, "k must be a string"),
        (lambda t: t.text("k"), {"k": ""}, "k must be a string of 1 to 2000 printable characters"),
        (lambda t: t.text("k"), {"k": "a\nb"}, "k must be a string of 1 to 2000 printable characters"),
        (lambda t: t.text("k", pattern=WORD), {"k": "A"}, "k must match [a-z]+"),
        (lambda t: t.integer("k", low=1, high=2), {"k": 3}, "k must be a whole number from 1 to 2"),
        (lambda t: t.integer("k", low=1, high=2), {"k": True}, "k must be a whole number from 1 to 2"),
        (lambda t: t.number("k", low=1, high=2, default=1), {"k": 0.5}, "k must be a number from 1 to 2"),
        (lambda t: t.flag("k"), {"k": 1}, "k must be true or false"),
        (lambda t: t.texts("k", pattern=WORD), {"k": []}, "k must be a list of 1 to 64 different strings"),
        (lambda t: t.texts("k", pattern=WORD), {"k": ["a", "a"]}, "k must be a list of 1 to 64 different strings"),
        (lambda t: t.texts("k", pattern=WORD), {"k": ["a", 1]}, "k must be a list of 1 to 64 different strings"),
        (lambda t: t.table("k"), {"k": []}, "k must be a table"),
        (lambda t: t.tables("k", needed=True), {}, "k is missing: an array of tables is needed"),
        (lambda t: t.tables("k", needed=True), {"k": []}, "k must be an array of 1 to 64 tables"),
        (lambda t: t.tables("k", needed=False), {"k": [{}] * 65}, "k must be an array of 1 to 64 tables"),
        (lambda t: t.tables("k", needed=True), {"k": [1]}, "k[0] must be a table"),
    ],
)
def test_invalid_values_are_rejected(
    read: Callable[[TomlTable], object], values: dict[str, object], message: str
) -> None:
    """The message names the file, the key and the accepted values."""
    with pytest.raises(InvalidRequest, match=re.escape(f"a.toml: {message}")) as caught:
        read(table(**values))
    assert caught.value.param == message.split()[0]


def test_inner_tables_have_a_path() -> None:
    """Tables and arrays of tables can be nested."""
    outer = table(inner={"deep": {}, "files": [{"size": "x"}]}, files=[{"name": "a"}, {}])
    assert outer.tables("none", needed=False) == []
    first, second = outer.tables("files", needed=True)
    assert first.text("name") == "a"
    with pytest.raises(InvalidRequest, match=re.escape("a.toml: files[1].name is missing")):
        second.text("name")
    inner = outer.table("inner")
    with pytest.raises(InvalidRequest, match=re.escape("a.toml: inner.deep.name is missing")):
        inner.table("deep").text("name")
    (file,) = inner.tables("files", needed=True)
    with pytest.raises(InvalidRequest, match=re.escape("a.toml: inner.files[0].size must be a whole number")):
        file.integer("size", low=0, high=1)
    outer.finish()


def test_an_unknown_key_is_rejected() -> None:
    """The message lists the known keys; reading all names accepts every key."""
    found = table(name="a", nmae="b")
    found.text("name")
    with pytest.raises(InvalidRequest, match="nmae is not known; known here: name"):
        found.finish()
    assert found.names() == ("name", "nmae")
    found.finish()
