"""The format of keys and of their file, the headers that carry a key, and the scopes of paths."""

from __future__ import annotations

import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.wire.keys import (
    CLASSES,
    SCOPES,
    ApiKey,
    digest_of,
    find_key,
    key_missing,
    parse_keys,
    scope_missing,
    shown_key,
    write_keys,
)

KEYS = st.builds(
    ApiKey,
    name=st.from_regex(r"[a-z0-9][a-z0-9_-]{0,10}", fullmatch=True),
    digest=st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
    scopes=st.lists(st.sampled_from(SCOPES), min_size=1, max_size=4).map(tuple),
    default_class=st.none() | st.sampled_from(CLASSES),
    highest_class=st.none() | st.sampled_from(CLASSES),
    weight=st.floats(0.1, 10),
    per_minute=st.none() | st.integers(1, 1000),
    streams=st.none() | st.integers(1, 1000),
    characters=st.none() | st.integers(1, 10**12),
    created=st.just("2026-01-31"),
)


def key_of(shown: str, name: str = "one") -> ApiKey:
    return ApiKey(name, digest_of(shown))


@given(st.lists(KEYS, max_size=5, unique_by=(lambda key: key.name, lambda key: key.digest)))
def test_a_written_file_is_read_back(keys: list[ApiKey]) -> None:
    """The file preserves each record and does not contain the keys themselves."""
    assert parse_keys(write_keys(keys).encode()) == tuple(keys)


@given(
    st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
)
def test_damaged_files_are_refused(data: bytes) -> None:
    """A damaged file raises an error that says so; it is never read as a smaller set of keys."""
    with pytest.raises(InvalidRequest, match="file of keys"):
        parse_keys(data)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Phone"},
        {"name": 1},
        {"sha256": "00"},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"scopes": [1]},
        {"default_class": "urgent"},
        {"highest_class": "urgent"},
        {"weight": 11},
        {"weight": True},
        {"weight": float("nan")},
        {"per_minute": 0},
        {"streams": 1.5},
        {"characters": -1},
        {"minutes": 5},
    ],
)
def test_an_invalid_record_invalidates_the_file(change: dict[str, Any]) -> None:
    """A key must never permit more than was intended, so an unknown limit is refused as well."""
    row = {"name": "one", "sha256": "0" * 64} | change
    with pytest.raises(InvalidRequest, match="file of keys"):
        parse_keys(json.dumps({"version": 1, "keys": [row]}).encode())


def test_names_and_keys_are_unique() -> None:
    """Otherwise the order of the records would decide which of them applies."""
    row = {"name": "one", "sha256": "0" * 64}
    for other in ({"name": "two"}, {"sha256": "1" * 64}):
        with pytest.raises(InvalidRequest, match="file of keys"):
            parse_keys(json.dumps({"version": 1, "keys": [row, row | other]}).encode())


def test_a_key_is_found_by_comparing_all_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """``hmac.compare_digest`` compares each key, including those after the match."""
    keys = [key_of(f"yuliu_{index}", f"k{index}") for index in range(4)]
    compared = []

    def compare(known: str, given: str) -> bool:
        compared.append(known)
        return compare_digest(known, given)

    compare_digest = hmac.compare_digest
    monkeypatch.setattr("yuliu.wire.keys.hmac.compare_digest", compare)
    assert find_key(keys, "yuliu_0") is keys[0]
    assert compared == [key.digest for key in keys]
    assert find_key(keys, "yuliu_") is None
    assert find_key(keys, keys[0].digest) is None  # the file does not hold a set of keys
    assert find_key([], "yuliu_0") is None


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ({"authorization": "Bearer abc"}, "abc"),
        ({"authorization": "bearer   abc "}, "abc"),
        ({"x-api-key": " abc "}, "abc"),
        ({"authorization": "Basic abc", "x-api-key": "def"}, "def"),
        ({"authorization": "Bearer abc", "x-api-key": "def"}, "abc"),
        ({"sec-websocket-protocol": "yuliu, yuliu.key.abc"}, "abc"),
        ({"sec-websocket-protocol": "yuliu"}, None),
        ({"authorization": "Bearer"}, None),
        ({"authorization": "Bearer a b"}, None),
        ({"authorization": "abc"}, None),
        ({"x-api-key": ""}, None),
        ({"x-api-key": "a" * 257}, None),
        ({}, None),
    ],
)
def test_the_key_is_read_from_three_headers(headers: dict[str, str], shown: str | None) -> None:
    """It is never read from the address."""
    assert shown_key(headers) == shown


@given(st.dictionaries(st.sampled_from(["authorization", "x-api-key", "sec-websocket-protocol"]), st.text()))
def test_any_headers_are_read(headers: dict[str, str]) -> None:
    """The result is a key, which may be unknown, or None."""
    shown = shown_key(headers)
    assert shown is None or find_key([key_of("yuliu_")], shown) is None


def test_refusals_state_the_requirement() -> None:
    """They do so in OpenAI's envelope and in the header that belongs to the status."""
    for problem, status, says in [
        (key_missing(was_shown=False), 401, "Bearer KEY"),
        (key_missing(was_shown=True), 401, "revoked"),
        (scope_missing("phrases"), 403, "'phrases'"),
    ]:
        assert problem.status == status
        assert says in problem.message
        assert dict(problem.headers)["WWW-Authenticate"].startswith('Bearer realm="yuliu"')
        assert json.loads(problem.body())["error"]["type"] == "invalid_request_error"
