"""Memory and CPU time of this process on every platform, and of NVIDIA GPUs.

``prometheus_client`` has its own collector, which reads ``/proc`` and only works on Linux.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

import psutil
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.core import Metric


class ProcessCollector(Collector):
    """Collector of this process, with the metric names of all Prometheus clients."""

    def collect(self) -> Iterator[Metric]:
        """Read the process."""
        process = psutil.Process()  # reads files, so it is created at the scrape, not in a running event loop
        with process.oneshot():
            memory = process.memory_info()
            cpu = process.cpu_times()
            started_s = process.create_time()
            num_threads = process.num_threads()
        yield GaugeMetricFamily("process_resident_memory_bytes", "Resident memory.", value=memory.rss)
        yield GaugeMetricFamily("process_virtual_memory_bytes", "Virtual memory.", value=memory.vms)
        yield CounterMetricFamily("process_cpu_seconds", "CPU time, user and system.", value=cpu.user + cpu.system)
        yield GaugeMetricFamily("process_start_time_seconds", "Start of the process, Unix time.", value=started_s)
        yield GaugeMetricFamily("process_threads", "Threads of the process.", value=num_threads)
        if hasattr(process, "num_fds"):  # not on Windows
            yield GaugeMetricFamily("process_open_fds", "Open file descriptors.", value=process.num_fds())


class GpuCollector(Collector):
    """Collector of the GPUs that NVIDIA's library finds, if it is installed.

    Args:
        load: Return the initialised module of the library; None if there is none. Called at the first scrape.
    """

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = cache(load)

    def collect(self) -> Iterator[Metric]:
        """Read the GPUs."""
        nvml = self._load()
        if nvml is None:
            return
        busy = GaugeMetricFamily("yuliu_gpu_busy_ratio", "Share of time the GPU was busy.", labels=["gpu"])
        used = GaugeMetricFamily("yuliu_gpu_memory_used_bytes", "Memory in use.", labels=["gpu"])
        for index in range(nvml.nvmlDeviceGetCount()):
            device = nvml.nvmlDeviceGetHandleByIndex(index)
            busy.add_metric([str(index)], nvml.nvmlDeviceGetUtilizationRates(device).gpu / 100)
            used.add_metric([str(index)], nvml.nvmlDeviceGetMemoryInfo(device).used)
        yield busy
        yield used


def load_nvml(module: str = "pynvml") -> Any:  # noqa: ANN401 - the library has no types
    """Return NVIDIA's library (package ``nvidia-ml-py``) if it is installed and finds a GPU."""
    try:
        nvml = importlib.import_module(module)
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
        return nvml if nvml.nvmlDeviceGetCount() else None
    except nvml.NVMLError:  # no driver
        return None
