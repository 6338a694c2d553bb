"""What a run takes of the machine: CPU time of the server and of the load generator, busy cores, memory."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import psutil

SAMPLE_EVERY_S = 0.25
MB = 2**20


@dataclass(frozen=True, slots=True)
class Reading:
    """All meters at a moment."""

    at_s: float
    """By :func:`time.perf_counter`."""
    server_cpu_s: float
    generator_cpu_s: float
    busy_s: float
    """CPU time of all cores that was not idle, whoever took it."""
    rss: int
    """Resident memory of the server, bytes."""


class Gauge:
    """Reads the meters of a server process and of this process, which generates the load."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._rss: list[int] = []

    def read(self) -> Reading:
        """All meters, now."""
        server = self._process.cpu_times()
        machine = psutil.cpu_times()._asdict()
        idle = ("idle", "iowait", "steal", "guest", "guest_nice")  # guests are counted among the users
        busy_s = sum(value for name, value in machine.items() if name not in idle)
        self._rss.append(self.rss())
        return Reading(time.perf_counter(), server.user + server.system, time.process_time(), busy_s, self._rss[-1])

    def rss(self) -> int:
        """Resident memory of the server, bytes."""
        return self._process.memory_info().rss

    async def watch(self) -> None:
        """Take note of the memory until cancelled."""
        while True:
            self._rss.append(await asyncio.to_thread(self.rss))
            await asyncio.sleep(SAMPLE_EVERY_S)

    def between(self, start: Reading, end: Reading) -> dict[str, Any]:
        """Figures of the time between two readings; the most memory is that of all of the time it was watched."""
        seconds = end.at_s - start.at_s
        return {
            "seconds": round(seconds, 3),
            "server_cpu_s": round(end.server_cpu_s - start.server_cpu_s, 3),
            "generator_cpu_s": round(end.generator_cpu_s - start.generator_cpu_s, 3),
            "cores_busy": round((end.busy_s - start.busy_s) / seconds, 3),
            "cores": psutil.cpu_count() or 1,
            "rss_mb": {
                "start": round(start.rss / MB, 1),
                "end": round(end.rss / MB, 1),
                "max": round(max(self._rss) / MB, 1),
            },
        }
