"""``yuliu bench load`` from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from yuliu.bench.load import PARTS
from yuliu.cli.commands.bench_load import load

if TYPE_CHECKING:
    from pathlib import Path


def test_something_must_be_asked_for() -> None:
    """Nothing is measured by accident, and the message says what there is."""
    result = CliRunner().invoke(load, [])
    assert result.exit_code == 2
    assert "--suite" in result.stderr


def test_help_names_every_part() -> None:
    """And shows how it is used."""
    result = CliRunner().invoke(load, ["--help"])
    assert all(part in result.output for part in PARTS)
    assert "--streams 20" in result.output


@pytest.mark.voices
@pytest.mark.slow
def test_one_load_is_measured_on_a_real_server(tmp_path: Path) -> None:
    """JSON on standard output, progress beside it, the table where it is wanted."""
    table = tmp_path / "table.md"
    options = ["--streams", "2", "--seconds", "1", "--warm-up", "0.5", "--voice", "heart", "--length", "short"]
    result = CliRunner().invoke(load, [*options, "--json", "--table", str(table), "--", "--voice", "heart"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["streams"] == 2
    assert report["failed"] == 0
    assert "the engines alone" in result.stderr
    assert "| heart | 2 |" in table.read_text(encoding="utf-8")
