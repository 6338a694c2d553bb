"""Check that uv.lock matches pyproject.toml and the hashed requirements match uv.lock; ``--write`` updates them."""

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
    """Return the standard output of a uv command."""
    command = [str(Path(sys.executable).parent / "uv"), *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def exported(groups: list[str]) -> str:
    """Return requirements with hashes, for pip."""
    return uv("export", "--frozen", "--no-emit-project", "--no-header", "--no-annotate", *groups)


def main() -> int:
    """Check, or with ``--write`` update."""
    if "--write" in sys.argv:
        for name, groups in EXPORTS.items():
            (ROOT / name).write_text(exported(groups))
        return 0
    try:
        uv("lock", "--check")
    except subprocess.CalledProcessError as error:
        sys.exit(f"uv.lock does not match pyproject.toml; run: make lock\n{error.stderr}")
    stale = [name for name, groups in EXPORTS.items() if (ROOT / name).read_text() != exported(groups)]
    if stale:
        sys.exit(f"{', '.join(stale)} does not match uv.lock; run: make lock")
    return 0


if __name__ == "__main__":
    sys.exit(main())
