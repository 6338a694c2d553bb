"""Statistics of the last minute as JSON."""

from __future__ import annotations

import json

from yuliu.metrics.metrics import Metrics
from yuliu.wire.stats import stats_body


def test_numbers_are_rounded_to_microseconds() -> None:
    """This applies at every depth."""
    body = stats_body({"a": 0.12345678, "b": {"c": 1 / 3, "d": None, "e": 7}})
    assert body == b'{"a": 0.123457, "b": {"c": 0.333333, "d": null, "e": 7}}'


def test_statistics_of_the_metrics_can_be_written() -> None:
    """They can also be written before any request has arrived."""
    assert json.loads(stats_body(Metrics().stats()))["ttfp_ms"] == dict.fromkeys(("p50", "p95", "p99", "max"))
