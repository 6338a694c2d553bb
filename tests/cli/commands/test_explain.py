"""``yuliu explain``: tables, and JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from yuliu.cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

    from program import Start


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))


def test_table_shows_how_a_text_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Characters stand above their syllables, two columns each; equal fields are not repeated."""
    assert run(["explain", "**我**花了$100。"], None) == 0
    assert capsys.readouterr().out.splitlines() == [
        "  clean     我花了$100。",
        "2-12        zh",
        "  text      我花了$100。",
        "  spoken    我花了一百美元。",
        "  pinyin    我  花   了  一  百   美   元",
        "            wo3 hua1 le5 yi4 bai2 mei3 yuan2",
        "  phonemes  ^ uo3 #0 h ua1 #0 l e5 #1 ^ i4 #0 b ai2 #1 m ei3 #0 ^ van2",
        "  skipped   3-5 markdown",
    ]


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The object is that of the library."""
    assert run(["explain", "25%", "--lang", "en", "--json"], None) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["segments"][0]["lang"] == "en"


def test_each_line_is_answered_immediately(start: Start) -> None:
    """A line is answered before the next one is written; any bytes are accepted, and blank lines count."""
    process = start("explain", "-f", "-")
    assert process.stdin
    assert process.stdout
    for line, text in [
        (b"\xe4\xbd\xa0\xe5\xa5\xbd\r\n", "你好"),
        (b"\n", ""),
        (b"\xff\x00\x1b[31m\n", "�\0\x1b[31m"),
        (b'{"not": "read as JSON"}\n', '{"not": "read as JSON"}'),
    ]:
        process.stdin.write(line)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == text
    assert process.communicate() == (b"", b"")
    assert process.returncode == 0


def test_streamed_texts_are_shown_with_their_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each text is a table, or a named object on a line; lone surrogates are escaped."""
    path = tmp_path / "stream.jsonl"
    path.write_text(
        '{"id": "slow", "deltas": ["好的。", "@@PAUSE 900@@", "再见\\ud800"], "gap_ms": 100}\n\n', encoding="utf-8"
    )
    assert run(["explain", "--deltas", str(path), "--json"], None) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["id"], found["text"]) == ("slow", "好的。再见\ud800")
    assert [segment["emitted"] for segment in found["segments"]] == [
        {"delta": 0, "char": 3, "at_ms": 500.0, "by": "stall"},
        {"delta": 1, "char": 6, "at_ms": 1000.0, "by": "end"},
    ]
    assert run(["explain", "--deltas", str(path)], None) == 0
    assert "0-3         zh  by stall after delta 0, 3 characters, 500 ms" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "[]",
        "{}",
        '{"deltas": "a"}',
        '{"deltas": [1]}',
        '{"deltas": [], "gap_ms": -1}',
        '{"deltas": [], "gap_ms": true}',
    ],
)
def test_wrong_line_is_reported_with_its_number(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    """The message starts with the number of the line."""
    path = tmp_path / "stream.jsonl"
    path.write_text('{"deltas": []}\n' + line, encoding="utf-8")
    assert run(["explain", "--deltas", str(path)], None) == 2
    assert capsys.readouterr().err.startswith("yuliu: error: line 2: ")


@pytest.mark.parametrize("args", [[], ["a", "-f", "-"], ["--deltas", "-", "-f", "-"]])
def test_exactly_one_source_is_required(capsys: pytest.CaptureFixture[str], args: list[str]) -> None:
    """Anything else is wrong usage, reported before anything is loaded."""
    assert run(["explain", *args], None) == 2
    assert "give either TEXT, --file or --deltas" in capsys.readouterr().err
