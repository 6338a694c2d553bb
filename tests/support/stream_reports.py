"""Reports of streams as a scheduler and a server would make them."""

from __future__ import annotations

from typing import Any

from yuliu.metrics.metrics import Metrics
from yuliu.metrics.report import GaugeValues, StreamMoments, StreamReport
from yuliu.types import StreamClass

SPOKEN = StreamMoments(
    first_text_s=0.0,
    admitted_s=0.001,
    segment_s=0.002,
    plan_began_s=0.003,
    planned_s=0.043,
    made_s=0.06,
    sent_s=0.062,
    last_sent_s=1.5,
    ended_s=1.6,
)


def report(**fields: Any) -> StreamReport:
    """Return the report of a finished stream, with changes."""
    usual: dict[str, Any] = {
        "stream_id": "turn-7",
        "stream_class": StreamClass.INTERACTIVE,
        "voice": "tone",
        "door": "speech",
        "outcome": "finished",
        "began_at_s": 1_769_860_800.0,
        "moments": SPOKEN,
        "front_end_s": 0.01,
        "audio_s": 3.0,
        "num_characters": 12,
        "num_bytes": 144_000,
        "num_segments": 2,
    }
    return StreamReport(**usual | fields)


def complete_metrics() -> Metrics:
    """Return metrics with at least one observation of each kind."""
    metrics = Metrics()
    metrics.stream_started(StreamClass.INTERACTIVE)
    metrics.stream_ended(report(outcome="failed", code="synthesis_failed", degraded=True))
    metrics.admission(StreamClass.INTERACTIVE, "rejected", reason="queue_full")
    metrics.planned("tone", 0.02, front_end_s=0.01)
    metrics.step("tone", 0.02, audio_s=0.2)
    metrics.chunk_gap(0.02)
    metrics.cancelled(0.01)
    metrics.retried("tone")
    metrics.worker_replaced("hung")
    metrics.error_told("speech", "invalid_request")
    metrics.cache_lookup("phrases", hit=True)
    metrics.feedback("gap")
    metrics.gauge_source(
        lambda: GaugeValues(
            streams={(StreamClass.INTERACTIVE, "speaking"): 1},
            queue_depth={StreamClass.INTERACTIVE: 1},
            num_workers=1,
            num_workers_busy=1,
            throughput_mode=True,
            cache_bytes={"phrases": 1},
            num_connections=1,
            num_tasks=1,
        )
    )
    return metrics


def exported(metrics: Metrics) -> dict[str, tuple[str, frozenset[str]]]:
    """Return type and labels by the name used in queries: counters with ``_total``, histograms once."""
    found = {}
    for family in metrics.registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        found[name] = (family.type, frozenset(labels))
    return found
