"""Tests of the span of a stream."""

from __future__ import annotations

import builtins
import logging
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id
from stream_reports import SPOKEN, report

from yuliu.metrics.metrics import Metrics
from yuliu.metrics.report import StreamMoments, StreamReport
from yuliu.metrics.trace import ENDPOINTS, exporting_provider, open_tracer, record_span

BEGAN_NS = 1_769_860_800_000_000_000


def span_of(stream: StreamReport) -> ReadableSpan:
    """Return the only span of a stream."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    record_span(stream, provider.get_tracer("test"))
    (span,) = exporter.get_finished_spans()
    return span


def test_events_have_their_times() -> None:
    """The span starts and ends with the stream, although it is made afterwards."""
    span = span_of(report())
    assert (span.name, span.kind, span.status.status_code) == ("stream", SpanKind.SERVER, StatusCode.UNSET)
    assert span.start_time == BEGAN_NS
    assert span.end_time == pytest.approx(BEGAN_NS + 1_600_000_000, abs=1_000)
    assert [(event.name, round((event.timestamp - BEGAN_NS) / 1e6)) for event in span.events] == [
        ("first_text", 0),
        ("admitted", 1),
        ("first_segment", 2),
        ("plan_began", 3),
        ("planned", 43),
        ("first_sound", 60),
        ("first_packet", 62),
        ("last_packet", 1500),
        ("finished", 1600),
    ]


def test_attributes_are_numbers_and_names() -> None:
    """They come from the report and contain no text."""
    attributes = dict(span_of(report(num_retries=1)).attributes or {})
    assert attributes.pop("yuliu.ttfp_s") == pytest.approx(0.061)
    assert attributes == {
        "yuliu.stream.id": "turn-7",
        "yuliu.class": "interactive",
        "yuliu.voice": "tone",
        "yuliu.door": "speech",
        "yuliu.outcome": "finished",
        "yuliu.degraded": False,
        "yuliu.front_end_s": 0.01,
        "yuliu.audio_s": 3.0,
        "yuliu.characters": 12,
        "yuliu.bytes": 144_000,
        "yuliu.segments": 2,
        "yuliu.segments.cached": 0,
        "yuliu.retries": 1,
        "yuliu.underrun_s": 0.0,
        "yuliu.longest_gap_s": 0.0,
    }


def test_a_failure_is_an_error() -> None:
    """The status has the code of the error; a cancel is no error."""
    span = span_of(
        report(outcome="failed", code="synthesis_failed", door="library", moments=StreamMoments(ended_s=0.1))
    )
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "synthesis_failed")
    assert span.kind == SpanKind.INTERNAL
    assert [event.name for event in span.events] == ["failed"]
    assert span_of(report(outcome="cancelled")).status.status_code == StatusCode.UNSET


def test_the_span_belongs_to_the_trace_of_the_request() -> None:
    """An invalid ``traceparent`` is ignored."""
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    span = span_of(report(trace_parent=f"00-{trace}-{parent}-01"))
    assert span.parent
    assert (format_trace_id(span.parent.trace_id), format_span_id(span.parent.span_id)) == (trace, parent)
    assert span_of(report(trace_parent="nonsense")).parent is None


def test_metrics_record_the_span() -> None:
    """A reported stream needs no other call."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    Metrics(tracer=provider.get_tracer("test")).stream_ended(report())
    assert [len(span.events) for span in exporter.get_finished_spans()] == [9]


def test_no_span_is_recorded_without_a_collector() -> None:
    """A span needs a provider of the host program or an endpoint in the environment."""
    tracer = open_tracer({})
    assert tracer is not None
    record_span(report(), tracer)
    assert not tracer.start_span("x").is_recording()


def test_without_opentelemetry_there_are_no_spans(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning is logged only if an endpoint is configured."""
    real = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return real(name, *rest, **named)

    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(builtins, "__import__", missing)
    assert open_tracer({}) is None
    assert not caplog.records
    assert open_tracer({ENDPOINTS[1]: "http://127.0.0.1:4318"}) is None
    assert "pip install 'yuliu[otel]'" in caplog.text


class Collector(BaseHTTPRequestHandler):
    """Collector that stores its requests."""

    received: list[ExportTraceServiceRequest]

    def do_POST(self) -> None:
        """Store the spans."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_spans_are_sent_to_the_endpoint_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are sent by OTLP over HTTP with the name of the service."""
    Collector.received = []
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv(ENDPOINTS[1], f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        provider = exporting_provider()
        record_span(report(), provider.get_tracer("test"))
        provider.shutdown()
        server.shutdown()
        thread.join()
    (request,) = Collector.received
    (resource,) = request.resource_spans
    assert {each.key: each.value.string_value for each in resource.resource.attributes}["service.name"] == "yuliu"
    (span,) = resource.scope_spans[0].spans
    assert [event.name for event in span.events][-2:] == ["last_packet", "finished"]
    assert span.end_time_unix_nano - span.start_time_unix_nano == pytest.approx(1e9 * SPOKEN.ended_s, abs=1_000)
