"""Tests of the exported metrics."""

from __future__ import annotations

import threading

import pytest
from prometheus_client.parser import text_string_to_metric_families
from stream_reports import report

from yuliu.metrics.metrics import Metrics
from yuliu.metrics.report import GaugeValues, StreamMoments
from yuliu.metrics.series import MAX_NAMES
from yuliu.types import StreamClass

INTERACTIVE = StreamClass.INTERACTIVE


def samples(metrics: Metrics) -> dict[str, float]:
    """Return all samples by name and labels, as they are written."""
    text = metrics.exposition()[0].decode()
    return {
        sample.name + str({key: sample.labels[key] for key in sorted(sample.labels)} or ""): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_finished_stream_is_exported() -> None:
    """Each figure of its report is in a metric."""
    metrics = Metrics()
    metrics.stream_started(INTERACTIVE)
    metrics.stream_ended(report(degraded=True, underrun_s=0.25, longest_gap_s=0.3, num_cached_segments=1))
    found = samples(metrics)
    whose, by_class = "{'class': 'interactive', 'voice': 'tone'}", "{'class': 'interactive'}"
    assert found[f"yuliu_streams_started_total{by_class}"] == 1
    ended = "{'class': 'interactive', 'door': 'speech', 'ending': 'finished', 'voice': 'tone'}"
    assert found[f"yuliu_streams_ended_total{ended}"] == 1
    assert found[f"yuliu_streams_degraded_total{by_class}"] == 1
    assert found[f"yuliu_ttfp_seconds_sum{whose}"] == pytest.approx(0.061)
    assert found["yuliu_ttfp_seconds_bucket{'class': 'interactive', 'le': '0.05', 'voice': 'tone'}"] == 0
    assert found["yuliu_ttfp_seconds_bucket{'class': 'interactive', 'le': '0.075', 'voice': 'tone'}"] == 1
    for part, took_s in report().moments.parts(0.01).items():
        labels = str({"class": "interactive", "part": part})
        assert found[f"yuliu_ttfp_part_seconds_sum{labels}"] == pytest.approx(took_s)
    assert found[f"yuliu_last_byte_seconds_sum{by_class}"] == 1.5
    assert found["yuliu_stream_seconds_sum{'class': 'interactive', 'ending': 'finished'}"] == 1.6
    assert found[f"yuliu_longest_gap_seconds_sum{by_class}"] == 0.3
    assert found[f"yuliu_underrun_seconds_total{by_class}"] == 0.25
    assert found[f"yuliu_streams_underrun_total{by_class}"] == found[f"yuliu_streams_heard_total{by_class}"] == 1
    assert found[f"yuliu_audio_seconds_total{whose}"] == 3
    assert found[f"yuliu_characters_total{whose}"] == 12
    assert found[f"yuliu_sent_bytes_total{whose}"] == 144_000
    assert found["yuliu_segments_total{'source': 'cache'}"] == found["yuliu_segments_total{'source': 'engine'}"] == 1


def test_a_stream_without_audio_has_no_time_to_first_packet() -> None:
    """A rejected stream counts under its code."""
    metrics = Metrics()
    metrics.admission(INTERACTIVE, "rejected", reason="queue_full")
    metrics.stream_ended(
        report(outcome="rejected", code="overloaded", moments=StreamMoments(ended_s=0.5), num_segments=0)
    )
    found = samples(metrics)
    rejected = "{'class': 'interactive', 'decision': 'rejected', 'reason': 'queue_full'}"
    assert found[f"yuliu_admissions_total{rejected}"] == 1
    assert found["yuliu_stream_errors_total{'class': 'interactive', 'code': 'overloaded'}"] == 1
    assert not any(name.startswith("yuliu_ttfp") for name in found)
    assert found["yuliu_streams_heard_total{'class': 'interactive'}"] == 0


def test_the_work_of_engines_is_exported() -> None:
    """Durations, audio and retries are counted, and the real-time factor includes the plans."""
    metrics = Metrics()
    metrics.planned("baker", 0.04, front_end_s=0.01)
    metrics.step("baker", 0.02, audio_s=0.4, batch=3)
    metrics.step("baker", 0.04, audio_s=0.6)
    metrics.retried("baker")
    found = samples(metrics)
    by_engine = "{'engine': 'baker'}"
    assert found[f"yuliu_plan_seconds_sum{by_engine}"] == 0.04
    assert found[f"yuliu_front_end_seconds_sum{by_engine}"] == 0.01
    assert found[f"yuliu_step_seconds_sum{by_engine}"] == pytest.approx(0.06)
    assert found[f"yuliu_step_seconds_count{by_engine}"] == 2
    assert found[f"yuliu_step_utterances_total{by_engine}"] == 4
    assert found[f"yuliu_engine_audio_seconds_total{by_engine}"] == pytest.approx(1.0)
    assert found[f"yuliu_retries_total{by_engine}"] == 1
    assert found[f"yuliu_engine_rtf_ratio{by_engine}"] == pytest.approx(0.1)


def test_events_are_counted() -> None:
    """Each event increments its series."""
    metrics = Metrics()
    metrics.chunk_gap(0.03)
    metrics.cancelled(0.004)
    metrics.worker_replaced("hung")
    metrics.cache_lookup("phrases", hit=True)
    metrics.cache_lookup("phrases", hit=False)
    metrics.feedback("click")
    found = samples(metrics)
    assert found["yuliu_chunk_gap_seconds_sum"] == 0.03
    assert found["yuliu_cancel_seconds_bucket{'le': '0.005'}"] == 1
    assert found["yuliu_workers_replaced_total{'reason': 'hung'}"] == 1
    assert found["yuliu_cache_lookups_total{'cache': 'phrases', 'result': 'hit'}"] == 1
    assert found["yuliu_cache_lookups_total{'cache': 'phrases', 'result': 'miss'}"] == 1
    assert found["yuliu_feedback_total{'kind': 'click'}"] == 1
    assert metrics.stats()["feedback"] == {"click": 1}


def test_gauges_are_read_at_each_scrape() -> None:
    """Unknown gauges are left out, and several sources are added up."""
    metrics = Metrics()
    busy = 0
    metrics.gauge_source(
        lambda: GaugeValues(
            streams={(INTERACTIVE, "speaking"): 2},
            queue_depth={INTERACTIVE: 1},
            num_workers=2,
            num_workers_busy=busy,
            throughput_mode=False,
        )
    )
    metrics.gauge_source(lambda: GaugeValues(streams={(INTERACTIVE, "speaking"): 1}, cache_bytes={"phrases": 9}))
    busy = 2
    found = samples(metrics)
    assert found["yuliu_streams{'class': 'interactive', 'state': 'speaking'}"] == 3
    assert found["yuliu_queue_depth{'class': 'interactive'}"] == 1
    assert found["yuliu_workers"] == found["yuliu_workers_busy"] == 2
    assert found["yuliu_throughput_mode"] == 0
    assert found["yuliu_cache_bytes{'cache': 'phrases'}"] == 9
    assert "yuliu_connections" not in found
    assert metrics.stats()["now"] == {
        "streams": {"interactive": {"speaking": 3}},
        "queue_depth": {"interactive": 1},
        "workers": 2,
        "workers_busy": 2,
        "throughput_mode": False,
        "cache_bytes": {"phrases": 9},
        "connections": None,
        "tasks": None,
    }


def test_the_values_of_a_label_are_limited() -> None:
    """A label made from client input by mistake cannot fill the memory."""
    metrics = Metrics()
    for index in range(10 * MAX_NAMES):
        metrics.stream_ended(report(voice=f"v{index}"))
        metrics.step(f"e{index}", 0.01, audio_s=0.1)
    found = samples(metrics)
    assert sum(name.startswith("yuliu_audio_seconds_total") for name in found) == MAX_NAMES + 1
    assert found["yuliu_audio_seconds_total{'class': 'interactive', 'voice': 'other'}"] == 3 * 9 * MAX_NAMES
    assert found["yuliu_step_seconds_count{'engine': 'other'}"] == 9 * MAX_NAMES


def test_metrics_are_thread_safe() -> None:
    """Workers record events concurrently."""
    metrics = Metrics()

    def tell() -> None:
        for _ in range(500):
            metrics.step("baker", 0.01, audio_s=1.0)
            metrics.stream_ended(report())

    threads = [threading.Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = samples(metrics)
    assert found["yuliu_engine_audio_seconds_total{'engine': 'baker'}"] == 2000
    assert metrics.stats()["streams"] == {"started": 0, "finished": 2000, "failed": 0, "cancelled": 0, "rejected": 0}


def test_two_instances_are_independent() -> None:
    """Each has its own registry."""
    first, second = Metrics(), Metrics()
    first.feedback("gap")
    assert samples(first)["yuliu_feedback_total{'kind': 'gap'}"] == 1
    assert samples(second)["yuliu_feedback_total{'kind': 'gap'}"] == 0


def test_openmetrics_is_returned_on_request() -> None:
    """Current Prometheus servers request it."""
    body, media_type = Metrics().exposition("application/openmetrics-text; version=1.0.0")
    assert media_type.startswith("application/openmetrics-text; version=1.0.0")
    assert body.endswith(b"# EOF\n")


def test_creation_times_are_left_out() -> None:
    """They would be a fifth of all lines."""
    metrics = Metrics()
    metrics.stream_ended(report())
    assert b"_created" not in metrics.exposition()[0]
