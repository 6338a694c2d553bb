"""Readable numbers, and a status line that leaves no traces."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.cli.console.terminal import StatusLine, bar, count, duration, fitting, size, table


class Terminal(io.StringIO):
    """Terminal of 80 columns."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Virtual clock."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def screen(drawn: str) -> str:
    """Return the visible content of a line in which carriage returns overwrite."""
    line: list[str] = []
    at = 0
    for char in drawn:
        if char == "\r":
            at = 0
        else:
            line[at : at + 1] = [char]
            at += 1
    return "".join(line).rstrip()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (3.14, "3.1 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1:00"), (65, "1:05"), (7201, "2:00:01")],
)
def test_duration(seconds: float, words: str) -> None:
    """Short times have tenths; long ones have minutes and hours."""
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("num_bytes", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1500, "1.5 kB"),
        (999_600, "1.0 MB"),
        (40_146_694, "40 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_size(num_bytes: int, words: str) -> None:
    """A size has two or three digits and a unit."""
    assert size(num_bytes) == words


def test_count_and_bar() -> None:
    """One has no plural s; the bar is full at the end and never longer."""
    assert (count(1, "character"), count(12345, "character")) == ("1 character", "12,345 characters")
    assert (bar(0, 4), bar(0.5, 4), bar(1.2, 4)) == ("[----]", "[##--]", "[####]")


def test_table_columns_are_aligned() -> None:
    """Columns start at the same place; the last one may be of any width."""
    assert table([("A", "B"), ("long", "x y")]).splitlines()[1] == "long  x y"


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=1)), st.integers(0, 100))
def test_fields_fit(fields: list[str], num_columns: int) -> None:
    """The line is never too long, and shows the first fields."""
    line = fitting(fields, num_columns)
    assert len(line) <= num_columns
    assert "  ".join(fields).startswith(line)


@given(st.lists(st.lists(st.text(st.characters(categories=["L"]), max_size=60), max_size=3)))
def test_status_line_leaves_nothing(updates: list[list[str]]) -> None:
    """Each update replaces the previous one completely, and clear() leaves the line empty."""
    terminal, clock = Terminal(), Clock()
    status = StatusLine(terminal, clock=clock)
    for fields in updates:
        clock.now_s += 1.0
        status.show(fields)
        assert screen(terminal.getvalue()) == fitting(fields, 79).rstrip()
    status.clear()
    assert screen(terminal.getvalue()) == ""
    assert "\n" not in terminal.getvalue()


def test_status_line_limits_its_updates() -> None:
    """Short work draws nothing; longer work draws at most ten times per second."""
    terminal, clock = Terminal(), Clock()
    status = StatusLine(terminal, clock=clock)
    for _ in range(200):
        status.show(["a"])
        clock.now_s += 0.01
    assert 10 <= terminal.getvalue().count("\r") <= 16


@pytest.mark.parametrize(("stream", "enabled"), [(io.StringIO(), True), (Terminal(), False)])
def test_status_line_is_drawn_on_terminals_only(stream: io.StringIO, enabled: bool) -> None:
    """Nothing is drawn into files and pipes, or when disabled."""
    clock = Clock()
    status = StatusLine(stream, enabled=enabled, clock=clock)
    clock.now_s = 5.0
    status.show(["a"])
    status.clear()
    assert stream.getvalue() == ""


def test_status_line_survives_a_lost_terminal() -> None:
    """Drawing stops when the terminal is gone, and the work continues."""

    class Gone(Terminal):
        def write(self, text: str) -> int:
            raise OSError("gone")

    clock = Clock()
    status = StatusLine(Gone(), clock=clock)
    clock.now_s = 5.0
    status.show(["a"])
    assert not status.enabled
