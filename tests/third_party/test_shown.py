"""The examples for third-party clients in the documentation run."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from chromium import chromium
from pages import ROOT, Page
from serving import running_server
from third_party_clients import NPM, PATIENCE_S, VENV, needs, program

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Running

PAGE = Page(ROOT / "docs" / "en" / "how-to" / "openai-clients.md")
ADDRESS = "http://127.0.0.1:8000"
TEXT = "前方路口左转。"


def shown(language: str, mark: str, running: Running) -> str:
    """Return the only block that contains the mark, with the address of this server."""
    (code,) = [block.code for block in PAGE.blocks if block.language == language and mark in block.code]
    assert ADDRESS in code
    return code.replace(ADDRESS, running.url)


@needs("openai-npm")
def test_javascript(running: Running, tmp_path: Path) -> None:
    """The file holds all of the speech."""
    code = shown("js", "node:fs", running).replace('"turn.mp3"', json.dumps(str(tmp_path / "turn.mp3")))
    command = [str(program("node")), "--input-type=module", "--eval", code]
    subprocess.run(command, cwd=NPM, check=True, timeout=PATIENCE_S)
    assert (tmp_path / "turn.mp3").read_bytes() == running.speech(input=TEXT, response_format="mp3").content


@pytest.mark.parametrize(
    "name", [pytest.param("livekit", marks=needs("livekit")), pytest.param("pipecat", marks=needs("pipecat"))]
)
def test_agents(running: Running, name: str) -> None:
    """The service of the example uses this server."""
    code = shown("py", name, running) + "\nprint(tts._client.base_url)\n"
    command = [str(VENV / "bin" / "python"), "-W", "ignore", "-c", code]
    told = subprocess.run(command, check=True, timeout=PATIENCE_S, capture_output=True, text=True).stdout
    assert told.split()[-1] == f"{running.url}/v1/"


@needs("chromium")
def test_a_web_page(origin: str, tmp_path: Path) -> None:
    """It plays to the end."""
    with running_server(app={"origins": [origin]}) as running, chromium(tmp_path / "chromium") as page:
        page.open(f"{origin}/index.html")
        ended = 'if (!player.ended) await new Promise((ended) => player.addEventListener("ended", ended));'
        code = shown("js", "MediaSource", running)
        played_s = page.run(f"(async () => {{ {code} {ended} return player.currentTime; }})")
        assert played_s == pytest.approx(len(running.synthesizer.speak(TEXT).samples) / 24_000, abs=0.03)
