"""``yuliu serve`` as a process."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

from program import PROGRAM
from serving import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator


class ServerProgram:
    """A ready server process."""

    def __init__(self, process: subprocess.Popen[str], raws: list[socket.socket]) -> None:
        self.process = process
        self.log = ""
        self.raws = raws
        self._read_until(r'ready voices=|"event": "ready"')
        found = re.search(r'(?:listening .*port=|"event": "listening".*"port": )(\d+)', self.log)
        assert found, self.log
        self.port = int(found[1])

    def _read_until(self, pattern: str) -> None:
        assert self.process.stderr is not None
        while not re.search(pattern, self.log):
            line = self.process.stderr.readline()
            assert line, self.log
            self.log += line

    def read_to_the_end(self) -> int:
        """Read the rest of the log and return the exit code."""
        assert self.process.stderr is not None
        self.log += self.process.stderr.read()
        return self.process.wait(PATIENCE_S)

    def connect(self, *pieces: bytes) -> socket.socket:
        """Open a connection with a small receive buffer."""
        raw = socket.socket()
        self.raws.append(raw)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        raw.settimeout(PATIENCE_S)
        raw.connect(("127.0.0.1", self.port))
        for piece in pieces:
            raw.sendall(piece)
        return raw

    def wait_until_refused(self) -> None:
        """Wait until connections are refused."""
        with contextlib.suppress(ConnectionError):
            while True:
                socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S).close()


@contextlib.contextmanager
def running_program(*options: str, **environ: str) -> Iterator[ServerProgram]:
    """Run a server with a weightless engine; kill it at the end if it is still running."""
    command = [sys.executable, str(PROGRAM), "serve", "--port", "0", *options]
    environment = os.environ | environ
    raws: list[socket.socket] = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield ServerProgram(process, raws)
        finally:
            process.kill()
            for raw in raws:
                raw.close()
