"""State of the process: standard descriptors, signals, and the standard error of native libraries."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STDERR = 2
NOTICE = b"INFO: "
"""Start of LiteRT's "Created TensorFlow Lite XNNPACK delegate for CPU.", which no setting suppresses."""


def open_closed_descriptors() -> None:
    """Open closed descriptors among 0 to 2 on the null device, and give ``sys.stderr`` a file.

    Otherwise the next opened file would get such a number, and everything written to standard error, even by native
    libraries, would end up in it. ``sys.stdin`` and ``sys.stdout`` stay None, so that commands can detect it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # open() takes the lowest free number, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - stays open


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C, so that files and the terminal are left clean."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores it
    for number in numbers:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def without_notices() -> Iterator[None]:
    """Hold back the standard error of native libraries, then print it without the notices.

    This affects the whole process, so use it only where nothing else writes, as while voices are loaded.
    """
    sys.stderr.flush()
    import tempfile

    with tempfile.TemporaryFile() as held:
        kept = os.dup(STDERR)
        os.dup2(held.fileno(), STDERR)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, STDERR)
            os.close(kept)
            held.seek(0)
            os.write(STDERR, b"".join(line for line in held if not line.startswith(NOTICE)))
