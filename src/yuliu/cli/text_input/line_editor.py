"""What keys mean beside a voice that sounds: silence, or a line to be spoken next. Pure."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

MAX_LINE_CHARS = 4096
"""What is typed beyond that in a line is let fall, as terminals do."""
SEQUENCE_S = 0.05
"""What follows an Escape sooner may be the rest of a key that sends a sequence, such as an arrow."""
ESCAPE = "\x1b"
SPACES = (" ", "\u3000")
"""Chinese input methods send the second."""
END = "\x04"
BACKSPACES = ("\x7f", "\b")
KILL = "\x15"
KILL_WORD = "\x17"


@dataclass(frozen=True, slots=True)
class Stop:
    """The listener wants silence."""


@dataclass(frozen=True, slots=True)
class Say:
    """A line was typed."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Leave:
    """No more lines will come."""


Act = Stop | Say | Leave


class LineEditor:
    """Makes acts of what a terminal sends, key by key.

    Space and Escape stop the voice. Where lines are typed, Space does so only while the line is empty, and Backspace,
    Ctrl-U, Ctrl-W and Ctrl-D do what they do in any line.

    Args:
        lines: Whether lines are typed to be spoken; else keys only stop.
    """

    def __init__(self, *, lines: bool) -> None:
        self.line: str = ""
        """What was typed of the next line."""
        self._lines = lines
        self._escaped_at_s: float | None = None
        self._sequence = ""  # the head of one that is not over

    def feed(self, text: str, now: float, *, sounding: bool) -> list[Act]:
        """What the keys ask for.

        Args:
            text: As the terminal sent it; cut anywhere.
            now: Seconds.
            sounding: Whether the voice can be heard, or is about to be.
        """
        acts = [self._key(char, text[at : at + 1], now, sounding=sounding) for at, char in enumerate(text, 1)]
        return [act for act in acts if act is not None]

    def _key(self, char: str, follows: str, now: float, *, sounding: bool) -> Act | None:
        if char == ESCAPE:
            of_sequence = follows != "" and follows in "[O"
            self._sequence = ESCAPE if of_sequence else ""
            self._escaped_at_s = None if follows else now
            return Stop() if sounding and not of_sequence else None
        if self._is_of_sequence(char, now):
            return None
        if char in SPACES and sounding and not self.line:
            return Stop()
        return self._edit(char) if self._lines else None

    def _is_of_sequence(self, char: str, now: float) -> bool:
        """``ESC [ parameters letter`` and ``ESC O letter``, as arrows and function keys send."""
        if self._escaped_at_s is not None and now - self._escaped_at_s < SEQUENCE_S and char in "[O":
            self._sequence = ESCAPE
        self._escaped_at_s = None
        head = self._sequence
        is_over = head == ESCAPE + "O" or (head.startswith(ESCAPE + "[") and "@" <= char <= "~")
        self._sequence = "" if not head or is_over else head + char
        return bool(head)

    def _edit(self, char: str) -> Act | None:
        if char in "\r\n":
            line, self.line = self.line.strip(), ""
            return Say(line) if line else None
        if char == END:
            return None if self.line else Leave()
        if char in BACKSPACES:
            self.line = self.line[: -_num_last(self.line)] if self.line else ""
        elif char == KILL:
            self.line = ""
        elif char == KILL_WORD:
            self.line = self.line.rstrip()
            self.line = self.line[: len(self.line) - len(self.line.split(" ")[-1])]
        elif len(self.line) < MAX_LINE_CHARS:
            self.line += " " if char.isspace() else char if char.isprintable() else ""
        return None


def _num_last(line: str) -> int:
    """Characters of the last letter, with what is written over it."""
    num = 1
    while num < len(line) and unicodedata.combining(line[-num]):
        num += 1
    return num


def tail(line: str, num_columns: int) -> str:
    """As much of the end of a line as has room; wide characters take two columns."""
    width = 0
    for at in range(len(line) - 1, -1, -1):
        width += num_columns_of(line[at])
        if width > num_columns:
            return line[at + 1 :]
    return line


def num_columns_of(text: str) -> int:
    """How wide a terminal shows it."""
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1 for char in text
    )
