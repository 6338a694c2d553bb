"""Check that uv.lock fits pyproject.toml and that the hashed requirements fit uv.lock; ``--write`` makes them fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXPORTS = {
    "requirements/run.txt": ["--no-default-groups", "--group", "build", "--extra", "play"],
    "requirements/dev.txt": ["--group", "build", "--extra", "play"],
}


def uv(*arguments: str) -> str:
    """Standard output of a uv command; what it complains of is shown, and ends this script."""
    command = [str(Path(sys.executable).parent / "uv"), *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def exported(groups: list[str]) -> str:
    """Requirements with hashes, for pip."""
    return uv("export", "--frozen", "--no-emit-project", "--no-header", "--no-annotate", *groups)


def main() -> int:
    """Check, or write with ``--write``."""
    if "--write" in sys.argv:
        for name, groups in EXPORTS.items():
            (ROOT / name).write_text(exported(groups))
        return 0
    try:
        uv("lock", "--check")
    except subprocess.CalledProcessError as error:
        sys.exit(f"uv.lock does not fit pyproject.toml; run: make lock\n{error.stderr}")
    stale = [name for name, groups in EXPORTS.items() if (ROOT / name).read_text() != exported(groups)]
    if stale:
        sys.exit(f"{', '.join(stale)} does not fit uv.lock; run: make lock")
    return 0


if __name__ == "__main__":
    sys.exit(main())
