"""Terminal output: readable numbers, tables, and a status line that leaves no traces."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

DEFAULT_NUM_COLUMNS = 80
FIRST_DRAW_AFTER_S = 0.5
"""Delay before the status line appears, so that it does not flicker for short work, seconds."""
REDRAW_AFTER_S = 0.1


def duration(seconds: float) -> str:
    """Format a duration: ``3.2 s``, ``1:05``, ``2:00:01``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(num_bytes: int) -> str:
    """Format a size in decimal units: ``900 B``, ``1.2 MB``."""
    amount = float(num_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < 999.5:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 9.95 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def count(number: int, noun: str) -> str:
    """Format a number with its noun: ``1 character``, ``12,345 characters``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def num_columns(stream: TextIO) -> int:
    """Return the width of the terminal behind ``stream``; 80 if it is no terminal or its width is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_NUM_COLUMNS
    except (OSError, ValueError):
        return DEFAULT_NUM_COLUMNS


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if the stream is a terminal; a closed or missing stream is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def colours_wanted(environ: dict[str, str] | os._Environ[str], stream: TextIO) -> bool:
    """Return True if the stream is a terminal with colours and https://no-color.org does not forbid them."""
    return is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class StatusLine:
    """Line that is redrawn in place during work, and wiped at the end.

    It uses only spaces and carriage returns, which every terminal understands, and it is narrower than the terminal, so
    that it does not wrap.

    Args:
        stream: Stream to draw on; nothing is drawn if it is not a terminal.
        enabled: False turns it off (``--quiet``).
        clock: Monotonic clock, seconds.
    """

    def __init__(self, stream: TextIO, *, enabled: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self.enabled: bool = enabled and is_terminal(stream)
        """True if anything is drawn at all."""
        self._stream = stream
        self._clock = clock
        self._next_draw_s = clock() + FIRST_DRAW_AFTER_S
        self._drawn = 0

    def __enter__(self) -> Self:
        """Return the line; it is wiped on exit."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Wipe the line."""
        self.clear()

    def show(self, fields: Sequence[str]) -> None:
        """Show as many of the fields as fit, the first ones first. Cheap to call: few calls draw."""
        now_s = self._clock()
        if not self.enabled or now_s < self._next_draw_s:
            return
        self._next_draw_s = now_s + REDRAW_AFTER_S
        line = fitting(fields, num_columns(self._stream) - 1)
        self._write("\r" + line.ljust(self._drawn))
        self._drawn = len(line)

    def announce(self, line: str) -> None:
        """Show a line immediately, before work that cannot report progress."""
        if self.enabled:
            self._next_draw_s = self._clock()
            self.show([line])

    def clear(self) -> None:
        """Wipe the line, including the echo of a Ctrl-C, and put the cursor back."""
        if self._drawn:
            self._write("\r" + " " * (num_columns(self._stream) - 1) + "\r")
            self._drawn = 0

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone; carry on
            self.enabled = False


def fitting(fields: Sequence[str], num_columns: int) -> str:
    """Join as many of the first fields as fit into the columns."""
    line = ""
    for field in fields:
        longer = f"{line}  {field}" if line else field
        if len(longer) > num_columns:
            break
        line = longer
    return line


def table(rows: Sequence[Sequence[str]]) -> str:
    """Lay rows out as a table; the first row is the heading. The last column may be of any width."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([click.style(lines[0], bold=True), *lines[1:]])


def bar(part: float, num_columns: int = 20) -> str:
    """Draw ``[#####---------------]`` for a quarter, in characters that every font has."""
    filled = round(min(max(part, 0.0), 1.0) * num_columns)
    return f"[{'#' * filled}{'-' * (num_columns - filled)}]"
