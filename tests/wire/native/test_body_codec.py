"""Bodies that are spoken while they arrive: their meaning does not depend on the cuts between pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.wire.native.body_codec import Body, start_of_query
from yuliu.wire.native.messages import Config, End, Flush, Start, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterable

LINES = [
    {"type": "start", "voice": "one", "format": "wav"},
    {"type": "text", "text": "你好，"},
    {"type": "flush"},
    {"type": "config", "speed": 2},
    {"type": "text", "text": "world\n🙂"},
]


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def joined(found: list[object]) -> list[object]:
    """Return the messages with consecutive texts joined."""
    result: list[object] = []
    for each in found:
        if isinstance(each, TextDelta) and result and isinstance(result[-1], TextDelta):
            result[-1] = TextDelta(each.context, result[-1].text + each.text)
        else:
            result.append(each)
    return result


def read(kind: str, pieces: list[bytes], **query: object) -> list[object]:
    body = Body(kind, query)
    found: list[object] = [message for piece in pieces for message in body.push(piece)]
    return joined(found + list(body.finish()))


@given(st.lists(st.integers(0, 500), max_size=12))
def test_lines_cut_anywhere_give_the_same_messages(places: list[int]) -> None:
    """The start comes first, then the messages, then the end."""
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in LINES).encode()
    start, *rest = read("application/x-ndjson", cut(data, places), speed=1.5)
    assert isinstance(start, Start)
    assert (start.voice, start.sound.format, start.speed) == ("one", "wav", 1.5)
    assert rest == [
        TextDelta("body", "你好，"),
        Flush("body"),
        Config("body", 2.0),
        TextDelta("body", "world\n🙂"),
        End("body"),
    ]


@given(st.text(), st.lists(st.integers(0, 500), max_size=12))
def test_text_cut_anywhere_gives_the_same_text(text: str, places: list[int]) -> None:
    """Divided characters are joined; a byte order mark at the beginning is not part of the text."""
    wanted = text.removeprefix("\ufeff")
    start, *rest = read("text/plain; charset=utf-8", cut(text.encode(), places), voice="two")
    assert isinstance(start, Start)
    assert start.voice == "two"
    assert rest == [*([TextDelta("body", wanted)] if wanted else []), End("body")]


@given(st.sampled_from(["text/plain", "application/x-ndjson"]), st.binary(), st.lists(st.integers(0, 99), max_size=5))
def test_any_bytes_give_messages_or_an_error(kind: str, data: bytes, places: list[int]) -> None:
    """The error is one of the client."""
    try:
        found = read(kind, cut(data, places))
    except InvalidRequest:
        return
    assert isinstance(found[0], Start)
    assert isinstance(found[-1], End)


def test_the_end_may_be_explicit() -> None:
    """It is not reported twice."""
    assert read("application/x-ndjson", [b'{"type":"end"}'])[1:] == [End("body")]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "cancel"},
        {"type": "text", "text": "x", "context": "a"},
        {"type": "text"},
        {"type": "ping"},
        {"type": "text", "text": "x" * 131_073},
    ],
)
def test_other_lines_are_refused(line: dict[str, str]) -> None:
    """Messages that a body cannot carry are an error."""
    body = Body("application/x-ndjson", {})
    with pytest.raises(InvalidRequest):
        body.push(json.dumps(line).encode())
        body.push(b"\n")


def test_start_must_be_first() -> None:
    """It is refused after any other message."""
    body = Body("application/x-ndjson", {})
    body.push(b'{"type":"flush"}\n')
    with pytest.raises(InvalidRequest, match="first line"):
        body.push(b'{"type":"start"}\n')


def test_queries_hold_the_fields_of_start() -> None:
    """Numbers are converted, other values stay as they are, and unknown ones are dropped."""
    assert start_of_query({"speed": "1.5", "seed": "7", "preset": "api"}) == {"speed": 1.5, "seed": 7, "preset": "api"}
    for query in ({"speed": "fast"}, {"context": "a"}, {"unheard": "of"}):
        with pytest.raises(InvalidRequest):
            start_of_query(query)


@pytest.mark.parametrize("content_type", [None, "application/octet-stream", "text/html"])
def test_a_body_of_another_type_is_rejected(content_type: str | None) -> None:
    """The error names the accepted types."""
    with pytest.raises(InvalidRequest, match="send the text as") as caught:
        Body(content_type, {})
    assert caught.value.param == "Content-Type"


def test_unsupported_types_of_bodies_are_refused() -> None:
    """The message names the supported types."""
    with pytest.raises(InvalidRequest, match="text/plain"):
        Body("application/json", {})
