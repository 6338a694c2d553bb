"""``POST /v1/stream`` on a real socket: the answer begins before the request is whole."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from native import LONG, TEXT, pcm_of
from serving import receive_all, running_server, unchunked

from yuliu.server.limits import Limits

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from serving import Running

HEAD = (
    "POST /v1/stream{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n"
    "Connection: close\r\n\r\n"
)


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def begin(running: Running, kind: str = "text/plain", query: str = "") -> socket.socket:
    raw = running.connect()
    raw.sendall(HEAD.format(query, kind).encode())
    return raw


def push(raw: socket.socket, data: bytes) -> None:
    raw.sendall(b"%x\r\n%s\r\n" % (len(data), data))


def test_sound_comes_while_text_is_still_being_sent(running: Running) -> None:
    """The first audio arrives before the body has ended, and in the end all of it."""
    raw = begin(running, query="?chunking=punctuation")
    push(raw, "One sentence, and another. 你好，世".encode()[:-2])
    answer = b""
    while answer.count(b"\r\n") < 12 or not answer.partition(b"\r\n\r\n")[2]:
        answer += raw.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"content-type: audio/pcm\r\n" in answer
    push(raw, "世界。".encode()[1:])
    push(raw, b"")
    answer += receive_all(raw)
    first, sound = pcm_of(running, "One sentence, and another."), unchunked(answer)
    assert sound.startswith(first)
    assert len(sound) > len(first) + 4 * 4_800  # four characters more, however the waiting cut them


def test_messages_in_lines(running: Running) -> None:
    """A body of messages sets options, flushes and ends."""
    raw = begin(running, "application/x-ndjson")
    lines: list[dict[str, object]] = [
        {"type": "start", "format": "wav"},
        {"type": "text", "text": "One."},
        {"type": "flush"},
    ]
    push(raw, "".join(json.dumps(line) + "\n" for line in lines).encode())
    answer = raw.recv(65_536)
    while b"data" not in answer:
        answer += raw.recv(65_536)
    push(raw, b'{"type":"text","text":"Two."}\n{"type":"end"}\n')
    answer += receive_all(raw)  # the body itself has not ended
    assert b"content-type: audio/wav\r\n" in answer
    wav = unchunked(answer)
    assert wav[:4] == b"RIFF"
    assert wav[44:].startswith(pcm_of(running, "One."))
    assert wav.endswith(pcm_of(running, "Two."))


def test_a_client_that_sends_all_before_it_reads(running: Running) -> None:
    """A client such as httpx gets the whole audio as well."""
    answer = running.client.post(
        "/v1/stream?voice=tone&speed=1",
        content=(piece.encode() for piece in TEXT),
        headers={"Content-Type": "text/plain"},
    )
    assert answer.status_code == 200
    assert answer.content == pcm_of(running, TEXT)
    assert answer.headers["x-sample-rate"] == "24000"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")
def test_curl_hears_while_it_sends(running: Running) -> None:
    """curl reads its input and the response at the same time."""
    url = f"{running.url}/v1/stream?chunking=punctuation"
    command = ["curl", "-sSN", "-T", ".", "-X", "POST", "-H", "Content-Type: text/plain", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as curl:
        assert curl.stdin
        assert curl.stdout
        curl.stdin.write(b"One sentence, and another. More")
        curl.stdin.flush()
        first = curl.stdout.read(1_000)
        curl.stdin.write(b" of it.")
        curl.stdin.close()
        assert (first + curl.stdout.read()).startswith(pcm_of(running, "One sentence, and another."))


@pytest.mark.parametrize(
    ("query", "kind", "body", "status", "code"),
    [
        ("?voice=nobody", "text/plain", b"x", 400, "unknown_voice"),
        ("?speed=fast", "text/plain", b"x", 400, "invalid_request"),
        ("?unheard=of", "text/plain", b"x", 400, "invalid_request"),
        ("", "application/json", b"{}", 400, "invalid_request"),
        ("", "text/plain", b"\xff", 400, "invalid_request"),
        ("", "text/plain", b"", 400, "nothing_to_speak"),
        ("", "text/plain", b"...", 400, "nothing_to_speak"),
        ("", "application/x-ndjson", b"{}", 400, "invalid_request"),
        ("", "text/plain", b"x" * 200_001, 400, "invalid_request"),
    ],
)
def test_an_early_error_has_its_status(
    running: Running, query: str, kind: str, body: bytes, status: int, code: str
) -> None:
    """Before any audio an error has its status."""
    answer = running.client.post(f"/v1/stream{query}", content=body, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_a_late_failure_cuts_the_response_off() -> None:
    """The response lacks its end, so that no client takes a part for the whole."""
    with running_server(fail_steps=frozenset({2, 3})) as running:
        raw = begin(running, query="?chunking=punctuation")
        push(raw, LONG.encode())
        push(raw, b"")
        answer = receive_all(raw)
        assert answer.startswith(b"HTTP/1.1 200")
        assert not answer.endswith(b"0\r\n\r\n")


def test_other_pages_are_refused(running: Running) -> None:
    """A browser may send plain text to any server without a preflight."""
    headers = {"Content-Type": "text/plain", "Origin": "https://evil.example"}
    answer = running.client.post("/v1/stream", content=b"x", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_not_allowed")


def test_a_client_that_leaves_ends_its_stream(running: Running) -> None:
    """A client that leaves amid its text ends its stream, before and after audio."""
    for wait in (False, True):
        raw = begin(running)
        push(raw, LONG.encode())
        if wait:
            assert raw.recv(1_000)
        else:
            running.wait_until(lambda: running.synthesizer.num_streams == 1)
        raw.close()
        running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_a_writer_may_take_its_time() -> None:
    """A streamed body may take longer than the time for other requests."""
    with running_server(Limits(request_s=0.1)) as running:
        raw = begin(running)
        push(raw, b"One sentence, and another. More")
        raw.recv(65_536)
        late = running.connect()
        late.sendall(b"POST")
        assert b" 408 " in receive_all(late)  # so long it took
        push(raw, b" of it.")
        push(raw, b"")
        assert receive_all(raw).endswith(b"0\r\n\r\n")
