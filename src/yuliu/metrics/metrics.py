"""Recorder of all events of a process, exported to Prometheus, ``/v1/stats`` and OpenTelemetry."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from yuliu.metrics.levels import GaugeCollector, levels_values
from yuliu.metrics.process import GpuCollector, ProcessCollector, load_nvml
from yuliu.metrics.series import MAX_NAMES, OTHER, EngineSeries, EventSeries, StreamSeries, WorkSeries
from yuliu.metrics.trace import record_span
from yuliu.metrics.window import StatsWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.trace import Tracer

    from yuliu.metrics.levels import LevelSource
    from yuliu.metrics.report import FeedbackKind, Loss, StreamReport
    from yuliu.types import StreamClass


def exposition(registry: CollectorRegistry, accept: str = "") -> tuple[bytes, str]:
    """Return all metrics and their media type, in the Prometheus format that the ``Accept`` header prefers."""
    encode, media_type = choose_encoder(accept)
    return encode(_WithoutCreated(registry)), media_type


class _WithoutCreated:
    """Registry without the creation times of series, which are a fifth of all lines and have no use.

    The client library can only omit them for the whole process, which may have other metrics.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """Yield the families of the registry."""
        for family in self._registry.collect():
            kept = Metric(family.name, family.documentation, family.type, family.unit)
            kept.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield kept


AdmissionDecision = Literal["admitted", "queued", "rejected"]


class Metrics:
    """Metrics of one process, in a registry of their own.

    All methods may be called from any thread. They record numbers and the names of voices, engines, endpoints, reasons
    and kinds; never text or ids.

    Args:
        clock: Monotonic clock, in seconds.
        tracer: Tracer that records a span for each stream; see :func:`yuliu.metrics.trace.open_tracer`.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, tracer: Tracer | None = None) -> None:
        self.registry = CollectorRegistry()
        """Registry that is exported."""
        self._clock = clock
        self._tracer = tracer
        self._lock = threading.Lock()
        self._window = StatsWindow()
        self._levels = GaugeCollector()
        self._streams = StreamSeries(self.registry)
        self._engines: dict[str, EngineSeries] = {}
        self._work = WorkSeries(self.registry)
        self._events = EventSeries(self.registry)
        for collector in (self._levels, _Rtf(self), ProcessCollector(), GpuCollector(load_nvml)):
            self.registry.register(collector)

    def stream_started(self, stream_class: StreamClass) -> None:
        """Record an opened stream, before the decision to admit it."""
        self._events.started.labels(stream_class.value).inc()
        with self._lock:
            self._window.started(self._clock())

    def stream_ended(self, report: StreamReport) -> None:
        """Record the end of a stream, once for each, rejected ones included."""
        self._streams.ended(report)
        with self._lock:
            self._window.ended(report, self._clock())
        if self._tracer is not None:
            record_span(report, self._tracer)

    def admission(self, stream_class: StreamClass, decision: AdmissionDecision, *, reason: str = "") -> None:
        """Record the decision about a stream, and its reason as a fixed word."""
        self._events.admissions.labels(stream_class.value, decision, self._events.reasons(reason)).inc()

    def error_told(self, door: str, code: str) -> None:
        """Record an error that was reported to a client."""
        self._events.errors.labels(self._events.doors(door), self._events.codes(code)).inc()

    def planned(self, engine: str, took_s: float, *, front_end_s: float = 0.0) -> None:
        """Record a plan, and the time of the text front end within it."""
        counted = self._engines.get(engine) or self._engine(engine)
        counted.plan.observe(took_s)
        counted.front_end.observe(front_end_s)
        with self._lock:
            self._window.worked(counted.name, took_s, 0.0, self._clock())

    def step(self, engine: str, took_s: float, *, audio_s: float, batch: int = 1) -> None:
        """Record a step: its duration, the audio made, and the number of utterances."""
        counted = self._engines.get(engine) or self._engine(engine)
        counted.step.observe(took_s)
        counted.audio.inc(audio_s)
        counted.utterances.inc(batch)
        with self._lock:
            self._window.worked(counted.name, took_s, audio_s, self._clock())

    def chunk_gap(self, gap_s: float) -> None:
        """Record the time between two chunks that were handed to the transport."""
        self._events.gap.observe(gap_s)

    def cancelled(self, took_s: float) -> None:
        """Record the time between the request to cancel a stream and the end of its work."""
        self._events.cancel.observe(took_s)

    def retried(self, engine: str) -> None:
        """Record a failed plan or step that is repeated on another worker."""
        counted = self._engines.get(engine) or self._engine(engine)
        counted.retries.inc()

    def worker_replaced(self, reason: Loss) -> None:
        """Record the replacement of a worker."""
        self._events.workers_replaced.labels(reason).inc()

    def cache_lookup(self, cache: str, *, hit: bool) -> None:
        """Record a lookup in a cache."""
        self._events.cache_lookups.labels(self._events.caches(cache), "hit" if hit else "miss").inc()

    def feedback(self, kind: FeedbackKind) -> None:
        """Record a complaint of a listener."""
        self._events.feedback.labels(kind).inc()
        with self._lock:
            self._window.feedback(kind, self._clock())

    def gauge_source(self, source: LevelSource) -> None:
        """Add a source of gauges, which is read at each scrape from the scraping thread."""
        self._levels.add(source)

    def rtfs(self) -> dict[str, float]:
        """Return compute time per audio time of each engine over the last minute."""
        with self._lock:
            return self._window.rtfs(self._clock())

    def stats(self) -> dict[str, object]:
        """Return the last minute and the current gauges as plain values for JSON."""
        with self._lock:
            stats = self._window.stats(self._clock())
        return {**stats, "now": levels_values(self._levels.now())}

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """Return all metrics as Prometheus reads them, and their media type.

        Args:
            accept: ``Accept`` header of the request.
        """
        return exposition(self.registry, accept)

    def _engine(self, engine: str) -> EngineSeries:
        with self._lock:
            if engine not in self._engines and len(self._engines) < MAX_NAMES:
                self._engines[engine] = EngineSeries(engine, self._work)
            return self._engines.get(engine) or self._engines.setdefault(OTHER, EngineSeries(OTHER, self._work))


class _Rtf(Collector):
    """Real-time factor of the last minute, which saves a division of rates."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Yield one gauge for each engine that made audio."""
        family = GaugeMetricFamily(
            "yuliu_engine_rtf_ratio", "Compute time per audio time, last minute.", labels=["engine"]
        )
        for engine, rtf in self._metrics.rtfs().items():
            family.add_metric([engine], rtf)
        yield family
