"""Any request at any path is answered in the envelope, never with a 500."""

from __future__ import annotations

import itertools
import json
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import Running, receive_all, running_server

from yuliu.lexicon_store import LexiconStore
from yuliu.server.routes import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

PATHS = [route.path for route in ROUTES]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"]
KINDS = ["application/json", "text/plain", "application/x-ndjson", "text/tab-separated-values", "application/pls+xml"]
FIELDS = (
    *("input", "model", "voice", "response_format", "speed", "stream_format", "sample_rate", "channels", "kbps"),
    *("lexicon", "lexicon_entries", "preset", "class", "chunking", "max_lead_s", "weight", "lead_in_ms", "seed"),
    *("phrases", "stream", "kind", "entries", "text", "reading", "alphabet", "lang", "stage", "where", "match_case"),
    *("type", "context", "format", "instructions", "language"),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 50_000),
        st.sampled_from([2**31, 2**63, 2**64, 10**400, 1e308, -0.0, 0.25, 0.1, "Infinity"]),
        st.sampled_from(
            ["", "hello", "你好。", "tone", "wav", "mp3", "zh", "click", "start", "text", "end", "sentence"]
        ),
        st.text(max_size=6),
        st.text(st.characters(categories=["Cs", "Cc", "Co"]), max_size=2),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=4,
)
OBJECTS = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5)
LINES = st.lists(OBJECTS.map(json.dumps), max_size=4).map(lambda lines: "\n".join(lines).encode())
BODIES = st.one_of(
    st.binary(max_size=60),
    OBJECTS.map(lambda value: json.dumps(value).encode()),
    OBJECTS.map(lambda value: json.dumps({"input": "hello", **value}).encode()),
    OBJECTS.map(lambda value: json.dumps({"phrases": ["hello"], **value}).encode()),
    LINES,
    LINES.map(lambda lines: b'{"type": "start"}\n{"type": "text", "text": "hello. "}\n' + lines),
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
)
QUERIES = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), st.text(max_size=8), max_size=3)
HEADERS = st.dictionaries(
    st.sampled_from(["X-Yuliu-Class", "X-Yuliu-Weight", "X-Request-Id", "traceparent", "Accept", "If-Match"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=20),
    max_size=3,
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with lexicons of its own."""
    with running_server(app={"lexicons": LexiconStore(tmp_path_factory.mktemp("lexicons"))}) as server:
        yield server


def request(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{lines}{length}".encode("latin-1") + body


def assert_answered(answer: bytes, *, head_only: bool) -> None:
    """Check that the response is HTTP with a status below 500 and a reason."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert 200 <= status < 500, answer
    assert b"x-request-id: " in head.lower(), head
    if status >= 400 and not head_only:
        assert json.loads(body)["error"]["code"]


ODD: list[Any] = ["", [], {}, [[]], {"a": []}, [{}], 10**400, 1e308, -1, 0, True, "\ud800", "\x00", "a" * 300, [None]]
READING = ["POST /v1/audio/speech", "POST /v1/stream", "POST /v1/phrases", "PUT /v1/lexicons/tone", "POST /v1/feedback"]
SETTINGS = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SETTINGS
@given(
    st.sampled_from(METHODS),
    st.sampled_from(PATHS) | st.text(max_size=12).map(lambda text: f"/{text}"),
    st.text(max_size=6),
    QUERIES,
    HEADERS,
    st.sampled_from(KINDS) | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12),
    BODIES,
    st.lists(st.integers(0, 400), max_size=4),
)
def test_any_request_is_answered(
    running: Running,
    method: str,
    route: str,
    name: str,
    query: dict[str, str],
    headers: dict[str, str],
    kind: str,
    body: bytes,
    cuts: list[int],
) -> None:
    """Requests are answered however their bytes are cut."""
    path = quote(route, safe="/{}:").replace("{name}", quote(name)).replace("{text:path}", quote(name))
    asked = "&".join(f"{quote(key)}={quote(value)}" for key, value in query.items())
    whole = request(method, f"{path}?{asked}", {**headers, "Content-Type": kind}, body)
    with running.connect() as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        at = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
        was_closed = False
        try:
            for start, end in itertools.pairwise(at):
                raw.sendall(whole[start:end])
        except ConnectionError:
            was_closed = True  # it was answered before the body was whole, which was then not read
        answer = receive_all(raw)
        if answer or not was_closed:
            assert_answered(answer, head_only=method == "HEAD")


@SETTINGS
@given(
    st.sampled_from(["POST /v1/audio/speech", "POST /v1/stream", "POST /v1/phrases", "PUT /v1/lexicons/tone"]), BODIES
)
def test_any_body_is_answered_where_bodies_are_read(running: Running, where: str, body: bytes) -> None:
    """Any body of an accepted type is answered."""
    method, path = where.split()
    kinds = KINDS[1:3] if path == "/v1/stream" else KINDS[:1] if path != "/v1/lexicons/tone" else [KINDS[0], *KINDS[3:]]
    for kind in kinds:
        with running.connect() as raw:
            raw.sendall(request(method, path, {"Content-Type": kind}, body))
            assert_answered(receive_all(raw), head_only=False)


@pytest.mark.parametrize("field", FIELDS)
def test_any_odd_value_of_any_field_is_answered(running: Running, field: str) -> None:
    """One odd value among valid fields is accepted or answered with 400 on each endpoint."""
    for value in ODD:
        speech = json.dumps({"input": "hello", field: value})
        start = json.dumps({"type": "start", field: value}) + '\n{"type": "text", "text": "hello"}'
        entry = json.dumps([{"text": "a", "reading": "b", field: value}])
        for where, kind, body in (
            ("POST /v1/audio/speech", "application/json", speech),
            ("POST /v1/stream", "application/x-ndjson", start),
            ("POST /v1/phrases", "application/json", json.dumps({"phrases": ["hello"], field: value})),
            ("PUT /v1/lexicons/tone", "application/json", entry),
            ("POST /v1/feedback", "application/json", json.dumps({"stream": "a", "kind": "click", field: value})),
        ):
            method, path = where.split()
            answer = running.client.request(method, path, content=body, headers={"Content-Type": kind})
            assert answer.status_code in (200, 400), (where, value)


def test_nothing_of_it_is_left(running: Running) -> None:
    """No stream is left, and the server still speaks."""
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert running.speech(input="hello").status_code == 200
