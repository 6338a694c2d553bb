"""``yuliu presets``: a table for people, JSON for programs, and the check of an operator's file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from yuliu.cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_table_tells_what_each_gives(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each preset, and below what it is for."""
    assert run(["presets"], None) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:6]}
    assert rows["dialogue"] == ["500", "ms", "interactive", "adaptive", "4-60", "2-4", "4-6", "3.0", "s"]
    assert rows["api"] == ["2000", "ms", "standard", "sentence", "10-60", "all", "memory", "unbounded"]
    assert any(line.startswith("subtitle:") and "8 to 12 characters" in line for line in lines)


def test_json_tells_the_same_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """One object for each, as the server lists them."""
    assert run(["presets", "--json"], None) == 0
    found = {preset["name"]: preset for preset in json.loads(capsys.readouterr().out)}
    assert list(found) == ["default", "dialogue", "audiobook", "subtitle", "api"]
    assert found["audiobook"]["chunking"] == {"strategy": "sentence", "min_weight": 10, "max_weight": 30}


def test_a_file_is_checked_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it changes is changed, and what is wrong in it is told with its place."""
    path = tmp_path / "ours.toml"
    path.write_text("[dialogue]\nfirst_packet_ms = 250\n")
    assert run(["presets", "--file", str(path), "--json"], None) == 0
    found = {preset["name"]: preset for preset in json.loads(capsys.readouterr().out)}
    assert found["dialogue"]["first_packet_ms"] == 250
    path.write_text("[dialogue]\nfirst_packet = 250\n")
    assert run(["presets", "--file", str(path)], None) == 2
    assert "ours.toml: dialogue.first_packet is not known" in capsys.readouterr().err
