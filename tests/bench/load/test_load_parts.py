"""Parts against a server process with a weightless engine, and the page that is made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from yuliu.bench.load.cancel import measure_cancel
from yuliu.bench.load.capacity import capacity_figures
from yuliu.bench.load.crowd import Crowd
from yuliu.bench.load.engine import engine_cost
from yuliu.bench.load.flat import flat_figures, measure_flat
from yuliu.bench.load.isolation import measure_isolation
from yuliu.bench.load.peers import PROGRAM, measure_peers
from yuliu.bench.load.point import Timing, run
from yuliu.bench.load.report import page
from yuliu.bench.load.same import measure_same, same_figures
from yuliu.bench.load.setting import Setting
from yuliu.bench.load.texts import Ask
from yuliu.bench.load.watch import grown, summed
from yuliu.bench.process import ServerProcess

TONE = (str(Path(__file__).parents[2] / "support" / "tone_yuliu.py"), "serve")
SETTING = Setting(voices=("tone",), timing=Timing(1.0, 0.2), requests=60, program=TONE)
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
    return page({"at": "2026-01-01", "command": "yuliu bench load", "machine": MACHINE, "parts": parts})


def test_those_who_leave_are_seen_to_end_and_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work ends for each who left, and the server is quiet after a thousand who vanish."""
    monkeypatch.setenv("TONE_STEP_S", "0.0005")  # a long text takes some seconds
    figures = measure_cancel(SETTING, "tone")
    assert figures["cancel"]["count"] > 0
    assert figures["cancel"]["not_seen_to_end"] == 0
    assert figures["vanish"]["quiet_after_s"] is not None
    assert "1000 vanished: quiet after" in page_of(cancel=figures)


def test_memory_is_read_over_all_requests() -> None:
    """First when it has settled, last at the end."""
    figures = measure_flat(SETTING, "tone")
    assert sorted(figures["rss_mb"]) == [30, 60]
    assert figures["failed"] == 0
    assert "60 short requests" in page_of(flat=figures)


def test_growth_is_that_since_the_first_reading() -> None:
    """As a share of it."""
    assert flat_figures({1000: 200.0, 2000: 203.0, 3000: 206.0})["growth"] == 0.03


def test_streams_among_others_are_compared_with_those_alone() -> None:
    """An exact engine gives the same; a difference would be told."""
    figures = measure_same(SETTING, ("tone",))
    assert figures["same"] == figures["streams"] == 64
    assert "64 of 64" in page_of(determinism=figures)
    assert same_figures([], [])["same"] == 0


def test_isolation_is_told_from_both_sides() -> None:
    """What the waiting feel, and what the reader gets."""
    figures = measure_isolation(replace(SETTING, timing=Timing(1.0, 0.5)), "tone")
    assert figures["with_ms"] is not None
    assert figures["bulk_alone_audio_s_per_s"] > 0
    assert figures["failed"] == 0
    assert "| tone |" in page_of(isolation=[figures])


def test_hibari_alone_is_served_plainly() -> None:
    """The peer speaks as much of the protocol as the bench does."""
    with ServerProcess(program=PROGRAM) as server:
        outcome = run(Crowd(server.port).ask(Ask("heart", "Hello there. How are you?")))
    assert outcome.completed
    assert outcome.audio_s > 1


@pytest.mark.voices
def test_peers_and_we_are_asked_the_same() -> None:
    """The same number of clients, on the same weights."""
    figures = measure_peers(Setting(timing=Timing(2.0, 0.2)))
    assert [(row["server"], row["paced"]) for row in figures["rows"]] == [
        *(("yuliu", False), ("yuliu", True)),
        *(("hibari", False), ("hibari", True)),
    ]
    assert all(row["failed"] == 0 for row in figures["rows"])
    assert "beside the hibari library" in page_of(peers=figures)


@pytest.mark.voices
def test_engines_are_measured_alone() -> None:
    """A fraction of real time, with the length of what was said."""
    cost = engine_cost([Ask("heart", "Hello there, how are you today?")])
    assert 0 < cost.alone < 1
    assert 0 < cost.all_cores < 1
    assert cost.audio_s_per_request > 1


def test_gauges_are_summed_over_their_labels() -> None:
    """Comments, other metrics and labels do not confuse it."""
    lines = ["# TYPE yuliu_streams gauge", 'yuliu_streams{class="bulk"} 1', 'yuliu_streams{class="x y"} 2.0', "a 5"]
    assert summed(lines, ["yuliu_streams", "yuliu_tasks"]) == {"yuliu_streams": 3.0}
    assert grown({"a": 1.0}, {"a": 3.0, "b": 9.0}) == {"a": 2.0}


def test_every_part_has_its_section() -> None:
    """A figure that is missing is a dash, not an error."""
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


def test_one_load_is_one_row() -> None:
    """With every figure under its heading."""
    report = {"at": "2026-01-01", "command": "yuliu bench load --streams 10", "machine": MACHINE} | POINT
    (row,) = [line for line in page(report).splitlines() if line.startswith("| baker+heart |")]
    (head,) = [line for line in page(report).splitlines() if line.startswith("| voice |")]
    assert row.count("|") == head.count("|")
