"""The Host check, which refuses DNS rebinding."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from native import talking
from serving import running_server, tone_synthesizer
from websockets.exceptions import InvalidStatus

from yuliu.engines.tone import ToneEngine
from yuliu.server.app import create_app
from yuliu.server.config import AppConfig
from yuliu.server.routes import ROUTES

PATHS = [route.path for route in ROUTES]
PROGRAM = Path(__file__).parents[1] / "support" / "tone_cli.py"


def test_a_rebound_name_is_refused() -> None:
    """A rebound name is refused on every path."""
    with running_server() as running:
        name = f"evil.example:{running.port}"
        page = {"Host": name, "Origin": f"http://{name}", "Content-Type": "application/json"}
        for headers in (page, {"Host": name}):
            for path in PATHS:
                for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
                    url = path.replace("{name}", "tone").replace("{text:path}", "a")
                    answer = running.client.request(method, url, content=b"{}", headers=headers)
                    assert answer.status_code == 421, (method, path)
                    assert answer.json()["error"]["code"] == "misdirected_request"
            with (
                pytest.raises(InvalidStatus) as refused,
                talking(running.port, host="evil.example", origin=headers.get("Origin")),
            ):
                pass
            assert refused.value.response.status_code == 421
        assert running.engine.num_plans == 0


def test_types_without_a_preflight_are_refused() -> None:
    """Types that a page can send without a preflight are refused."""
    with running_server() as running:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", ""):
            for method, path in (
                ("POST", "/v1/audio/speech"),
                ("POST", "/v1/phrases"),
                ("PUT", "/v1/lexicons/tone"),
                ("POST", "/v1/lexicons/tone/entries"),
                ("POST", "/v1/feedback"),
            ):
                answer = running.client.request(method, path, content=b"{}", headers={"Content-Type": kind})
                assert answer.status_code == 400, (path, kind)
                assert "Content-Type" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("10.0.0.1:8000", 200),
        ("[fe80::2]:8000", 200),
        ("tts", 200),
        ("TTS:8000", 200),
        ("box.local", 200),
        ("yuliu.default.svc.cluster.local:80", 200),
        ("tts.internal", 200),
        ("evil.example", 421),
        ("local.evil.example", 421),
        ("10.0.0.1.evil.example", 421),
        ("evil.example.", 421),
        ("xlocal.example", 421),
        ("", 421),
        ("[", 421),
    ],
)
async def test_nearby_names_are_accepted(host: str, status: int) -> None:
    """Addresses and local names are accepted with ``nearby``."""
    app = create_app(lambda: tone_synthesizer(ToneEngine()), AppConfig(nearby=True))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        assert (await client.get("/health", headers={"Host": host})).status_code == status


@pytest.mark.parametrize(
    ("options", "has_key", "statuses"),
    [
        (["--no-keys"], False, (200, 421, 421)),
        (["--no-keys", "--allow-host", "tts.example"], False, (421, 200, 421)),
        ([], True, (401, 401, 401)),
    ],
)
def test_an_exposed_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], has_key: bool, statuses: tuple[int, ...]
) -> None:
    """An exposed server accepts any name only if keys are required."""
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))
    if has_key:
        subprocess.run([sys.executable, PROGRAM, "keys", "add", "one"], check=True, capture_output=True)
    command = [sys.executable, str(PROGRAM), "serve", "--host", "0.0.0.0", "--port", "0", "--expose", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            log = ""
            while "ready voices=" not in log:
                log += (line := server.stderr.readline())
                assert line, log
            found = re.search(r"listening .*port=(\d+)", log)
            assert found
            with httpx.Client(base_url=f"http://127.0.0.1:{found[1]}") as client:
                hosts = ("10.0.0.1", "tts.example", "evil.example")
                told = tuple(client.get("/v1/models", headers={"Host": host}).status_code for host in hosts)
            assert told == statuses
            server.send_signal(signal.SIGTERM)
            server.stderr.read()
        finally:
            server.kill()
