"""Parts of the load suite against a server process with a weightless engine, and their page."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.load.determinism import determinism_figures, measure_determinism
from bench.load.isolation import BULK_NUM_CHARS, bulk_requests, measure_isolation
from bench.load.leaving import measure_leaving
from bench.load.memory import measure_memory, memory_figures, numbered_requests
from bench.load.peers import PROGRAM, measure_peers
from bench.load.report import load_suite_page
from bench.load.server_state import growth, sum_metrics
from yuliu.bench.client import run
from yuliu.bench.load.capacity import capacity_figures
from yuliu.bench.load.generator import LoadGenerator
from yuliu.bench.load.point import LoadConfig, LoadTiming
from yuliu.bench.server_process import ServerProcess
from yuliu.bench.texts import LoadRequest

TONE = (str(Path(__file__).parents[1] / "support" / "tone_cli.py"), "serve")
CONFIG = LoadConfig(voices=("tone",), timing=LoadTiming(1.0, 0.2), program=TONE)
MACHINE = {"cpu": "a processor", "cores": 2, "python": "3.11"}
POINT: dict[str, Any] = {
    "streams": 10,
    "rate_per_s": 0.0,
    "voices": ["baker", "heart"],
    "seconds": 15.0,
    "requests": 40,
    "ttfp_ms": {"p50": 20.0, "p95": 40.0, "p99": 50.0, "max": 60.0},
    "underrun": {"streams": 0, "seconds": 0.0, "of": 30},
    "rejected": 0,
    "rejected_after_ms": None,
    "failed": 0,
    "audio_s_per_s": 10.0,
    "goodput": 10.0,
    "cores_busy": 1.5,
    "cores": 2,
    "generator_cpu_s": 0.4,
    "server_cpu_s": 9.0,
    "cpu_ratio": 1.3,
    "rss_mb": {"start": 300.0, "end": 301.0, "max": 302.0},
}


def page_of(**parts: Any) -> str:
    return load_suite_page({"at": "2026-01-01", "command": "python -m bench load", "machine": MACHINE, "parts": parts})


def test_work_ends_for_clients_that_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server logs the end of each request, and is quiet after a thousand clients have vanished."""
    monkeypatch.setenv("TONE_STEP_S", "0.0005")  # a long text takes some seconds
    figures = measure_leaving(CONFIG, "tone")
    assert figures["cancel"]["count"] > 0
    assert figures["cancel"]["not_seen_to_end"] == 0
    assert figures["vanish"]["quiet_after_s"] is not None
    assert "1000 vanished: quiet after" in page_of(cancel=figures)


def test_memory_is_read_over_all_requests() -> None:
    """The first reading is taken once it has settled, the last at the end."""
    figures = measure_memory(CONFIG, "tone", 60)
    assert sorted(figures["rss_mb"]) == [30, 60]
    assert figures["failed"] == 0
    assert "60 short requests" in page_of(flat=figures)


def test_growth_is_relative_to_the_first_reading() -> None:
    """It is a share of it."""
    assert memory_figures({1000: 200.0, 2000: 203.0, 3000: 206.0})["growth"] == 0.03


def test_streams_among_others_are_compared_with_those_alone() -> None:
    """An exact engine gives the same audio."""
    figures = measure_determinism(CONFIG, ("tone",))
    assert figures["same"] == figures["streams"] == 64
    assert "64 of 64" in page_of(determinism=figures)
    assert determinism_figures([], [], [])["same"] == 0


def test_isolation_is_measured_from_both_sides() -> None:
    """The figures hold the latency of the players and the pace of the reader."""
    figures = measure_isolation(replace(CONFIG, timing=LoadTiming(1.0, 0.5)), "tone")
    assert figures["with_ms"] is not None
    assert figures["bulk_alone_audio_s_per_s"] > 0
    assert figures["failed"] == 0
    assert "| tone |" in page_of(isolation=[figures])


def test_the_hibari_server_answers_the_load_generator() -> None:
    """It speaks as much of the protocol as the bench does."""
    with ServerProcess(program=PROGRAM) as server:
        result = run(LoadGenerator(server.port).request(LoadRequest("heart", "Hello there. How are you?")))
    assert result.completed
    assert result.audio_s > 1


@pytest.mark.voices
def test_peers_get_the_same_load() -> None:
    """The number of clients and the weights are the same."""
    figures = measure_peers(LoadConfig(timing=LoadTiming(2.0, 0.2)))
    assert [(row["server"], row["paced"]) for row in figures["rows"]] == [
        *(("yuliu", False), ("yuliu", True)),
        *(("hibari", False), ("hibari", True)),
    ]
    assert all(row["failed"] == 0 for row in figures["rows"])
    assert "beside the hibari library" in page_of(peers=figures)


def test_gauges_are_summed_over_their_labels() -> None:
    """Comments and other metrics are left out."""
    lines = ["# TYPE yuliu_streams gauge", 'yuliu_streams{class="bulk"} 1', 'yuliu_streams{class="x y"} 2.0', "a 5"]
    assert sum_metrics(lines, ["yuliu_streams", "yuliu_tasks"]) == {"yuliu_streams": 3.0}
    assert growth({"a": 1.0}, {"a": 3.0, "b": 9.0}) == {"a": 2.0}


def test_a_missing_figure_is_a_dash() -> None:
    """Every part has its section."""
    cliff = {"voice": "baker", "streams": 8, "alone_ttfp_ms": None, "loaded": POINT | {"ttfp_ms": None}}
    text = page_of(
        capacity=[capacity_figures("baker", [POINT]), capacity_figures("heart", [POINT | {"failed": 1}])],
        cliff=[cliff | {"p95_to_alone": None, "p99_to_alone": None}],
        overload=[{"voice": "baker", "point": POINT | {"streams": 0}, "goodput_share": 0.95}],
    )
    assert "baker: **10 streams** at 1.30 x" in text
    assert "heart: **0 streams**" in text
    assert "| baker | - | 8 | - | - | - x | - x |" in text
    assert "95% of that at capacity" in text


def test_the_bulk_text_is_long_and_no_short_text_repeats() -> None:
    """The long text is complete after some number of requests."""
    num_chars, requests = 0, bulk_requests("baker")
    while num_chars < BULK_NUM_CHARS:
        num_chars += len(next(requests).text)
    assert num_chars == BULK_NUM_CHARS
    assert len({request.text for request in itertools.islice(numbered_requests("heart"), 500)}) == 500
