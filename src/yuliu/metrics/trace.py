"""OpenTelemetry: one span for each stream, made at its end from its recorded times.

OpenTelemetry is optional (``pip install 'yuliu[otel]'``); without it there are no spans.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from yuliu.logger import event_logger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer
    from opentelemetry.util.types import AttributeValue

    from yuliu.metrics.report import StreamMoments, StreamReport

_log = event_logger(__name__)

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Environment variables that name the target of spans. Without them nothing is sent."""


def open_tracer(environ: Mapping[str, str] = os.environ) -> Tracer | None:
    """Return the tracer: an exporter of its own if the environment names an endpoint, else that of the host program.

    None if OpenTelemetry is not installed.
    """
    wanted = any(environ.get(name) for name in ENDPOINTS)
    try:
        from opentelemetry import trace

        provider = exporting_provider() if wanted else trace.get_tracer_provider()
    except ImportError:
        if wanted:
            _log.warning("no_spans", reason="not_installed", advice="pip install 'yuliu[otel]'")
        return None
    return provider.get_tracer("yuliu")


def exporting_provider() -> TracerProvider:
    """Return a provider that sends spans by OTLP over HTTP, in batches, from a thread, as ``OTEL_*`` configures it.

    Raises:
        ImportError: The extra ``otel`` is not installed.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = Resource.create({"service.name": "yuliu"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=named)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def record_span(report: StreamReport, tracer: Tracer) -> None:
    """Record the span of a finished stream: an event for each moment, no text."""
    from opentelemetry.trace import SpanKind, Status, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = None
    if report.trace_parent:
        context = TraceContextTextMapPropagator().extract({"traceparent": report.trace_parent})
    kind = SpanKind.INTERNAL if report.door == "library" else SpanKind.SERVER
    span = tracer.start_span("stream", context, kind, start_time=_unix_ns(report, 0.0))
    if span.is_recording():
        span.set_attributes(_attributes(report))
        for name, moment_s in _events(report.moments):
            span.add_event(name, timestamp=_unix_ns(report, moment_s))
        span.add_event(report.outcome, timestamp=_unix_ns(report, report.moments.ended_s))
        if report.outcome == "failed":
            span.set_status(Status(StatusCode.ERROR, report.code))
    span.end(_unix_ns(report, report.moments.ended_s))


def _events(moments: StreamMoments) -> Iterator[tuple[str, float]]:
    events = {
        "first_text": moments.first_text_s,
        "admitted": moments.admitted_s,
        "first_segment": moments.segment_s,
        "plan_began": moments.plan_began_s,
        "planned": moments.planned_s,
        "first_sound": moments.made_s,
        "first_packet": moments.sent_s,
        "last_packet": moments.last_sent_s,
    }
    happened = [(moment_s, name) for name, moment_s in events.items() if moment_s is not None]
    return ((name, moment_s) for moment_s, name in sorted(happened, key=lambda event: event[0]))


def _attributes(report: StreamReport) -> dict[str, AttributeValue]:
    values: dict[str, AttributeValue | None] = {
        "stream.id": report.stream_id,
        "class": report.stream_class.value,
        "voice": report.voice,
        "door": report.door,
        "outcome": report.outcome,
        "code": report.code or None,
        "degraded": report.degraded,
        "ttfp_s": report.moments.ttfp_s(),
        "front_end_s": report.front_end_s,
        "audio_s": report.audio_s,
        "characters": report.num_characters,
        "bytes": report.num_bytes,
        "segments": report.num_segments,
        "segments.cached": report.num_cached_segments,
        "retries": report.num_retries,
        "underrun_s": report.underrun_s,
        "longest_gap_s": report.longest_gap_s,
    }
    return {f"yuliu.{name}": value for name, value in values.items() if value is not None}


def _unix_ns(report: StreamReport, moment_s: float) -> int:
    return round(1e9 * (report.began_at_s + moment_s))
