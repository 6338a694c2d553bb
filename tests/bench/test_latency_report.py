"""The latency report as a table."""

from __future__ import annotations

from typing import Any

from yuliu.bench.engine_cost import EngineFloor, EngineRendering
from yuliu.bench.latency import WavResponse, latency_row
from yuliu.bench.playback import ChunkArrival
from yuliu.bench.report import LATENCY_COLUMNS, cell, latency_page, spread, summarise

ARRIVALS = (ChunkArrival(0.02, 12_000), ChunkArrival(0.05, 36_000))
RESPONSE = WavResponse(24_000, b"\x00\x40" * 24_000, ARRIVALS, 0.05)
FLOOR = EngineFloor(0.01, EngineRendering(seconds=0.04, cpu_s=0.03, audio_s=1.0))
ROW = latency_row(FLOOR, RESPONSE, server_cpu_s=0.045)


def report() -> dict[str, Any]:
    rows = [{"lang": "en", "length": "12", "rep": rep, **ROW} for rep in range(3)]
    return {
        "at": "2026-01-01 00:00 UTC",
        "command": "yuliu bench",
        "machine": {"cpu": "a processor", "cores": 2, "python": "3.11"},
        "reps": 3,
        "speech": summarise(rows),
        "ready_s": spread([1.0, 2.0, 1.5]),
        "rss_mb": 300.0,
    }


def test_figures_have_the_units_of_their_names() -> None:
    """Milliseconds, and CPU seconds for each second of audio."""
    assert ROW["ttfp_ms"] == 20.0
    assert ROW["floor_ms"] == 10.0
    assert ROW["rtf"] == 0.05
    assert ROW["server_cpu_s_per_audio_s"] == 0.045


def test_every_column_has_a_cell() -> None:
    """There is one row for each language and length."""
    lines = [line for line in latency_page(report()).splitlines() if line.startswith("| en")]
    assert len(lines) == 1
    assert lines[0].count("|") == len(LATENCY_COLUMNS) + 3


def test_a_cell_shows_the_spread_unless_there_is_none() -> None:
    """It is one number if all values are equal."""
    assert cell(spread([3.0, 1.0, 2.0]), 1) == "2.0 (1.0-3.0)"
    assert cell(spread([2.0, 2.0]), 1) == "2.0"
