"""The command line on its own controlling terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Any

from program import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_S = 30.0
"""Timeout that only a failing test meets."""

_TAKE_TERMINAL = """
import fcntl, os, sys, termios
terminal = int(sys.argv[1])
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
os.close(terminal)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""

FAKE_SOUNDDEVICE = '''
"""A device that plays in real time into the file $FAKE_DEVICE; holds 0.1 s."""
import os, time

class PortAudioError(Exception): ...

def query_devices(kind): return {"name": "fake"}

class OutputStream:
    latency = 0.1
    def __init__(self, *, samplerate, channels, dtype, latency):
        self.rate, self.empty_at, self.file = samplerate, 0.0, open(os.environ["FAKE_DEVICE"], "ab", buffering=0)
    def start(self): pass
    def write(self, samples):
        if os.environ.get("FAKE_FAULT"): raise RuntimeError("of the test")
        now = time.monotonic()
        self.empty_at = max(self.empty_at, now) + len(samples) / self.rate
        self.file.write(samples.tobytes())
        time.sleep(max(0.0, self.empty_at - now - self.latency))
    def stop(self): time.sleep(max(0.0, self.empty_at - time.monotonic()))
    def abort(self): pass
    def close(self): self.file.close()
'''


class TerminalProgram:
    """A program and the output on its terminal.

    Args:
        arguments: Arguments of ``yuliu``.
        environ: Additional environment variables.
        piped: Whether standard input is a pipe.
        stderr: A file for standard error instead of the terminal.
    """

    def __init__(
        self, *arguments: str, environ: dict[str, str], piped: bool = False, stderr: Path | None = None
    ) -> None:
        self.terminal, other = pty.openpty()
        termios.tcsetwinsize(self.terminal, (24, 100))
        self.before: list[Any] = termios.tcgetattr(self.terminal)
        self.seen = ""
        self.last = ""
        with contextlib.ExitStack() as stack:
            errors = other if stderr is None else stack.enter_context(stderr.open("wb"))
            self.process = subprocess.Popen(
                [sys.executable, "-c", _TAKE_TERMINAL, str(other), str(PROGRAM), *arguments],
                stdin=subprocess.PIPE if piped else other,
                stdout=other,
                stderr=errors,
                pass_fds=[other],
                env={**os.environ, **environ},
                start_new_session=True,
            )
        os.close(other)

    def type(self, keys: str) -> None:
        """Type keys."""
        os.write(self.terminal, keys.encode())

    def until(self, words: str) -> str:
        """Wait for some output; return the output before it."""
        until_s = time.monotonic() + PATIENCE_S
        while words not in self.seen:
            assert time.monotonic() < until_s, self.seen
            self.look(0.1)
        self.last, _, self.seen = self.seen.partition(words)
        return self.last

    def until_keys_are_read(self, *, read: bool = True) -> None:
        """Wait until the program reads single keys, or no longer does."""
        until_s = time.monotonic() + PATIENCE_S
        while bool(termios.tcgetattr(self.terminal)[3] & termios.ICANON) == read:
            assert time.monotonic() < until_s, self.seen
            self.look(0.02)

    def end(self) -> int:
        """Wait for the end; return the exit code."""
        until_s = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < until_s, self.seen
            self.look(0.1)
        self.look(0.1)
        return self.process.returncode

    @property
    def is_as_before(self) -> bool:
        """True if the terminal has its original settings."""
        after: list[Any] = termios.tcgetattr(self.terminal)
        return after == self.before

    def close(self) -> None:
        """Kill the program."""
        self.process.kill()
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        self.process.wait()
        os.close(self.terminal)

    def look(self, patience_s: float) -> None:
        """Read output if there is any within the timeout."""
        if select.select([self.terminal], [], [], patience_s)[0]:
            with contextlib.suppress(OSError):  # no process has it open any more
                self.seen += os.read(self.terminal, 65_536).decode("utf-8", "replace")
