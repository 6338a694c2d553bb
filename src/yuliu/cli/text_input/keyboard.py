"""Single keys from a terminal while the program runs. Needs ``termios``, so only on Linux and macOS."""

from __future__ import annotations

import codecs
import os
import select
import signal
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from yuliu.cli.console.terminal import DEFAULT_NUM_COLUMNS

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterator
    from types import FrameType

try:
    import termios
    import tty
except ImportError:  # Windows
    CAN_READ_KEYS = False
else:
    CAN_READ_KEYS = True
    """True if keys can be read on this system."""

TERMINAL = "/dev/tty"
LOOK_AGAIN_S = 0.2
"""Interval at which a background program checks whether it is in the foreground again, seconds."""
READ_NUM_BYTES = 4096
GONE = "\x15\x04"
"""Input simulated when the terminal goes away: delete the line, and leave."""


class Keyboard:
    """Terminal from which the program was started. Keys are not echoed while they are read.

    Args:
        descriptor: Descriptor of the terminal, open for reading and writing; closed by :meth:`close`.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before: list[Any] | None = None
        self._woken, self._wake = os.pipe()

    @property
    def num_columns(self) -> int:
        """Width of the terminal, columns."""
        with suppress(OSError):
            return os.get_terminal_size(self._descriptor).columns or DEFAULT_NUM_COLUMNS
        return DEFAULT_NUM_COLUMNS

    def write(self, text: str) -> None:
        """Write text to the terminal only."""
        with suppress(OSError):  # the terminal is gone; carry on
            os.write(self._descriptor, text.encode("utf-8", "replace"))

    @contextmanager
    def read(self, loop: AbstractEventLoop, take: Callable[[str], None]) -> Iterator[None]:
        """Pass typed text to ``take`` on the loop until the block ends, then restore the terminal."""
        thread = threading.Thread(target=self._run, args=(loop, take), name="yuliu-keys", daemon=True)
        with self._key_by_key(), self._as_before_when_stopped():
            thread.start()
            try:
                yield
            finally:
                os.write(self._wake, b"x")
                thread.join()

    def close(self) -> None:
        """Close the terminal."""
        for descriptor in (self._descriptor, self._woken, self._wake):
            os.close(descriptor)

    def _run(self, loop: AbstractEventLoop, take: Callable[[str], None]) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        data: bytes | None = b"-"
        while data:
            data = self._next_bytes()
            if data is not None:
                text = decoder.decode(data) if data else GONE
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(take, text)

    def _next_bytes(self) -> bytes | None:
        """Return typed bytes; empty if the terminal is gone, None if reading should end.

        A background program does not read, since that would stop it.
        """
        was_in_front = True
        while True:
            in_front = self._is_in_front()
            if in_front and not was_in_front:
                self._begin()
            was_in_front = in_front
            keys = [self._descriptor] if in_front else []
            ready, _, _ = select.select([self._woken, *keys], [], [], LOOK_AGAIN_S)
            if self._woken in ready:
                return None
            if ready and self._is_in_front():
                with suppress(OSError):
                    return os.read(self._descriptor, READ_NUM_BYTES)
                return b""

    def _is_in_front(self) -> bool:
        return is_in_front(self._descriptor)

    @contextmanager
    def _key_by_key(self) -> Iterator[None]:
        self._before = termios.tcgetattr(self._descriptor)
        try:
            self._begin()
            yield
        finally:
            self._restore()

    def _begin(self) -> None:
        """Switch to unbuffered input without echo; Ctrl-C and Ctrl-Z still send signals."""
        if self._is_in_front():
            tty.setcbreak(self._descriptor, termios.TCSANOW)

    def _restore(self) -> None:
        if self._before is not None and self._is_in_front():
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)

    @contextmanager
    def _as_before_when_stopped(self) -> Iterator[None]:
        """Restore the terminal on Ctrl-Z, and take it over again when the program continues."""

        def stop(number: int, frame: FrameType | None) -> None:
            self._restore()
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTSTP)  # stops here, and later continues here
            signal.signal(signal.SIGTSTP, stop)
            self._begin()

        def go_on(number: int, frame: FrameType | None) -> None:
            self._begin()

        olds = [(each, signal.getsignal(each)) for each in (signal.SIGTSTP, signal.SIGCONT)]
        signal.signal(signal.SIGTSTP, stop)
        signal.signal(signal.SIGCONT, go_on)
        try:
            yield
        finally:
            for number, old in olds:
                signal.signal(number, old)


def open_keyboard(path: str = TERMINAL) -> Keyboard | None:
    """Open the terminal from which the program was started.

    Returns:
        None if there is no terminal, if the program is in the background, or if this system cannot read keys.
    """
    if not CAN_READ_KEYS:
        return None
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return None
    if not is_in_front(descriptor):
        os.close(descriptor)
        return None
    return Keyboard(descriptor)


def is_in_front(descriptor: int) -> bool:
    """Return True if this program is in the foreground of the terminal."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
