"""Third-party clients: whether they are installed, where, and a conversation with one that runs beside the tests.

``make third-party`` installs them. Tests of a missing client are skipped unless ``$YULIU_THIRD_PARTY`` names it (CI
names all that were installed): those are run, and fail.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
THIRD_PARTY = ROOT / "tests" / "third_party"
VENV = ROOT / ".third-party" / "venv"
NPM = THIRD_PARTY / "npm"
PATIENCE_S = 30.0
"""Timeout that only a failing test meets."""


def required() -> frozenset[str]:
    """Return the names of the clients with tests that must not be skipped."""
    return frozenset(os.environ.get("YULIU_THIRD_PARTY", "").split())


def find(name: str) -> Path | None:
    """Return the location of a client, or None; names are those of ``.third-party/got``."""
    if name in ("livekit", "pipecat"):
        return VENV if (VENV / "stamp").exists() else None
    if name == "openai-npm":
        modules = NPM / "node_modules" / "openai"
        return modules if modules.exists() and shutil.which("node") else None
    found = shutil.which(name, path=f"{ROOT / '.third-party' / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    return None if found is None else Path(found)


def needs(name: str) -> pytest.MarkDecorator:
    """Return a mark that skips the tests of a client that is not installed."""
    is_skipped = find(name) is None and name not in required()
    return pytest.mark.skipif(is_skipped, reason=f"{name} is not installed; run: make third-party")


def program(name: str) -> Path:
    """Return the location of a client that must be installed."""
    found = find(name)
    assert found is not None, f"{name} is named as installed, but is not"
    return found


@dataclass
class Sidecar:
    """A program that runs beside the tests: it reads requests as lines of JSON and answers each with a line."""

    process: subprocess.Popen[str]

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Return the next line it writes."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"it ended with {self.process.wait(PATIENCE_S)}"
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextlib.contextmanager
def sidecar(*command: str | Path, folder: Path = THIRD_PARTY) -> Iterator[Sidecar]:
    """Run a program until the end of the block; if it hangs, it is killed, so that its reader sees the end."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        watch = threading.Timer(4 * PATIENCE_S, process.kill)
        watch.start()
        try:
            yield Sidecar(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(PATIENCE_S) == 0
        finally:
            watch.cancel()
            process.kill()


@contextlib.contextmanager
def python_sidecar(file: str, *arguments: str) -> Iterator[Sidecar]:
    """Run a program of ``tests/third_party`` in the environment of the agents."""
    with sidecar(VENV / "bin" / "python", "-u", "-W", "ignore", file, *arguments) as running:
        yield running


def ffmpeg(*options: str) -> Sequence[str]:
    """Return an ffmpeg command that reports every warning."""
    return [str(program("ffmpeg")), "-hide_banner", "-nostdin", "-v", "warning", *options]
