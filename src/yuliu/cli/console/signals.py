"""Signals that ask a command to end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let a polite request to end (SIGTERM, a closed terminal) leave files and the terminal as clean as Ctrl-C does."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup keeps its word
    for number in numbers:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
