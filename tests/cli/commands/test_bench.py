"""``yuliu bench`` from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from yuliu.cli.commands.bench import command

if TYPE_CHECKING:
    from pathlib import Path


def test_a_load_without_a_size_is_refused() -> None:
    """Nothing is measured by accident, and the message names the options."""
    result = CliRunner().invoke(command, ["load"])
    assert result.exit_code == 2
    assert "--capacity" in result.stderr


@pytest.mark.parametrize(("name", "example"), [("endpoints", "--rounds 2"), ("load", "--streams 20")])
def test_help_shows_an_example(name: str, example: str) -> None:
    """Each command shows how it is used."""
    assert example in CliRunner().invoke(command, [name, "--help"]).output


@pytest.mark.voices
@pytest.mark.slow
def test_one_load_is_measured_on_a_real_server(tmp_path: Path) -> None:
    """JSON goes to standard output, progress to standard error, the table to its file."""
    table = tmp_path / "table.md"
    options = ["load", "--streams", "2", "--seconds", "1", "--warm-up", "0.5", "--voice", "heart", "--length", "short"]
    result = CliRunner().invoke(command, [*options, "--json", "--table", str(table), "--", "--voice", "heart"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["streams"] == 2
    assert report["failed"] == 0
    assert "the engines alone" in result.stderr
    assert "| heart | 2 |" in table.read_text(encoding="utf-8")
