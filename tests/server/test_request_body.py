"""Too large and incomplete bodies on every path that reads one."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

import pytest
from serving import receive_all, running_server

from yuliu.lexicon_store import LexiconStore
from yuliu.wire.feedback import MAX_BODY_BYTES as MAX_FEEDBACK
from yuliu.wire.lexicons import MAX_BODY_BYTES as MAX_LEXICON
from yuliu.wire.openai import SpeechLimits
from yuliu.wire.phrases import MAX_BODY_BYTES as MAX_PHRASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Running

PATHS = {
    "POST /v1/audio/speech": SpeechLimits().max_body_bytes,
    "POST /v1/phrases": MAX_PHRASES,
    "POST /v1/feedback": MAX_FEEDBACK,
    "PUT /v1/lexicons/tone": MAX_LEXICON,
    "POST /v1/lexicons/tone/entries": MAX_LEXICON,
}
"""Maximum number of bytes read of a body, by path."""
HEAD = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A server with lexicons of its own."""
    with running_server(app={"lexicons": LexiconStore(tmp_path)}) as server:
        yield server


def test_every_path_that_takes_a_body_is_here() -> None:
    """Every path with a body is covered; streamed bodies are tested elsewhere."""
    with running_server() as running:
        routes = running.client.get("/nothing").json()["error"]["message"].partition("served are ")[2].split(", ")
        taking = set()
        for path in routes:
            for method in ("POST", "PUT", "PATCH"):
                answer = running.client.request(method, path.replace("{name}", "tone").replace("{text:path}", "a"))
                if answer.status_code != 405:
                    taking.add(f"{method} {path}")
    assert {each.replace("{name}", "tone") for each in taking} == {*PATHS, "POST /v1/stream"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("declared", [True, False])
def test_a_body_too_large_is_not_read(running: Running, path: str, declared: bool) -> None:
    """The error has the limit; declared sizes are refused before reading."""
    limit = PATHS[path]
    with running.connect() as raw:
        framing = f"Content-Length: {limit + 1}\r\n\r\n" if declared else "Transfer-Encoding: chunked\r\n\r\n"
        raw.sendall((path + HEAD + framing).encode())
        if not declared:
            raw.sendall(f"{limit + 1:x}\r\n".encode() + b" " * (limit + 1) + b"\r\n")
        answer = receive_all(raw)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code": "body_too_large"' in answer
    assert str(limit).encode() in answer


@pytest.mark.parametrize("path", PATHS)
def test_a_client_gone_amid_its_body_leaves_nothing(
    running: Running, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No task, no log line and no change is left."""
    caplog.set_level(logging.WARNING)
    assert running.client.get("/health").status_code == 200
    before = running.server.num_tasks
    for reset in (False, True):
        raw = running.connect()
        raw.sendall((path + HEAD + "Content-Length: 100\r\n\r\n{").encode())
        running.wait_until(lambda: running.server.num_tasks > before)
        if reset:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        raw.close()
        running.wait_until(lambda: running.server.num_tasks == before)
    assert caplog.records == []
    assert running.client.get("/v1/lexicons/tone").status_code == 404
    assert running.client.get("/v1/phrases").json() == {"phrases": []}
    assert running.engine.num_plans == 0


@pytest.mark.parametrize("path", PATHS)
def test_a_wrong_length_affects_its_connection_only(running: Running, path: str) -> None:
    """Wrong lengths affect only their own connection."""
    with running.connect() as raw:
        raw.sendall(
            (path + HEAD.replace("close", "keep-alive") + "Content-Length: 1\r\n\r\n{}garbage\r\n\r\n").encode()
        )
        answer = receive_all(raw)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert running.speech(input="hello").status_code == 200
