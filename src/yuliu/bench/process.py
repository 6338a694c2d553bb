"""A Yuliu server as a process of its own, and what it takes of the machine."""

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

READY_WITHIN_S = 60.0


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Running(Protocol):
    """A server that listens on a loopback port."""

    @property
    def port(self) -> int:
        """Where it listens."""
        ...

    @property
    def pid(self) -> int:
        """Its process."""
        ...


SERVE = ("-m", "yuliu", "serve", "--no-keys")
"""The program of our own server, for ``python``; whoever has made keys measures the same."""


class ServerProcess:
    """A server on a free loopback port, for as long as the block lasts.

    Args:
        arguments: Given to the program beside ``--port``.
        program: What ``python`` runs; it must answer ``GET /ready`` once it is ready.
        log: Where its standard error goes; None throws it away.
    """

    def __init__(self, *arguments: str, program: Sequence[str] = SERVE, log: IO[bytes] | int | None = None) -> None:
        self._arguments = arguments
        self._program = program
        self._log = subprocess.DEVNULL if log is None else log
        self.port: int = free_port()
        """Where it listens."""
        self.ready_s: float = 0.0
        """From its start to ``/ready``, seconds."""
        self.peak_rss: int = 0
        """Largest resident memory seen, bytes."""

    def __enter__(self) -> Self:
        """Start it and wait until it is ready."""
        began = time.perf_counter()
        command = [sys.executable, *self._program, "--port", str(self.port), *self._arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self._log)
        self._watched = psutil.Process(self._process.pid)
        while not self._is_ready():
            if self._process.poll() is not None or time.perf_counter() - began > READY_WITHIN_S:
                self._process.kill()
                raise RuntimeError("the server did not get ready; run: yuliu doctor")
            time.sleep(0.01)
        self.ready_s = time.perf_counter() - began
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(30)

    @property
    def pid(self) -> int:
        """Of the server."""
        return self._process.pid

    def cpu_s(self) -> float:
        """CPU time that it has taken so far, seconds; takes note of its memory as well."""
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
