"""Memory and CPU of this process, on every platform; graphics processors where there are any.

``prometheus_client`` has a collector of its own, which reads ``/proc`` and gives nothing elsewhere than on Linux.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import psutil
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from prometheus_client.core import Metric


class ProcessCollector(Collector):
    """This process, under the names that all Prometheus clients use."""

    def __init__(self) -> None:
        self._process = psutil.Process()

    def collect(self) -> Iterator[Metric]:
        """Read the process."""
        with self._process.oneshot():
            memory = self._process.memory_info()
            cpu = self._process.cpu_times()
            started_s = self._process.create_time()
            num_threads = self._process.num_threads()
        yield GaugeMetricFamily("process_resident_memory_bytes", "Resident memory.", value=memory.rss)
        yield GaugeMetricFamily("process_virtual_memory_bytes", "Virtual memory.", value=memory.vms)
        yield CounterMetricFamily("process_cpu_seconds", "CPU time, user and system.", value=cpu.user + cpu.system)
        yield GaugeMetricFamily("process_start_time_seconds", "Start of the process, Unix time.", value=started_s)
        yield GaugeMetricFamily("process_threads", "Threads of the process.", value=num_threads)
        if hasattr(self._process, "num_fds"):  # not on Windows
            yield GaugeMetricFamily("process_open_fds", "Open file descriptors.", value=self._process.num_fds())


class GpuCollector(Collector):
    """The graphics processors that NVIDIA's library sees.

    Args:
        nvml: The module ``pynvml`` (package ``nvidia-ml-py``), initialised.
    """

    def __init__(self, nvml: ModuleType | Any) -> None:  # noqa: ANN401 - it has no types
        self._nvml = nvml

    def collect(self) -> Iterator[Metric]:
        """Read the processors."""
        busy = GaugeMetricFamily("yuliu_gpu_busy_ratio", "Share of time the GPU was busy.", labels=["gpu"])
        used = GaugeMetricFamily("yuliu_gpu_memory_used_bytes", "Memory in use.", labels=["gpu"])
        for index in range(self._nvml.nvmlDeviceGetCount()):
            device = self._nvml.nvmlDeviceGetHandleByIndex(index)
            busy.add_metric([str(index)], self._nvml.nvmlDeviceGetUtilizationRates(device).gpu / 100)
            used.add_metric([str(index)], self._nvml.nvmlDeviceGetMemoryInfo(device).used)
        yield busy
        yield used


def gpu_collector(module: str = "pynvml") -> GpuCollector | None:
    """A collector, if the library is installed and finds a processor."""
    try:
        nvml = importlib.import_module(module)
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
        return GpuCollector(nvml) if nvml.nvmlDeviceGetCount() else None
    except nvml.NVMLError:  # no driver
        return None
