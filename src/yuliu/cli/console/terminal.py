"""What people see on a terminal: numbers in plain words, tables, and a status line that leaves no traces."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

DEFAULT_NUM_COLUMNS = 80
FIRST_DRAW_AFTER_S = 0.5
"""Work that is over sooner shows no status line: it would only flicker."""
REDRAW_AFTER_S = 0.1


def duration(seconds: float) -> str:
    """``3.2 s``, ``1:05``, ``2:00:01``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(num_bytes: int) -> str:
    """``900 B``, ``1.2 MB`` (a million bytes), as download pages count."""
    amount = float(num_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < 999.5:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 9.95 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def count(number: int, noun: str) -> str:
    """``1 character``, ``12,345 characters``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def num_columns(stream: TextIO) -> int:
    """Width of the terminal behind ``stream``; 80 where there is none or it does not tell."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_NUM_COLUMNS
    except (OSError, ValueError):
        return DEFAULT_NUM_COLUMNS


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at the stream; a closed one, or one that was never there, is not looked at."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def colours_wanted(environ: dict[str, str] | os._Environ[str], stream: TextIO) -> bool:
    """Colours are for terminals that can show them, and not against https://no-color.org."""
    return is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class StatusLine:
    """One line that is overwritten in place while work goes on, and wiped when it is over.

    It is made of spaces and carriage returns only, which every terminal understands, and it is never as wide as the
    terminal, so that it does not wrap.

    Args:
        stream: Where to draw; nothing is drawn if it is not a terminal.
        enabled: False keeps it silent (``--quiet``).
        clock: Seconds, monotonic.
    """

    def __init__(self, stream: TextIO, *, enabled: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self.enabled: bool = enabled and is_terminal(stream)
        """Whether anything is drawn at all."""
        self._stream = stream
        self._clock = clock
        self._next_draw_s = clock() + FIRST_DRAW_AFTER_S
        self._drawn = 0

    def show(self, fields: Sequence[str]) -> None:
        """Show as many of the fields as fit, the first ones first. Most calls draw nothing: it is cheap to call."""
        now_s = self._clock()
        if not self.enabled or now_s < self._next_draw_s:
            return
        self._next_draw_s = now_s + REDRAW_AFTER_S
        line = fitting(fields, num_columns(self._stream) - 1)
        self._write("\r" + line.ljust(self._drawn))
        self._drawn = len(line)

    def announce(self, line: str) -> None:
        """Show it at once, before work that cannot call back."""
        if self.enabled:
            self._next_draw_s = self._clock()
            self.show([line])

    def clear(self) -> None:
        """Wipe it, also what a Ctrl-C echoed behind it, and leave the cursor where it was."""
        if self._drawn:
            self._write("\r" + " " * (num_columns(self._stream) - 1) + "\r")
            self._drawn = 0

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal went away: the work goes on
            self.enabled = False


def fitting(fields: Sequence[str], num_columns: int) -> str:
    """The fields side by side, as many of the first ones as fit into the columns."""
    line = ""
    for field in fields:
        longer = f"{line}  {field}" if line else field
        if len(longer) > num_columns:
            break
        line = longer
    return line


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side; the first row is the heading. The last column may be of any length."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([click.style(lines[0], bold=True), *lines[1:]])


def bar(part: float, num_columns: int = 20) -> str:
    """``[#####---------------]`` for a quarter; characters that every terminal and font has."""
    filled = round(min(max(part, 0.0), 1.0) * num_columns)
    return f"[{'#' * filled}{'-' * (num_columns - filled)}]"
