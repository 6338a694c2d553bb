"""The command line as a program, for tests."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import subprocess

PROGRAM = Path(__file__).parent / "tone_cli.py"


class Start(Protocol):
    """Function that starts ``yuliu`` with the weightless engine."""

    def __call__(self, *args: str | Path, **environ: str) -> subprocess.Popen[bytes]: ...


def wav_samples(path: Path) -> bytes:
    """Return the samples of a WAV file and check that header and length agree."""
    with wave.open(str(path)) as file:
        samples: bytes = file.readframes(file.getnframes())
        num_bytes = 2 * file.getnframes()
    assert len(samples) == num_bytes
    assert path.stat().st_size == 44 + len(samples)
    return samples
