"""Pages of loads, and the cost of the engines alone."""

from __future__ import annotations

from typing import Any

import pytest

from yuliu.bench.engine_cost import engine_cost
from yuliu.bench.load.capacity import capacity_figures
from yuliu.bench.load.report import load_page
from yuliu.bench.texts import LoadRequest

HEAD = {
    "at": "2026-01-01",
    "command": "yuliu bench load --streams 10",
    "machine": {"cpu": "a processor", "cores": 2, "python": "3.11"},
}
POINT: dict[str, Any] = {
    "streams": 10,
    "rate_per_s": 0.0,
    "voices": ["baker", "heart"],
    "seconds": 15.0,
    "requests": 40,
    "ttfp_ms": {"p50": 20.0, "p95": 40.0, "p99": 50.0, "max": 60.0},
    "underrun": {"streams": 0, "seconds": 0.0, "of": 30},
    "rejected": 0,
    "failed": 0,
    "audio_s_per_s": 10.0,
    "cores_busy": 1.5,
    "cores": 2,
    "generator_cpu_s": 0.4,
    "cpu_ratio": 1.3,
    "rss_mb": {"start": 300.0, "end": 301.0, "max": 302.0},
}


def test_one_load_is_one_row() -> None:
    """Every figure stands under a heading."""
    page = load_page(HEAD | POINT)
    (row,) = [line for line in page.splitlines() if line.startswith("| baker+heart |")]
    (head,) = [line for line in page.splitlines() if line.startswith("| voice |")]
    assert row.count("|") == head.count("|")


def test_a_capacity_is_shown_for_each_voice() -> None:
    """With its cost, or as 0 if no load was carried."""
    found = [capacity_figures("baker", [POINT]), capacity_figures("heart", [POINT | {"failed": 1}])]
    page = load_page(HEAD | {"parts": {"capacity": found}})
    assert "baker: **10 streams** at 1.30 x" in page
    assert "heart: **0 streams**" in page


@pytest.mark.voices
def test_the_engines_alone_are_faster_than_real_time() -> None:
    """The cost comes with the length of the audio."""
    cost = engine_cost([LoadRequest("heart", "Hello there, how are you today?")])
    assert 0 < cost.alone < 1
    assert 0 < cost.all_cores < 1
    assert cost.audio_s_per_request > 1
