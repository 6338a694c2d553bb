"""``yuliu simulate`` and ``yuliu replay``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from yuliu.cli.app import run
from yuliu.scheduler.policy.costs import EngineFacts
from yuliu.scheduler.policy.event_log import Recorder
from yuliu.scheduler.policy.events import Admit, Plan, SegmentReady, StreamOpened, WorkerUp
from yuliu.scheduler.policy.tuning import Tuning

if TYPE_CHECKING:
    from pathlib import Path

    Captured = pytest.CaptureFixture[str]


def test_table_and_json_agree(capsys: Captured) -> None:
    """The same seed gives the same numbers in both forms."""
    args = ["simulate", "--streams", "5", "--bulk", "1", "--seconds", "10"]
    assert run([*args, "--json"], None) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["underrun"] == {"streams": 0, "seconds": 0}
    assert values["streams"] == values["admitted"] == values["completed"] >= 5
    assert 0 < values["ttfp_ms"]["p50"] <= values["ttfp_ms"]["p95"] <= values["ttfp_ms"]["p99"]
    assert values["bulk_audio_s"] > 0
    assert run(args, None) == 0
    assert f"p95 {values['ttfp_ms']['p95']:g} ms" in capsys.readouterr().out


def test_custom_table_decides_the_capacity(capsys: Captured, tmp_path: Path) -> None:
    """An engine that needs a fifth of a worker: four fit on one, twice as many on two."""
    path = tmp_path / "table.toml"
    path.write_text("[slow]\nplan_s = 0\nstep_s = 0\nstep_s_per_s = 0.2\n")
    found = []
    for workers in ("1", "2"):
        args = ["--capacity", "--rtf", str(path), "--workers", workers, "--seconds", "30", "--audio", "30", "--json"]
        assert run(["simulate", *args], None) == 0
        found.append(json.loads(capsys.readouterr().out)["capacity"])
    assert 3 <= found[0] <= 5
    assert found[1] >= 2 * found[0] - 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "there is no load"),
        (["--streams", "1", "--voice", "nobody"], "no rates for 'nobody'; known are yuliu, baker, heart, gpu-assumed"),
        (["--streams", "1", "--rtf", "BAD"], "bad.toml: "),
        (["--streams", "1", "--rtf", "ODD"], "odd.toml: x.speed is not known"),
    ],
)
def test_invalid_load_is_wrong_usage(capsys: Captured, tmp_path: Path, args: list[str], message: str) -> None:
    """The message names the option or the place in the table."""
    (tmp_path / "bad.toml").write_text("no toml")
    (tmp_path / "odd.toml").write_text("[x]\nspeed = 1\n")
    files = {"BAD": str(tmp_path / "bad.toml"), "ODD": str(tmp_path / "odd.toml")}
    assert run(["simulate", *[files.get(each, each) for each in args]], None) == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Log with one segment of each of two streams."""
    lines: list[str] = []
    recorder = Recorder(lines.append, {"tone": EngineFacts(80.0)}, Tuning())
    recorder(5.0, WorkerUp("worker-0"), [])
    for at_s, number in ((6.0, 1), (7.0, 2)):
        recorder(at_s, StreamOpened(number, ("tone",)), [Admit(number)])
        ready = SegmentReady(number, 10 * number, "tone")
        recorder(at_s + 0.5, ready, [Plan("worker-0", 10)] if number == 1 else [])
    path = tmp_path / "events.jsonl"
    path.write_text("".join(lines))
    return path


def test_decisions_are_shown_with_their_time(capsys: Captured, log: Path) -> None:
    """Events without a decision are omitted, unless one stream is selected."""
    assert run(["replay", str(log)], None) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == ["1.5000", "SegmentReady", "#1", "10", "tone", "Plan", "worker-0", "10"]
    assert len(lines) == 3
    assert run(["replay", str(log), "--stream", "2"], None) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[1] for line in lines] == ["StreamOpened", "SegmentReady"]
    assert lines[1][-1] == "-"


def test_json_has_all_fields_of_events(capsys: Captured, log: Path) -> None:
    """Each event is one object on a line."""
    assert run(["replay", str(log), "--json"], None) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["WorkerUp", *["StreamOpened", "SegmentReady"] * 2]
    assert lines[2]["actions"] == [{"action": "Plan", "worker": "worker-0", "job_id": 10}]
    assert all(line["same"] for line in lines)


def test_different_decision_fails(capsys: Captured, log: Path) -> None:
    """The decision is marked, and the message names its line in the log."""
    log.write_text(
        log.read_text().replace('"action":"Plan","worker":"worker-0"', '"action":"Plan","worker":"worker-9"')
    )
    assert run(["replay", str(log)], None) == 1
    captured = capsys.readouterr()
    assert "! SegmentReady #1" in captured.out
    assert "1 decisions differ from the recorded ones: lines 4" in captured.err


def test_log_of_another_contract_is_refused(capsys: Captured, log: Path) -> None:
    """The message names the version."""
    log.write_text(log.read_text().replace('{"contract":2', '{"contract":99'))
    assert run(["replay", str(log)], None) == 2
    assert "made by version 99 of the policy's contract" in capsys.readouterr().err
