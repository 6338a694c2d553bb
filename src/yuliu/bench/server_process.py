"""A Yuliu server as a process of its own, and the CPU time and memory that it uses."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from typing import IO, TYPE_CHECKING, Protocol, Self

import psutil

if TYPE_CHECKING:
    from collections.abc import Sequence

READY_TIMEOUT_S = 60.0
POLL_S = 0.01
SERVE = ("-m", "yuliu", "serve", "--no-keys")
"""Our own server as arguments of ``python``. Without keys, so that figures do not depend on keys that exist."""


def free_port() -> int:
    """Return a loopback port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServerHandle(Protocol):
    """A server that listens on a loopback port."""

    @property
    def port(self) -> int:
        """Port on which it listens."""
        ...

    @property
    def pid(self) -> int:
        """Id of its process."""
        ...


class ServerProcess:
    """A server on a free loopback port, for the duration of a ``with`` block.

    Args:
        arguments: Arguments of the program besides ``--port``.
        program: Arguments of ``python``; the program must answer ``GET /ready`` once it is ready.
        log: Destination of its standard error; None discards it.
        python: Interpreter that runs the program.
    """

    def __init__(
        self,
        *arguments: str,
        program: Sequence[str] = SERVE,
        log: IO[bytes] | int | None = None,
        python: str = sys.executable,
    ) -> None:
        self._arguments = arguments
        self._python = python
        self._program = program
        self._log = subprocess.DEVNULL if log is None else log
        self.port: int = free_port()
        """Port on which it listens."""
        self.ready_s: float = 0.0
        """Time from its start until ``/ready`` succeeded, seconds."""
        self.peak_rss: int = 0
        """Largest resident memory seen, bytes."""

    def __enter__(self) -> Self:
        """Start the server and wait until it is ready."""
        began = time.perf_counter()
        command = [self._python, *self._program, "--port", str(self.port), *self._arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self._log)
        self._watched = psutil.Process(self._process.pid)
        while not self._is_ready():
            if self._process.poll() is not None or time.perf_counter() - began > READY_TIMEOUT_S:
                self._process.kill()
                raise RuntimeError("the server did not become ready; run: yuliu doctor")
            time.sleep(POLL_S)
        self.ready_s = time.perf_counter() - began
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop the server."""
        self._process.terminate()
        self._process.wait(30)

    @property
    def pid(self) -> int:
        """Id of its process."""
        return self._process.pid

    def cpu_s(self) -> float:
        """Return the CPU time used so far, seconds, and update :attr:`peak_rss`."""
        self.peak_rss = max(self.peak_rss, self._watched.memory_info().rss)
        times = self._watched.cpu_times()
        return float(times.user + times.system)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with closing(connection), suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/ready")
            with connection.getresponse() as response:
                return response.status == http.client.OK
        return False
