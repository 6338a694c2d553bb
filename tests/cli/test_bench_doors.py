"""``yuliu bench doors`` from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from yuliu.bench.doors import PARTS
from yuliu.cli.commands.bench import command

if TYPE_CHECKING:
    from pathlib import Path


def test_help_names_every_part() -> None:
    """And shows how it is used."""
    result = CliRunner().invoke(command, ["doors", "--help"])
    assert all(part in result.output for part in PARTS)
    assert "--rounds 2" in result.output


def test_a_part_that_is_none_is_refused() -> None:
    """With those that there are."""
    result = CliRunner().invoke(command, ["doors", "--part", "windows"])
    assert result.exit_code == 2
    assert "waterfall" in result.stderr


@pytest.mark.voices
@pytest.mark.slow
def test_a_part_is_measured_on_a_real_server(tmp_path: Path) -> None:
    """The table on standard output and where it is wanted, JSON beside it, progress on standard error."""
    out, table = tmp_path / "doors.json", tmp_path / "doors.md"
    options = ["doors", "--rounds", "1", "--part", "waterfall", "--out", str(out), "--table", str(table)]
    result = CliRunner().invoke(command, options)
    assert result.exit_code == 0, result.output
    assert {row["lang"] for row in json.loads(out.read_text(encoding="utf-8"))["parts"]["waterfall"]} == {"zh", "en"}
    assert "waterfall: 1 run" in result.stderr
    assert table.read_text(encoding="utf-8").strip() in result.stdout
