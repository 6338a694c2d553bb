"""Upgrade requests, and ambiguous framing."""

from __future__ import annotations

import itertools
import shutil
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import read_answer, receive_all, running_server, short_answer, speech_bytes, unchunked

from yuliu.server.transport.http import MAX_UPGRADE_LINE_BYTES, MAX_UPGRADE_LINES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Running

SPEECH = speech_bytes(input="你好，hello.", response_format="pcm")
H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n"
WEBSOCKET = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
STREAM = b"POST /v1/stream?format=pcm HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server shared by the tests of this file."""
    with running_server() as server:
        yield server


def asking(request: bytes, headers: bytes = H2C) -> bytes:
    """A request that asks for an upgrade."""
    return request.replace(b"\r\n", b"\r\n" + headers, 1)


def answer_to(running: Running, request: bytes) -> bytes:
    with running.connect() as raw:
        raw.sendall(request)
        return receive_all(raw)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, len(asking(SPEECH))), max_size=4), st.booleans())
def test_a_request_that_asks_for_http_2_is_served(running: Running, cuts: list[int], chunked: bool) -> None:
    """A request to upgrade to HTTP/2 is served as HTTP/1.1."""
    head, _, body = asking(SPEECH).partition(b"\r\n\r\n")
    if chunked:
        head = head.replace(f"Content-Length: {len(body)}".encode(), b"Transfer-Encoding: chunked")
        body = b"5\r\n" + body[:5] + f"\r\n{len(body) - 5:x}\r\n".encode() + body[5:] + b"\r\n0\r\n\r\n"
    request = head + b"\r\n\r\n" + body
    at = [0, *sorted(min(cut, len(request)) for cut in cuts), len(request)]
    with running.connect() as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, end in itertools.pairwise(at):
            raw.sendall(request[start:end])
        sound = unchunked(read_answer(raw))
        raw.sendall(asking(HEALTH))
        assert short_answer(raw).endswith(b'{"status":"alive"}')
    assert sound == running.speech(input="你好，hello.", response_format="pcm").content


def test_a_request_after_a_body_is_separate(running: Running) -> None:
    """Pipelined requests are separated from bodies."""
    hidden = b"GET /nothing-of-the-kind HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request = asking(head + f"Content-Length: {len(hidden)}\r\n\r\n".encode() + hidden)
    last = HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    answer = answer_to(running, request + asking(HEALTH) + last)
    assert answer.count(b"HTTP/1.1 ") == 3
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"not_found" not in answer
    assert answer.count(b'{"status":"alive"}') == 2


@pytest.mark.parametrize("extra", [b"Content-Length: 5\r\n\r\nabcde", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
@pytest.mark.parametrize("before", [b"", HEALTH])
def test_a_handshake_with_a_body_is_refused(running: Running, extra: bytes, before: bytes) -> None:
    """A handshake with a body is answered on new and used connections."""
    with running.connect() as raw:
        if before:
            raw.sendall(before)
            assert short_answer(raw).endswith(b'{"status":"alive"}')
        raw.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n" + WEBSOCKET + extra)
        assert receive_all(raw).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("method", [b"POST", b"PUT", b"HEAD", b"OPTIONS"])
def test_a_handshake_is_a_get(running: Running, method: bytes) -> None:
    """A handshake with another method is refused."""
    request = method + b" /v1/stream HTTP/1.1\r\nHost: localhost\r\n" + WEBSOCKET + b"\r\n"
    assert answer_to(running, request).startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"Content-Length: 3, 3\r\n\r\nabc",
        b"Content-Length: +3\r\n\r\nabc",
        b"Content-Length : 3\r\n\r\nabc",
        b"Content-Length: 3\n\r\nabc",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        b"X: a\r\n b\r\nContent-Length: 3\r\n\r\nabc",
        b"Host: localhost\r\nContent-Length: 3\r\n\r\nabc",
        b"Host: evil.example\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
@pytest.mark.parametrize("upgrade", [b"", H2C])
def test_ambiguous_framing_is_refused(running: Running, framing: bytes, upgrade: bytes) -> None:
    """Ambiguous framing is refused, and nothing after it is a request."""
    answer = answer_to(running, STREAM + upgrade + framing + HEALTH)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert b"alive" not in answer
    assert running.synthesizer.num_streams == 0


JAVA = """
import java.net.URI;
import java.net.http.*;
class Ask {
  public static void main(String[] given) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    String body = "{\\"input\\":\\"hello\\",\\"response_format\\":\\"pcm\\"}";
    for (int turn = 0; turn < 2; turn++) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(given[0] + "/v1/audio/speech"))
        .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body)).build();
      HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
      System.out.println(answer.statusCode() + " " + answer.body().length);
    }
  }
}
"""


@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a Java development kit")
def test_javas_client_is_served(running: Running, tmp_path: Path) -> None:
    """Java's client, which asks for HTTP/2, is served twice on one connection."""
    source = tmp_path / "Ask.java"
    source.write_text(JAVA, encoding="utf-8")
    command = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", str(source), running.url]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    num_bytes = len(running.speech(input="hello", response_format="pcm").content)
    assert finished.stdout.split() == ["200", str(num_bytes)] * 2


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_that_asks_for_http_2_is_served(running: Running) -> None:
    """curl with HTTP/2 and a body is served."""
    body = '{"input":"hello","response_format":"pcm"}'
    headers = ["-H", "Content-Type: application/json", "-d", body]
    command = ["curl", "-sS", "--http2", "--max-time", "20", *headers, f"{running.url}/v1/audio/speech"]
    finished = subprocess.run(command, capture_output=True, check=True)
    assert finished.stdout == running.speech(input="hello", response_format="pcm").content


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        (b"X-Long: " + b"x" * (MAX_UPGRADE_LINE_BYTES - 10) + b"\r\n", b"101"),
        (b"X-Long: " + b"x" * (MAX_UPGRADE_LINE_BYTES - 9) + b"\r\n", b"431"),
        (b"X: a\r\n" * (MAX_UPGRADE_LINES - 5), b"101"),
        (b"X: a\r\n" * (MAX_UPGRADE_LINES - 4), b"431"),
    ],
)
@pytest.mark.parametrize("before", [b"", HEALTH])
def test_a_handshake_too_large_is_refused(running: Running, extra: bytes, status: bytes, before: bytes) -> None:
    """A too large handshake is answered on new and used connections."""
    with running.connect() as raw:
        if before:
            raw.sendall(before)
            assert short_answer(raw).endswith(b'{"status":"alive"}')
        raw.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n" + WEBSOCKET + extra + b"\r\n")
        assert short_answer(raw).startswith(b"HTTP/1.1 " + status)
