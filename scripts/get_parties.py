"""Get the programs of others that ``tests/parties`` tries the server with; ``make parties`` runs this.

What this machine has afterwards is written to ``.parties/got``, one name after the other, and what is missing is said
with the reason. Debian's packages are installed where this is run by root and there is apt; pip and npm need nobody's
leave. Needs the standard library only. Ends with 1 if something could not be had that this machine should have.
"""

from __future__ import annotations

import ctypes.util
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
PLACE = ROOT / ".parties"
VENV = PLACE / "venv"
PROGRAMS = PLACE / "bin"
NPM = ROOT / "tests" / "parties" / "npm"
REQUIREMENTS = ROOT / "requirements" / "parties.txt"
DEBIAN = {
    "ffmpeg": "ffmpeg",
    "chromium": "chromium",
    "pulseaudio": "pulseaudio",
    "parec": "pulseaudio-utils",
    "libportaudio2": "libportaudio2",
    "node": "nodejs",
    "npm": "npm",
}
"""What is looked for, and the package of Debian's that it is in."""
PATIENCE_S = 600
APT = ("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3", "-o", "Acquire::http::Timeout=30")


class NotGotError(Exception):
    """Something could not be had; the message says why."""


def say(line: str) -> None:
    """Tell how it goes."""
    print(line, flush=True)  # noqa: T201 - a command


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command to its end, in silence unless it fails."""
    surroundings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, cwd=cwd, env=surroundings, timeout=PATIENCE_S, capture_output=True, text=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotGotError(str(error)) from error
    if done.returncode:
        last = "\n    ".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        raise NotGotError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n    {last}")


def is_there(name: str) -> bool:
    """Whether a program, or the library, can be found."""
    if name == "libportaudio2":
        return ctypes.util.find_library("portaudio") is not None
    return shutil.which(name, path=f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', os.defpath)}") is not None


def get_debians() -> None:
    """Install the packages of Debian's whose programs are missing."""
    packages = [package for name, package in DEBIAN.items() if not is_there(name)]
    if not packages:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise NotGotError(f"needs root and apt-get; install by hand: {' '.join(packages)}")
    run(*APT, "update")
    run(*APT, "install", "--yes", "--no-install-recommends", *packages)


def get_promtool() -> None:
    """Take the one program out of its package: installing that would start a Prometheus."""
    if is_there("promtool"):
        return
    if shutil.which("apt-get") is None:
        raise NotGotError("needs apt-get; it is part of Prometheus")
    folder = PLACE / "promtool"
    folder.mkdir(parents=True, exist_ok=True)
    run(*APT, "-o", "APT::Sandbox::User=root", "download", "prometheus", cwd=folder)
    for package in folder.glob("prometheus_*.deb"):
        run("dpkg-deb", "--extract", package, folder / "all")
    PROGRAMS.mkdir(exist_ok=True)
    shutil.move(folder / "all" / "usr" / "bin" / "promtool", PROGRAMS / "promtool")
    shutil.rmtree(folder)


def get_agents() -> None:
    """Install LiveKit's agents and Pipecat into an environment of their own: they need other versions than we do."""
    stamp = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if _stamped(VENV, stamp):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    run(sys.executable, "-m", "venv", VENV)
    # Wheels only and no further look for dependencies: all there are is in the file, with hashes.
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    run(VENV / "bin" / "python", *pip, "--require-hashes", "-r", REQUIREMENTS)
    (VENV / "stamp").write_text(stamp)


def get_openai_for_javascript() -> None:
    """Install what tests/parties/npm/package-lock.json names."""
    stamp = hashlib.sha256((NPM / "package-lock.json").read_bytes()).hexdigest()
    if _stamped(NPM / "node_modules", stamp):
        return
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=NPM)
    (NPM / "node_modules" / "stamp").write_text(stamp)


def _stamped(folder: Path, stamp: str) -> bool:
    path = folder / "stamp"
    return path.exists() and path.read_text() == stamp


def got() -> list[str]:
    """The names of all that is there, as ``tests/support/party.py`` knows them."""
    names = [name for name in [*DEBIAN, "promtool"] if is_there(name)]
    agents = ["livekit", "pipecat"] if (VENV / "stamp").exists() else []
    return [*names, *agents, *(["openai-npm"] if (NPM / "node_modules" / "stamp").exists() else [])]


GETTERS: dict[str, Callable[[], None]] = {
    "Debian's packages": get_debians,
    "promtool": get_promtool,
    "LiveKit and Pipecat": get_agents,
    "OpenAI's client for JavaScript": get_openai_for_javascript,
}


def main() -> int:
    """Get what can be got, and write down what there is."""
    PLACE.mkdir(exist_ok=True)
    is_whole = True
    for what, get in GETTERS.items():
        began_s = time.monotonic()
        try:
            get()
        except NotGotError as error:
            is_whole = False
            say(f"parties: {what}: not got: {error}")
        else:
            say(f"parties: {what}: there ({time.monotonic() - began_s:.0f} s)")
    names = got()
    (PLACE / "got").write_text(" ".join(names) + "\n")
    say(f"parties: this machine has {' '.join(names) or 'none'}")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
