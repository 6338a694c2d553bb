"""The log of a real process contains neither text nor keys."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest
from native import talking
from program import PROGRAM
from server_program import running_program
from serving import PATIENCE_S
from websockets.exceptions import ConnectionClosed, InvalidHandshake

if TYPE_CHECKING:
    from pathlib import Path

    from server_program import ServerProgram

SECRET = "xylophone"
BAD_KEY = "yuliu_zitherzitherzither"
HEADERS = [
    {"Authorization": f"Bearer {BAD_KEY}"},
    {"X-API-Key": BAD_KEY, "Cookie": f"key={BAD_KEY}", "X-Request-Id": f"{SECRET} {BAD_KEY}"},
    {"Sec-WebSocket-Protocol": f"yuliu, yuliu.key.{BAD_KEY}"},
    {"Origin": f"https://{SECRET}.example"},
    {"Host": f"{SECRET}.example"},
    {},
]
REQUESTS: list[tuple[str, str, bytes, str]] = [
    ("POST", f"/v1/audio/speech?key={BAD_KEY}", json.dumps({"input": SECRET}).encode(), "application/json"),
    ("POST", "/v1/audio/speech", json.dumps({"input": SECRET, "voice": SECRET}).encode(), "application/json"),
    ("POST", "/v1/audio/speech", json.dumps({"input": SECRET, "preset": SECRET}).encode(), "application/json"),
    ("POST", "/v1/audio/speech", SECRET.encode(), "application/json"),
    ("POST", f"/v1/stream?key={BAD_KEY}", SECRET.encode(), "text/plain"),
    ("POST", "/v1/stream", SECRET.encode(), "text/plain"),
    ("POST", "/v1/stream", SECRET.encode(), "application/x-ndjson"),
    ("POST", "/v1/phrases", json.dumps({"phrases": [SECRET]}).encode(), "application/json"),
    ("DELETE", f"/v1/phrases/{SECRET}", b"", ""),
    ("PUT", "/v1/lexicons/tone", json.dumps([{"text": SECRET, "reading": SECRET}]).encode(), "application/json"),
    ("DELETE", f"/v1/lexicons/tone/entries/{SECRET}", b"", ""),
    ("GET", f"/v1/lexicons/{SECRET}", b"", ""),
    ("POST", "/v1/feedback", json.dumps({"stream": "a", "kind": SECRET}).encode(), "application/json"),
    ("GET", f"/v1/models/{SECRET}", b"", ""),
    ("GET", f"/{SECRET}?key={BAD_KEY}", b"", ""),
]
NOT_HTTP = [
    f"GET /{SECRET} HTTP/9\r\n\r\n",
    f"{SECRET}\r\n\r\n",
    f"GET / HTTP/1.1\r\nHost: a\r\nHost: {SECRET}\r\n\r\n",
    f"GET /v1/stream?key={BAD_KEY} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: {SECRET}\r\n\r\n",
    f"GET /v1/stream?key={BAD_KEY} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
]
FRAMES = [
    SECRET,
    json.dumps({"type": "start", "context": "a", "voice": SECRET}),
    json.dumps({"type": SECRET}),
    json.dumps({"type": "start", "context": "a", SECRET: 1}),
    json.dumps({"type": "start", "context": "a"}),
    json.dumps({"type": "text", "context": "a", "text": f"{SECRET}. "}),
    json.dumps({"type": "ping", "id": SECRET}),
    json.dumps({"type": "end", "context": "a"}),
]


def ask_everything(server: ServerProgram, key: str | None) -> None:
    """Send valid and invalid requests to all endpoints, with and without keys."""
    good = [{"Authorization": f"Bearer {key}"}, {"X-API-Key": key}] if key else []
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE_S) as client:
        for headers in [*HEADERS, *good]:
            for method, path, body, kind in REQUESTS:
                with contextlib.suppress(httpx.RemoteProtocolError):  # sound that was cut off
                    client.request(method, path, content=body, headers={**headers, "Content-Type": kind})
    for line in NOT_HTTP:
        with server.connect(line.encode()) as raw:
            assert raw.recv(4_096)
    for shown in (BAD_KEY, key or "none"):
        with (
            contextlib.suppress(InvalidHandshake, ConnectionClosed),
            talking(server.port, query=f"?key={shown}", subprotocols=["yuliu", f"yuliu.key.{shown}"]) as talk,
        ):
            for frame in FRAMES:
                talk.ws.send(frame)
            while not (talk.told("done") or talk.told("pong", None)):
                talk.next()
            talk.ws.send(b"\xff" + SECRET.encode())
            talk.ws.send("x" * 200_000)
            talk.closed()


@pytest.mark.parametrize("log_format", ["line", "json"])
@pytest.mark.parametrize("has_key", [True, False])
@pytest.mark.parametrize("fails", ["-9", "0"])
def test_the_log_has_neither_text_nor_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_format: str, has_key: bool, fails: str
) -> None:
    """The log is clean with and without keys and failures."""
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))
    key = None
    if has_key:
        scopes = [word for each in ("speak", "phrases", "lexicons") for word in ("--scope", each)]
        command = [sys.executable, str(PROGRAM), "keys", "add", "phone", *scopes]
        key = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    with running_program("--log-format", log_format, "--drain-s", "1", TONE_FAIL_STEP=fails) as server:
        ask_everything(server, key)
        server.process.send_signal(signal.SIGTERM)
        server.read_to_the_end()
    log = server.log.lower()
    assert "speech" in log
    assert ("key=phone" in log or '"key": "phone"' in log) == has_key
    for told in (SECRET, BAD_KEY.lower(), (key or "none-of-this").lower(), "zither"):
        assert told not in log, [line for line in log.splitlines() if told in line]
