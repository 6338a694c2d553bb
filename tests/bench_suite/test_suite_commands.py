"""``python -m bench`` from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.endpoints import ENDPOINT_PARTS
from bench.load import LOAD_PARTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("name", "parts"), [("endpoints", ENDPOINT_PARTS), ("load", LOAD_PARTS)])
def test_help_names_every_part(name: str, parts: tuple[str, ...]) -> None:
    """The parts are the choices of ``--part``."""
    result = CliRunner().invoke(main, [name, "--help"])
    assert all(part in result.output for part in parts)


def test_an_unknown_part_is_refused() -> None:
    """The message names the known ones."""
    result = CliRunner().invoke(main, ["endpoints", "--part", "windows"])
    assert result.exit_code == 2
    assert "waterfall" in result.stderr


@pytest.mark.voices
@pytest.mark.slow
def test_a_part_is_measured_on_a_real_server(tmp_path: Path) -> None:
    """The table goes to standard output and its file, JSON to the other file, progress to standard error."""
    out, table = tmp_path / "endpoints.json", tmp_path / "endpoints.md"
    options = ["endpoints", "--rounds", "1", "--part", "waterfall", "--out", str(out), "--table", str(table)]
    result = CliRunner().invoke(main, options)
    assert result.exit_code == 0, result.output
    assert {row["lang"] for row in json.loads(out.read_text(encoding="utf-8"))["parts"]["waterfall"]} == {"zh", "en"}
    assert "waterfall: 1 run" in result.stderr
    assert table.read_text(encoding="utf-8").strip() in result.stdout
