"""One object that is told what happens, and tells Prometheus, ``/v1/stats`` and whoever asks."""

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
    """All metrics as bytes, and their media type: what the ``Accept`` header prefers of Prometheus' forms."""
    encode, media_type = choose_encoder(accept)
    return encode(_WithoutCreated(registry)), media_type


class _WithoutCreated:
    """A registry without the times at which series were created: a fifth of all lines, which nobody asks for.

    The client library can leave them out only for the whole process, which may have metrics that are not ours.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """The families of the registry."""
        for family in self._registry.collect():
            kept = Metric(family.name, family.documentation, family.type, family.unit)
            kept.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield kept


AdmissionDecision = Literal["admitted", "queued", "rejected"]


class Metrics:
    """What one process measures, in a registry of its own.

    All methods may be called from any thread. They keep numbers and the names of voices, engines, doors, reasons and
    kinds; never text, never ids.

    Args:
        clock: Seconds, monotonic.
        tracer: Makes a span of each stream; see :func:`yuliu.metrics.trace.open_tracer`.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, tracer: Tracer | None = None) -> None:
        self.registry = CollectorRegistry()
        """What is exported."""
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
        """A stream was opened; whether it is admitted is told later."""
        self._events.started.labels(stream_class.value).inc()
        with self._lock:
            self._window.started(self._clock())

    def stream_ended(self, report: StreamReport) -> None:
        """A stream is over: told once for each, rejected ones too."""
        self._streams.ended(report)
        with self._lock:
            self._window.ended(report, self._clock())
        if self._tracer is not None:
            record_span(report, self._tracer)

    def admission(self, stream_class: StreamClass, decision: AdmissionDecision, *, reason: str = "") -> None:
        """What was decided about a stream that asked to be let in, and why, in a word of ours."""
        self._events.admissions.labels(stream_class.value, decision, self._events.reasons(reason)).inc()

    def error_told(self, door: str, code: str) -> None:
        """A client was told of an error, whether it was its own fault or not."""
        self._events.errors.labels(self._events.doors(door), self._events.codes(code)).inc()

    def planned(self, engine: str, took_s: float, *, front_end_s: float = 0.0) -> None:
        """An engine planned a segment; reading its text was a part of that."""
        counted = self._engines.get(engine) or self._engine(engine)
        counted.plan.observe(took_s)
        counted.front_end.observe(front_end_s)
        with self._lock:
            self._window.worked(counted.name, took_s, 0.0, self._clock())

    def step(self, engine: str, took_s: float, *, audio_s: float, batch: int = 1) -> None:
        """An engine made a step: so much sound, for so many utterances at once."""
        counted = self._engines.get(engine) or self._engine(engine)
        counted.step.observe(took_s)
        counted.audio.inc(audio_s)
        counted.utterances.inc(batch)
        with self._lock:
            self._window.worked(counted.name, took_s, audio_s, self._clock())

    def chunk_gap(self, gap_s: float) -> None:
        """So long after the chunk before, a chunk was handed to the transport."""
        self._events.gap.observe(gap_s)

    def cancelled(self, took_s: float) -> None:
        """A stream was cancelled; so long after that was asked, its work had ended."""
        self._events.cancel.observe(took_s)

    def retried(self, engine: str) -> None:
        """A plan or step that failed is repeated on another worker."""
        counted = self._engines.get(engine) or self._engine(engine)
        counted.retries.inc()

    def worker_replaced(self, reason: Loss) -> None:
        """A worker was given up, and another took its place."""
        self._events.workers_replaced.labels(reason).inc()

    def cache_lookup(self, cache: str, *, hit: bool) -> None:
        """Something was looked for in a cache."""
        self._events.cache_lookups.labels(self._events.caches(cache), "hit" if hit else "miss").inc()

    def feedback(self, kind: FeedbackKind) -> None:
        """A listener complained."""
        self._events.feedback.labels(kind).inc()
        with self._lock:
            self._window.feedback(kind, self._clock())

    def gauge_source(self, source: LevelSource) -> None:
        """What is so at a moment is asked of this source at each scrape, from the scraping thread."""
        self._levels.add(source)

    def rtfs(self) -> dict[str, float]:
        """Compute time per audio time of each engine, over the last minute."""
        with self._lock:
            return self._window.rtfs(self._clock())

    def stats(self) -> dict[str, object]:
        """The last minute, and what is so now, as plain values for JSON."""
        with self._lock:
            stats = self._window.stats(self._clock())
        return {**stats, "now": levels_values(self._levels.now())}

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """All metrics as Prometheus reads them, and their media type.

        Args:
            accept: The ``Accept`` header of the one who asks.
        """
        return exposition(self.registry, accept)

    def _engine(self, engine: str) -> EngineSeries:
        with self._lock:
            if engine not in self._engines and len(self._engines) < MAX_NAMES:
                self._engines[engine] = EngineSeries(engine, self._work)
            return self._engines.get(engine) or self._engines.setdefault(OTHER, EngineSeries(OTHER, self._work))


class _Rtf(Collector):
    """The real-time factor of the last minute, which saves a division of rates."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """One gauge for each engine that made sound."""
        family = GaugeMetricFamily(
            "yuliu_engine_rtf_ratio", "Compute time per audio time, last minute.", labels=["engine"]
        )
        for engine, rtf in self._metrics.rtfs().items():
            family.add_metric([engine], rtf)
        yield family
