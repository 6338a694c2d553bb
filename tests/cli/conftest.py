"""Running the command line as people do: as a program of its own, with pipes and signals."""

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
    """Starts the program with pipes on all sides; what still runs at the end of the test is killed."""
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
