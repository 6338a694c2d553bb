"""State of a server seen from outside: the end of each request in its log, and its gauges."""

from __future__ import annotations

import http.client
import os
import re
import threading
import time
from contextlib import closing
from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SPEECH = re.compile(r" speech id=(?P<id>\S+) .*\bending=(?P<ending>\S+)")
_SAMPLE = re.compile(r"^(?P<name>[a-z_:]+)(?:\{[^}]*\})? (?P<value>\S+)")
STREAMS = "yuliu_streams"
GAUGES = (STREAMS, "yuliu_queue_depth", "yuliu_workers_busy", "yuliu_connections", "yuliu_tasks")
"""Gauges of work in progress; all of them return to their idle values when there are no requests."""


class LogWatch:
    """Reads a server's log and records when each request was reported as over."""

    def __init__(self) -> None:
        self.ended: dict[str, tuple[float, str]] = {}
        """Time of the line (:func:`time.perf_counter`) and ending by request id. A line is written when all work for
        the request is over."""
        self.target: int = -1
        """File descriptor for the server to write to, within the block."""

    def __enter__(self) -> Self:
        """Start to read."""
        source, self.target = os.pipe()
        self._thread = threading.Thread(target=self._read, args=(os.fdopen(source, "rb"),), name="log", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop; the server must have ended."""
        os.close(self.target)
        self._thread.join(5)

    def _read(self, lines: IO[bytes]) -> None:
        with lines:
            for line in lines:
                if found := _SPEECH.search(line.decode(errors="replace")):
                    self.ended[found["id"]] = time.perf_counter(), found["ending"]


def read_gauges(port: int) -> dict[str, float]:
    """Return the gauges of a server by name; empty if it has none. Streams are reported only for classes in use."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/metrics")
        with connection.getresponse() as response:
            body = response.read().decode()
            if response.status != http.client.OK:
                return {}
            return {STREAMS: 0.0} | sum_metrics(body.splitlines(), GAUGES)


def sum_metrics(lines: Iterable[str], names: Iterable[str]) -> dict[str, float]:
    """Return the sum over all labels of some metrics in Prometheus's text format. Pure."""
    sums: dict[str, float] = {}
    selected = frozenset(names)
    for line in lines:
        found = _SAMPLE.match(line)
        if found and found["name"] in selected:
            sums[found["name"]] = sums.get(found["name"], 0.0) + float(found["value"])
    return sums


def growth(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return the difference of the values that are in both. Pure."""
    return {name: after[name] - before[name] for name in after if name in before}
