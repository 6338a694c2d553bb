"""Tests of the metrics of the process and of GPUs."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from yuliu.metrics.metrics import Metrics
from yuliu.metrics.process import GpuCollector, ProcessCollector, load_nvml

if TYPE_CHECKING:
    from prometheus_client.registry import Collector


def values(collector: Collector) -> dict[str, list[float]]:
    return {family.name: [sample.value for sample in family.samples] for family in collector.collect()}


def test_process_metrics_are_those_of_this_process() -> None:
    """They agree with the operating system."""
    found = values(ProcessCollector())
    process = psutil.Process()
    assert found["process_resident_memory_bytes"] == [pytest.approx(process.memory_info().rss, rel=0.2)]
    assert found["process_start_time_seconds"] == [process.create_time()]
    assert 0 < found["process_cpu_seconds"][0] <= sum(process.cpu_times()[:2])
    assert found["process_threads"][0] >= 1
    assert found["process_open_fds"][0] > 2


def test_gpus_are_exported() -> None:
    """Two GPUs are read from a fake of NVIDIA's library."""
    nvml: Any = SimpleNamespace(
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUtilizationRates=lambda device: SimpleNamespace(gpu=40 + device),
        nvmlDeviceGetMemoryInfo=lambda device: SimpleNamespace(used=100 * device),
    )
    assert values(GpuCollector(lambda: nvml)) == {
        "yuliu_gpu_busy_ratio": [0.40, 0.41],
        "yuliu_gpu_memory_used_bytes": [0, 100],
    }


class NoDriver(Exception):
    """Error of the library without a driver."""


def test_without_a_gpu_there_are_no_gpu_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing library, driver or GPU is no error."""
    nvml: Any = ModuleType("stand_in_nvml")
    nvml.NVMLError, nvml.nvmlInit, nvml.nvmlDeviceGetCount = NoDriver, lambda: None, lambda: 0
    monkeypatch.setitem(sys.modules, "stand_in_nvml", nvml)
    assert load_nvml("no_such_module") is None
    assert load_nvml("stand_in_nvml") is None
    nvml.nvmlDeviceGetCount = lambda: 1
    assert load_nvml("stand_in_nvml") is nvml
    nvml.nvmlInit = raise_no_driver
    assert load_nvml("stand_in_nvml") is None
    assert values(GpuCollector(lambda: load_nvml("stand_in_nvml"))) == {}


def raise_no_driver() -> None:
    raise NoDriver


async def test_metrics_can_be_created_in_a_running_loop() -> None:
    """Nothing is read before the first scrape, so nothing blocks."""
    assert Metrics().stats()
