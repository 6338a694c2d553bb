"""Metrics endpoints of a real server."""

from __future__ import annotations

import logging

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import running_server
from stream_reports import report

from yuliu.metrics.metrics import Metrics
from yuliu.server.app import create_app
from yuliu.server.config import AppConfig


def samples(client: httpx.Client) -> dict[str, float]:
    """Return the sum over the labels of each sample."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert answer.headers["x-request-id"]
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def test_metrics_are_scraped() -> None:
    """The metrics are in the form of Prometheus."""
    with running_server() as running:
        found = samples(running.client)
        again = samples(running.client)
    assert found["process_resident_memory_bytes"] > 1e6
    assert again["process_cpu_seconds_total"] >= found["process_cpu_seconds_total"] > 0


def test_tasks_are_counted_and_go_back_to_what_they_were() -> None:
    """The number rises while a client is served, and returns to its former value."""
    with running_server() as running:
        idle = samples(running.client)["yuliu_tasks"]
        running.gate.close()
        speaking = running.connect()
        running.send_speech(speaking, input="hello")
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        assert samples(running.client)["yuliu_tasks"] > idle > 0
        assert running.client.get("/v1/stats").json()["now"]["tasks"] > idle
        speaking.close()
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        running.gate.open()
        running.wait_until(lambda: samples(running.client)["yuliu_tasks"] == idle)


def test_complaints_are_counted_and_logged_by_id(caplog: pytest.LogCaptureFixture) -> None:
    """A complaint appears in metrics, statistics and log."""
    caplog.set_level(logging.INFO)
    with running_server() as running:
        for _ in range(2):
            answer = running.client.post("/v1/feedback", json={"stream": "turn-7", "kind": "click"})
            assert (answer.status_code, answer.json()) == (200, {"status": "counted"})
        assert samples(running.client)["yuliu_feedback_total"] == 2
        stats = running.client.get("/v1/stats")
    assert stats.headers["cache-control"] == "no-store"
    assert stats.json()["feedback"] == {"click": 2}
    assert [record.getMessage() for record in caplog.records].count("feedback id=turn-7 kind=click") == 2


def test_bad_complaints_are_refused() -> None:
    """Bad complaints are refused within the body limit."""
    with running_server() as running:
        wrong = running.client.post("/v1/feedback", json={"stream": "turn-7", "kind": "bad"})
        long = running.client.post("/v1/feedback", json={"stream": "turn-7", "kind": "x" * 2_000})
        other = running.client.get("/v1/feedback")
        assert samples(running.client)["yuliu_feedback_total"] == 0
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "kind")
    assert (long.status_code, long.json()["error"]["code"]) == (413, "body_too_large")
    assert (other.status_code, other.headers["allow"]) == (405, "POST")


async def test_the_paths_show_the_metrics_they_were_given() -> None:
    """The endpoints show the metrics object that they were given."""
    metrics = Metrics()
    metrics.stream_ended(report())
    app = create_app(lambda: pytest.fail("no voices are needed"), AppConfig(metrics=metrics))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        assert "yuliu_characters_total" in (await client.get("/metrics")).text
        stats = (await client.get("/v1/stats")).json()
    assert stats["streams"]["finished"] == 1
    assert stats["ttfp_ms"]["p95"] == pytest.approx(61)
