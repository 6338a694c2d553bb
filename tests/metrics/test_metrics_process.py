"""Memory and CPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from yuliu.metrics.process import GpuCollector, ProcessCollector, gpu_collector

if TYPE_CHECKING:
    from prometheus_client.registry import Collector


def values(collector: Collector) -> dict[str, list[float]]:
    return {family.name: [sample.value for sample in family.samples] for family in collector.collect()}


def test_the_process_is_this_one() -> None:
    """Its figures are those that the system tells."""
    found = values(ProcessCollector())
    process = psutil.Process()
    assert found["process_resident_memory_bytes"] == [pytest.approx(process.memory_info().rss, rel=0.2)]
    assert found["process_start_time_seconds"] == [process.create_time()]
    assert 0 < found["process_cpu_seconds"][0] <= sum(process.cpu_times()[:2])
    assert found["process_threads"][0] >= 1
    assert found["process_open_fds"][0] > 2


def test_graphics_processors() -> None:
    """A stand-in for NVIDIA's library with two of them."""
    nvml: Any = SimpleNamespace(
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUtilizationRates=lambda device: SimpleNamespace(gpu=40 + device),
        nvmlDeviceGetMemoryInfo=lambda device: SimpleNamespace(used=100 * device),
    )
    assert values(GpuCollector(nvml)) == {
        "yuliu_gpu_busy_ratio": [0.40, 0.41],
        "yuliu_gpu_memory_used_bytes": [0, 100],
    }


def test_without_the_library_there_are_none() -> None:
    """Nor is it an error."""
    assert gpu_collector("no_such_module") is None
