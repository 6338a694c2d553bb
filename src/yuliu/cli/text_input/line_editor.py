"""Meaning of keys typed during playback: silence, or a line to speak next. Pure."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

MAX_LINE_CHARS = 4096
"""Maximum length of a line; further characters are dropped, as in a terminal's own lines."""
SEQUENCE_S = 0.05
"""Time after an Escape in which further input may belong to an escape sequence, such as an arrow key, seconds."""
ESCAPE = "\x1b"
SPACES = (" ", "\u3000")
"""Space keys; Chinese input methods send the second."""
END = "\x04"
BACKSPACES = ("\x7f", "\b")
KILL = "\x15"
KILL_WORD = "\x17"


@dataclass(frozen=True, slots=True)
class Stop:
    """The listener wants silence."""


@dataclass(frozen=True, slots=True)
class Say:
    """The listener typed a line."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Leave:
    """The listener leaves."""


Act = Stop | Say | Leave


class LineEditor:
    """Line editor that turns terminal input into acts, key by key.

    Space and Escape stop the voice. With line input, Space does so only while the line is empty, and Backspace,
    Ctrl-U, Ctrl-W and Ctrl-D work as in any terminal.

    Args:
        lines: True to accept lines; otherwise keys only stop the voice.
    """

    def __init__(self, *, lines: bool) -> None:
        self.line: str = ""
        """Line being typed."""
        self._lines = lines
        self._escaped_at_s: float | None = None
        self._sequence = ""  # start of an unfinished escape sequence

    def feed(self, text: str, now: float, *, sounding: bool) -> list[Act]:
        """Return the acts for some input.

        Args:
            text: Input from the terminal, cut anywhere.
            now: Current time, seconds.
            sounding: True while the voice can be heard, or is about to be.
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
        """Return True for a part of ``ESC [ parameters letter`` or ``ESC O letter``, as sent by arrow keys."""
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
    """Return the number of characters of the last letter, including combining ones."""
    num = 1
    while num < len(line) and unicodedata.combining(line[-num]):
        num += 1
    return num
