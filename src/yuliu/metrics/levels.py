"""Gauges, which are read at each scrape instead of being pushed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from yuliu.metrics.report import GaugeValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prometheus_client.core import Metric

    from yuliu.types import StreamClass

    LevelSource = Callable[[], GaugeValues]
    Labelled = Mapping[tuple[str, ...], int]


class GaugeCollector(Collector):
    """Collector of gauges whose sources are read at each scrape."""

    def __init__(self) -> None:
        self._sources: list[LevelSource] = []

    def add(self, source: LevelSource) -> None:
        """Add a source, which is called from any thread and must return without blocking."""
        self._sources = [*self._sources, source]

    def now(self) -> GaugeValues:
        """Return the sum of all sources."""
        return _sum([source() for source in self._sources])

    def describe(self) -> Iterable[Metric]:
        """Return all families that may be collected, so that registering does not call the sources."""
        return list(_families(GaugeValues(), all_known=True))

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges that are known."""
        yield from _families(self.now())


def levels_values(levels: GaugeValues) -> dict[str, object]:
    """Return the gauges as plain values for JSON; an unknown one is null."""
    streams: dict[str, dict[str, int]] = {}
    for (stream_class, state), number in levels.streams.items():
        streams.setdefault(stream_class.value, {})[state] = number
    return {
        "streams": streams,
        "queue_depth": {stream_class.value: number for stream_class, number in levels.queue_depth.items()},
        "workers": levels.num_workers,
        "workers_busy": levels.num_workers_busy,
        "throughput_mode": levels.throughput_mode,
        "cache_bytes": dict(levels.cache_bytes),
        "connections": levels.num_connections,
        "tasks": levels.num_tasks,
    }


def _families(levels: GaugeValues, *, all_known: bool = False) -> Iterator[Metric]:
    streams: Labelled = {(cls.value, state): number for (cls, state), number in levels.streams.items()}
    depths: Labelled = {(cls.value,): number for cls, number in levels.queue_depth.items()}
    caches: Labelled = {(cache,): number for cache, number in levels.cache_bytes.items()}
    labelled: list[tuple[str, str, list[str], Labelled]] = [
        ("yuliu_streams", "Open streams.", ["class", "state"], streams),
        ("yuliu_queue_depth", "Streams that wait to be admitted.", ["class"], depths),
        ("yuliu_cache_bytes", "Memory held by a cache.", ["cache"], caches),
    ]
    for name, text, labels, values in labelled:
        if values or all_known:
            yield _labelled(name, text, labels, values)
    single: list[tuple[str, str, float | None]] = [
        ("yuliu_workers", "Workers: threads that run engines.", levels.num_workers),
        ("yuliu_workers_busy", "Workers that are planning or making a step.", levels.num_workers_busy),
        ("yuliu_throughput_mode", "1 while new streams are spoken in throughput mode.", levels.throughput_mode),
        ("yuliu_connections", "Open connections, idle ones counted.", levels.num_connections),
        ("yuliu_tasks", "Tasks of the event loop.", levels.num_tasks),
    ]
    for name, text, value in single:
        if value is not None or all_known:
            yield GaugeMetricFamily(name, text, value=value)


def _labelled(name: str, text: str, labels: list[str], values: Labelled) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _sum(all_levels: list[GaugeValues]) -> GaugeValues:
    streams: Counter[tuple[StreamClass, str]] = Counter()
    depths: Counter[StreamClass] = Counter()
    caches: Counter[str] = Counter()
    for levels in all_levels:
        streams.update(levels.streams)
        depths.update(levels.queue_depth)
        caches.update(levels.cache_bytes)
    modes = [levels.throughput_mode for levels in all_levels if levels.throughput_mode is not None]
    return GaugeValues(
        streams=streams,
        queue_depth=depths,
        cache_bytes=caches,
        num_workers=_total(levels.num_workers for levels in all_levels),
        num_workers_busy=_total(levels.num_workers_busy for levels in all_levels),
        throughput_mode=any(modes) if modes else None,
        num_connections=_total(levels.num_connections for levels in all_levels),
        num_tasks=_total(levels.num_tasks for levels in all_levels),
    )


def _total(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
