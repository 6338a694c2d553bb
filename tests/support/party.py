"""Programs of others: whether they are here, where, and talking to one that runs beside the tests.

``make parties`` fetches them. Tests of what is not here are skipped, except for what ``$YULIU_PARTIES`` names (as CI
does with all that was fetched): those are run, and fail.
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
PARTIES = ROOT / "tests" / "parties"
VENV = ROOT / ".parties" / "venv"
NPM = PARTIES / "npm"
PATIENCE_S = 30.0
"""How long anything may take that must happen; only met by a test that fails."""


def required() -> frozenset[str]:
    """Names of the parties whose tests may not be skipped."""
    return frozenset(os.environ.get("YULIU_PARTIES", "").split())


def find(name: str) -> Path | None:
    """Where a party is, or None; names are those of ``.parties/got``."""
    if name in ("livekit", "pipecat"):
        return VENV if (VENV / "stamp").exists() else None
    if name == "openai-npm":
        modules = NPM / "node_modules" / "openai"
        return modules if modules.exists() and shutil.which("node") else None
    found = shutil.which(name, path=f"{ROOT / '.parties' / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    return None if found is None else Path(found)


def needs(name: str) -> pytest.MarkDecorator:
    """A mark for tests of a party."""
    is_skipped = find(name) is None and name not in required()
    return pytest.mark.skipif(is_skipped, reason=f"{name} is not here; make parties fetches it")


def program(name: str) -> Path:
    """Where a party is that must be here."""
    found = find(name)
    assert found is not None, f"{name} was fetched, it is said, but is not here"
    return found


@dataclass
class Beside:
    """A program that runs beside the tests: it reads requests as lines of JSON, and answers each with a line."""

    process: subprocess.Popen[str]

    def ask(self, **request: Any) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next line it writes."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"it ended with {self.process.wait(PATIENCE_S)}"
        told: dict[str, Any] = json.loads(line)
        return told


@contextlib.contextmanager
def beside(*command: str | Path, folder: Path = PARTIES) -> Iterator[Beside]:
    """Run a program until the end of the block; one that hangs is killed, so that its reader sees its end."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        watch = threading.Timer(4 * PATIENCE_S, process.kill)
        watch.start()
        try:
            yield Beside(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(PATIENCE_S) == 0
        finally:
            watch.cancel()
            process.kill()


@contextlib.contextmanager
def python_beside(file: str, *arguments: str) -> Iterator[Beside]:
    """Run a program of ``tests/parties`` in the environment where the agents are."""
    with beside(VENV / "bin" / "python", "-u", "-W", "ignore", file, *arguments) as running:
        yield running


def ffmpeg(*options: str) -> Sequence[str]:
    """A command of ffmpeg's that complains of everything it sees, from its standard input to 16 bit on its output."""
    return [str(program("ffmpeg")), "-hide_banner", "-nostdin", "-v", "warning", *options]
