"""Resource monitor: CPU time of the server and of the load generator, busy cores, memory."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import psutil

SAMPLE_INTERVAL_S = 0.25
BYTES_PER_MB = 2**20
IDLE_TIMES = ("idle", "iowait", "steal", "guest", "guest_nice")
"""CPU times that are not work; guest time is already part of user time."""


@dataclass(frozen=True, slots=True)
class ResourceSample:
    """All counters at one time."""

    at_s: float
    """Time by :func:`time.perf_counter`."""
    server_cpu_s: float
    generator_cpu_s: float
    busy_s: float
    """CPU time of all cores that was not idle, of any process."""
    rss: int
    """Resident memory of the server, bytes."""


class ResourceMonitor:
    """Samples a server process and this process, which generates the load."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._rss: list[int] = []

    def sample(self) -> ResourceSample:
        """Read all counters now."""
        server = self._process.cpu_times()
        machine = psutil.cpu_times()._asdict()
        busy_s = sum(value for name, value in machine.items() if name not in IDLE_TIMES)
        self._rss.append(self.rss())
        cpu_s = server.user + server.system
        return ResourceSample(time.perf_counter(), cpu_s, time.process_time(), busy_s, self._rss[-1])

    def rss(self) -> int:
        """Return the resident memory of the server, bytes."""
        return self._process.memory_info().rss

    async def watch(self) -> None:
        """Sample the memory until cancelled."""
        while True:
            self._rss.append(await asyncio.to_thread(self.rss))
            await asyncio.sleep(SAMPLE_INTERVAL_S)

    def between(self, start: ResourceSample, end: ResourceSample) -> dict[str, Any]:
        """Return the figures between two samples; the maximum memory covers all samples so far."""
        seconds = end.at_s - start.at_s
        return {
            "seconds": round(seconds, 3),
            "server_cpu_s": round(end.server_cpu_s - start.server_cpu_s, 3),
            "generator_cpu_s": round(end.generator_cpu_s - start.generator_cpu_s, 3),
            "cores_busy": round((end.busy_s - start.busy_s) / seconds, 3),
            "cores": psutil.cpu_count() or 1,
            "rss_mb": {
                "start": round(start.rss / BYTES_PER_MB, 1),
                "end": round(end.rss / BYTES_PER_MB, 1),
                "max": round(max(self._rss) / BYTES_PER_MB, 1),
            },
        }
