"""``yuliu presets``: the table, the JSON output, and the check of an operator's file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from yuliu.cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_table_shows_each_preset(capsys: pytest.CaptureFixture[str]) -> None:
    """Each preset has a row, and a description below the table."""
    assert run(["presets"], None) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:6]}
    assert rows["dialogue"] == ["500", "ms", "interactive", "adaptive", "4-60", "2-4", "4-6", "3.0", "s"]
    assert rows["api"] == ["2000", "ms", "standard", "sentence", "10-60", "all", "memory", "unbounded"]
    assert any(line.startswith("subtitle:") and "8 to 12 characters" in line for line in lines)


def test_json_lists_the_presets(capsys: pytest.CaptureFixture[str]) -> None:
    """Each preset is an object, as in the server's list."""
    assert run(["presets", "--json"], None) == 0
    found = {preset["name"]: preset for preset in json.loads(capsys.readouterr().out)}
    assert list(found) == ["default", "dialogue", "audiobook", "subtitle", "api"]
    assert found["audiobook"]["chunking"] == {"strategy": "sentence", "min_weight": 10, "max_weight": 30}


def test_file_is_checked_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The presets show the file's changes; an error in the file is reported with its place."""
    path = tmp_path / "ours.toml"
    path.write_text("[dialogue]\nfirst_packet_ms = 250\n")
    assert run(["presets", "--file", str(path), "--json"], None) == 0
    found = {preset["name"]: preset for preset in json.loads(capsys.readouterr().out)}
    assert found["dialogue"]["first_packet_ms"] == 250
    path.write_text("[dialogue]\nfirst_packet = 250\n")
    assert run(["presets", "--file", str(path)], None) == 2
    assert "ours.toml: dialogue.first_packet is not known" in capsys.readouterr().err
