"""Bytes on the wire that no client library would send."""

from __future__ import annotations

import contextlib
import itertools
import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import receive_all, running_server, short_answer, speech_bytes, unchunked

from yuliu.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

REQUEST = speech_bytes(input="你好，hello.", response_format="pcm")


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server shared by the tests of this file."""
    with running_server() as server:
        yield server


def answer_to(running: Running, pieces: list[bytes]) -> bytes:
    """Return the server's response to bytes sent in pieces."""
    with running.connect() as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            raw.sendall(piece)
        return receive_all(raw)


@given(st.lists(st.integers(0, len(REQUEST)), max_size=12))
@settings(deadline=None)
def test_a_request_may_come_in_any_pieces(running: Running, cuts: list[int]) -> None:
    """The audio is the same however the request is cut."""
    request = REQUEST.replace(b"Host", b"Connection: close\r\nHost", 1)
    at = sorted({0, len(request), *cuts})
    pieces = [request[start:end] for start, end in itertools.pairwise(at)]
    whole = running.speech(input="你好，hello.", response_format="pcm").content
    assert unchunked(answer_to(running, pieces)) == whole


@given(st.integers(0, len(REQUEST)), st.integers(0, 20), st.binary(max_size=20))
@settings(deadline=None)
def test_damaged_requests_leave_the_server_whole(running: Running, at: int, missing: int, inserted: bytes) -> None:
    """Whatever bytes come, the server answers in HTTP or not at all, and serves the next request."""
    damaged = REQUEST[:at] + inserted + REQUEST[at + missing :]
    with running.connect() as raw:
        raw.sendall(damaged)
        raw.shutdown(socket.SHUT_WR)
        answer = receive_all(raw)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
    assert running.speech(input="hi").status_code == 200


@pytest.mark.parametrize(
    "begun", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"hello\r\n\r\n", b"GET / HTTP/9\r\n\r\n"]
)
def test_bytes_that_are_not_http_are_refused_in_the_envelope(running: Running, begun: bytes) -> None:
    """TLS and other protocols on the port get a plain refusal, and the connection is closed."""
    answer = answer_to(running, [begun])
    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"code": "invalid_http"' in answer


@pytest.mark.parametrize("target", ["CONNECT example.com:80", "GET http://[::1", "GET http://a:b:c/"])
@pytest.mark.parametrize("before", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_a_malformed_target_is_refused(
    running: Running, target: str, before: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """A malformed target is the client's error, without a traceback."""
    with running.connect() as raw:
        if before:
            raw.sendall(before)
            assert short_answer(raw).startswith(b"HTTP/1.1 200")
        raw.sendall(f"{target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert short_answer(raw)[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 431"}
        assert raw.recv(65_536) == b""
    assert [record for record in caplog.records if record.name == "asyncio"] == []


@given(st.integers(1, 400), st.integers(90, 4_000), st.sampled_from(["header", "target"]))
@settings(deadline=None, max_examples=30)
def test_a_head_too_large_is_refused_also_if_it_comes_at_once(
    running: Running, number: int, size: int, place: str
) -> None:
    """The limit on heads does not depend on how they are cut."""
    extra = "".join(f"X-{index}: {'a' * size}\r\n" for index in range(number)) if place == "header" else ""
    query = "a" * (number * size) if place == "target" else ""
    head = f"GET /health?{query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{extra}\r\n".encode()
    with running.connect() as raw:
        with contextlib.suppress(OSError):  # the server closes on what it has not read
            raw.sendall(head)
        if len(head) <= Limits().max_head_bytes:
            assert raw.recv(1_000).startswith(b"HTTP/1.1 200")
        elif len(head) > Limits().max_head_bytes + 200:  # spaces and line ends are counted or not
            with contextlib.suppress(ConnectionResetError):
                assert raw.recv(1_000)[:12] in {b"HTTP/1.1 431", b""}


def test_a_websocket_is_not_opened(running: Running) -> None:
    """A handshake on the speech path gets an answer."""
    head = "GET /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    with running.connect() as raw:
        raw.sendall((head + key).encode())
        answer = short_answer(raw)
        assert answer.startswith(b"HTTP/1.1 404")
        assert b"/v1/stream" in answer


def test_a_client_may_wait_to_be_asked_for_its_body(running: Running) -> None:
    """``Expect: 100-continue``, which curl sends with longer texts, is answered before the body is sent."""
    head, _, body = REQUEST.partition(b"\r\n\r\n")
    with running.connect() as raw:
        raw.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert raw.recv(1_000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(body)
        assert raw.recv(1_000).startswith(b"HTTP/1.1 200")
