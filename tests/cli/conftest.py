"""Fixtures that run the command line as a separate program, with pipes and signals."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from program import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from program import Start


@pytest.fixture
def start() -> Iterator[Start]:
    """Start the program with pipes for all standard streams; kill it at the end of the test."""
    started = []

    def start(*args: str | Path, **environ: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        command = [sys.executable, PROGRAM, *args]
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=os.environ | environ)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
