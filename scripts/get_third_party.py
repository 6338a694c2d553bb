"""Install the third-party clients that ``tests/third_party`` tests the server with; ``make third-party`` runs this.

The names of those that are installed afterwards are written to ``.third-party/got``; a missing one is reported with the
reason. Debian packages are installed only by root and with apt; pip and npm need no privileges. Needs the standard
library only. Exits with 1 if a client could not be installed.
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
PLACE = ROOT / ".third-party"
VENV = PLACE / "venv"
PROGRAMS = PLACE / "bin"
NPM = ROOT / "tests" / "third_party" / "npm"
REQUIREMENTS = ROOT / "requirements" / "third-party.txt"
DEBIAN = {
    "ffmpeg": "ffmpeg",
    "chromium": "chromium",
    "pulseaudio": "pulseaudio",
    "parec": "pulseaudio-utils",
    "libportaudio2": "libportaudio2",
    "node": "nodejs",
    "npm": "npm",
}
"""Debian package by program (or library)."""
TIMEOUT_S = 600
APT = ("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3", "-o", "Acquire::http::Timeout=30")


class InstallError(Exception):
    """A client could not be installed; the message says why."""


def say(line: str) -> None:
    """Print a line."""
    print(line, flush=True)  # noqa: T201 - a command


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command to its end; its output is shown only if it fails."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, cwd=cwd, env=environment, timeout=TIMEOUT_S, capture_output=True, text=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(str(error)) from error
    if done.returncode:
        last = "\n    ".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        raise InstallError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n    {last}")


def is_installed(name: str) -> bool:
    """Return whether a program, or the library, is installed."""
    if name == "libportaudio2":
        return ctypes.util.find_library("portaudio") is not None
    return shutil.which(name, path=f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', os.defpath)}") is not None


def install_debian_packages() -> None:
    """Install the Debian packages of missing programs."""
    packages = [package for name, package in DEBIAN.items() if not is_installed(name)]
    if not packages:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise InstallError(f"needs root and apt-get; install by hand: {' '.join(packages)}")
    run(*APT, "update")
    run(*APT, "install", "--yes", "--no-install-recommends", *packages)


def install_promtool() -> None:
    """Extract the program from its package, because installing the package would start a Prometheus."""
    if is_installed("promtool"):
        return
    if shutil.which("apt-get") is None:
        raise InstallError("needs apt-get; it is part of Prometheus")
    folder = PLACE / "promtool"
    folder.mkdir(parents=True, exist_ok=True)
    run(*APT, "-o", "APT::Sandbox::User=root", "download", "prometheus", cwd=folder)
    for package in folder.glob("prometheus_*.deb"):
        run("dpkg-deb", "--extract", package, folder / "all")
    PROGRAMS.mkdir(exist_ok=True)
    shutil.move(folder / "all" / "usr" / "bin" / "promtool", PROGRAMS / "promtool")
    shutil.rmtree(folder)


def install_agents() -> None:
    """Install LiveKit's agents and Pipecat into their own environment: their dependencies conflict with ours."""
    stamp = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if _stamped(VENV, stamp):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    run(sys.executable, "-m", "venv", VENV)
    # Wheels only and no resolution of dependencies: the file lists all of them, with hashes.
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    run(VENV / "bin" / "python", *pip, "--require-hashes", "-r", REQUIREMENTS)
    (VENV / "stamp").write_text(stamp)


def install_openai_for_javascript() -> None:
    """Install the packages of tests/third_party/npm/package-lock.json."""
    stamp = hashlib.sha256((NPM / "package-lock.json").read_bytes()).hexdigest()
    if _stamped(NPM / "node_modules", stamp):
        return
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=NPM)
    (NPM / "node_modules" / "stamp").write_text(stamp)


def _stamped(folder: Path, stamp: str) -> bool:
    path = folder / "stamp"
    return path.exists() and path.read_text() == stamp


def installed() -> list[str]:
    """Return the names of the installed clients, as ``tests/support/third_party_clients.py`` knows them."""
    names = [name for name in [*DEBIAN, "promtool"] if is_installed(name)]
    agents = ["livekit", "pipecat"] if (VENV / "stamp").exists() else []
    return [*names, *agents, *(["openai-npm"] if (NPM / "node_modules" / "stamp").exists() else [])]


INSTALLERS: dict[str, Callable[[], None]] = {
    "Debian packages": install_debian_packages,
    "promtool": install_promtool,
    "LiveKit and Pipecat": install_agents,
    "OpenAI's client for JavaScript": install_openai_for_javascript,
}


def main() -> int:
    """Install all clients that can be installed, and record them."""
    PLACE.mkdir(exist_ok=True)
    is_complete = True
    for name, install in INSTALLERS.items():
        began_s = time.monotonic()
        try:
            install()
        except InstallError as error:
            is_complete = False
            say(f"third-party: {name}: not installed: {error}")
        else:
            say(f"third-party: {name}: installed ({time.monotonic() - began_s:.0f} s)")
    names = installed()
    (PLACE / "got").write_text(" ".join(names) + "\n")
    say(f"third-party: installed: {' '.join(names) or 'none'}")
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
