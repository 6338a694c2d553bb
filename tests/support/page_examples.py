"""Run the examples of a page of the documentation."""

from __future__ import annotations

import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pages import Page

_INTERPRETERS = {"python": [sys.executable], "sh": ["bash", "-euo", "pipefail"]}


def run_examples(
    page: Page, folder: Path, environment: dict[str, str], change: Callable[[str], str] = lambda code: code
) -> None:
    """Run the blocks of a page in order in one folder, and compare the output with what the page shows.

    Args:
        page: Page with the examples.
        folder: Folder in which they run.
        environment: Environment variables.
        change: Called with the code of each block; returns the code to run.
    """
    folder.mkdir(exist_ok=True)
    for example, output in page.examples:
        code = change(example.code)
        printed = _run(code, _INTERPRETERS[example.language], folder, environment)
        if output is not None:
            difference = f"{code}\nprinted:\n{printed}"
            assert OutputChecker().check_output(output.code, printed, ELLIPSIS | NORMALIZE_WHITESPACE), difference


def _run(code: str, interpreter: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run the code, which must succeed, and return its output."""
    done = subprocess.run(
        [*interpreter, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{code}\nprinted:\n{done.stdout}{done.stderr}"
    return done.stdout
