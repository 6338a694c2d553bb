"""Build the wheel, check its contents, install it in an empty environment outside the repository, and speak there.

Needs ``.venv`` (``make setup``) to build, otherwise the standard library only. pip keeps the user's configuration.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import wave
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "yuliu"
BUILD_PYTHON = ROOT / ".venv" / "bin" / "python"
MAX_NUM_BYTES = 1_500_000
"""Maximum size of the wheel: it contains no weights, judges, peers or their data."""
TEXTS = {"zh": "大家早上好，欢迎使用语流。", "en": "Good morning, everybody, and welcome."}
TIMEOUT_S = 900


def say(line: str) -> None:
    """Print a line."""
    print(line, flush=True)  # noqa: T201 - a command


def run(*command: str | Path, cwd: Path, home: Path | None = None) -> str:
    """Run a command and return its standard output; end this script if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if home is not None:
        environment["YULIU_HOME"] = str(home)
    done = subprocess.run(
        command, cwd=cwd, env=environment, timeout=TIMEOUT_S, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed with exit code {done.returncode}")
    return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel into a folder and return its path."""
    options = ("--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check")
    run(BUILD_PYTHON, "-m", "pip", "wheel", *options, "--wheel-dir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("yuliu-*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Check that the wheel contains the package, its metadata and its licence, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
    info = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    metadata = {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    sources = {
        f"yuliu/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if "yuliu/py.typed" not in sources:
        sys.exit("src/yuliu/py.typed is missing")
    expected = sources | metadata
    if found != expected:
        sys.exit(f"missing in the wheel: {sorted(expected - found)}\nunexpected: {sorted(found - expected)}")
    if (num_bytes := wheel.stat().st_size) > MAX_NUM_BYTES:
        sys.exit(f"{wheel.name} has {num_bytes} bytes; the limit is {MAX_NUM_BYTES}")
    say(f"{wheel.name}: {num_bytes} bytes, {len(found)} files")


def install(wheel: Path, folder: Path) -> Path:
    """Install the wheel with the locked versions of its dependencies; return the folder of the programs."""
    requirements = (ROOT / "requirements" / "run.txt").read_text()
    locked = re.findall(r"^[A-Za-z0-9_.-]+==\S+(?: ;[^\\\n]*)?", requirements, re.MULTILINE)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(line.strip() for line in locked) + "\n")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    options = ("--quiet", "--disable-pip-version-check", "--constraint", constraints)
    run(programs / "python", "-m", "pip", "install", *options, wheel, cwd=folder)
    return programs


def speak(programs: Path, folder: Path) -> None:
    """Pull the voices and speak a text in each language with the installed package."""
    place = run(programs / "python", "-c", "import yuliu; print(yuliu.__file__)", cwd=folder).strip()
    if not Path(place).resolve().is_relative_to((folder / "venv").resolve()):
        sys.exit(f"the package that was imported is not the installed one: {place}")
    home = folder / "home"
    run(programs / "yuliu", "voices", "pull", cwd=folder, home=home)
    for lang, text in TEXTS.items():
        out = folder / f"{lang}.wav"
        run(programs / "yuliu", "say", "-q", text, "-o", out, cwd=folder, home=home)
        with wave.open(str(out)) as reader:
            seconds = reader.getnframes() / reader.getframerate()
        say(f"{lang}: {seconds:.1f} s of audio for {len(text)} characters")
        if not 1 < seconds < 10:
            sys.exit(f"that is not a plausible duration for this {lang} text")


def main() -> int:
    """Build, check, install, speak."""
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="yuliu-wheel-") as name:
        folder = Path(name)
        wheel = build(folder)
        check_contents(wheel)
        speak(install(wheel, folder), folder)
    say(f"the wheel works outside the repository ({time.monotonic() - began_s:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
