"""From figures to a table."""

from __future__ import annotations

from typing import Any

from yuliu.bench.floor import Alone
from yuliu.bench.measure import figures_of
from yuliu.bench.playback import Arrival
from yuliu.bench.probe import Take
from yuliu.bench.report import COLUMNS, cell, page, spread, summarise

TAKE = Take(24_000, b"\x00\x40" * 24_000, (Arrival(0.02, 12_000), Arrival(0.05, 36_000)), 0.05)
ROW = figures_of(Alone(floor_s=0.01, offline_s=0.04, offline_cpu_s=0.03, audio_s=1.0), TAKE, server_cpu_s=0.045)


def report(**changes: Any) -> dict[str, Any]:
    rows = [{"lang": "en", "length": "12", "rep": rep, **ROW} for rep in range(3)]
    return {
        "at": "2026-01-01 00:00 UTC",
        "command": "yuliu bench",
        "machine": {"cpu": "a processor", "cores": 2, "python": "3.11"},
        "reps": 3,
        "speech": summarise(rows),
        "ready_s": spread([1.0, 2.0, 1.5]),
        "rss_mb": 300.0,
        "reading": [],
        "judge": {},
        "peers": {},
    } | changes


def test_figures_have_the_units_they_are_named_for() -> None:
    """Milliseconds, and CPU seconds for each second of sound."""
    assert ROW["ttfp_ms"] == 20.0
    assert ROW["floor_ms"] == 10.0
    assert ROW["rtf"] == 0.05
    assert ROW["server_cpu_s_per_audio_s"] == 0.045


def test_every_column_has_a_cell() -> None:
    """The table has a row for each language and length, and nothing is left out."""
    lines = [line for line in page(report()).splitlines() if line.startswith("| en")]
    assert len(lines) == 1
    assert lines[0].count("|") == len(COLUMNS) + 3


def test_spread_is_told_unless_there_is_none() -> None:
    """One number where all are alike."""
    assert cell(spread([3.0, 1.0, 2.0]), 1) == "2.0 (1.0-3.0)"
    assert cell(spread([2.0, 2.0]), 1) == "2.0"


def test_what_was_not_judged_is_a_dash() -> None:
    """No figure is made up where the judge did not listen."""
    row = {"article": "en", "chars": 10, "audio_s": 1.0, "rtf": 0.05, "rss_mb_half": 100.0, "rss_mb_end": 101.0}
    (line,) = [line for line in page(report(reading=[row])).splitlines() if line.startswith("| en | 10 |")]
    assert line.endswith("| - | - | - | - |")
