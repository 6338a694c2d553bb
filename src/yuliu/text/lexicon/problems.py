"""What is wrong with an entry or a line of a lexicon file, for people: where it is, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.lexicon.entry import Entry

MAX_ENTRIES = 20_000
"""Entries of one lexicon."""
MAX_FILE_BYTES = 4 * 1024 * 1024
_MAX_TOLD = 5


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What is wrong with a line."""

    line: int
    """Counted from 1."""
    message: str
    """What it is and what to do; never quotes the line."""

    def __str__(self) -> str:
        """``line 3: what it is and what to do``."""
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read of a file."""

    entries: tuple[Entry, ...]
    """Those that are right, in the order of the file."""
    lines: tuple[int, ...]
    """The line of each."""
    problems: tuple[LineProblem, ...] = ()

    def checked(self) -> tuple[Entry, ...]:
        """The entries, if all of the file was right.

        Raises:
            InvalidRequest: Something was not; the message tells the first five lines.
        """
        refuse(self.problems)
        return self.entries


def refuse(problems: Sequence[LineProblem]) -> None:
    """Raise what is wrong, if anything is.

    Raises:
        InvalidRequest: The first five problems.
    """
    if problems:
        first = sorted(problems, key=lambda problem: problem.line)[:_MAX_TOLD]
        told = "; ".join(map(str, first))
        more = f"; and {len(problems) - _MAX_TOLD} more" if len(problems) > _MAX_TOLD else ""
        raise InvalidRequest(told + more, param="entries")


def conflicts(parsed: Parsed) -> list[LineProblem]:
    """Entries that a later one of the same file replaces: same text, language, case and stage."""
    first: dict[object, int] = {}
    found: list[LineProblem] = []
    for line, entry in zip(parsed.lines, parsed.entries, strict=True):
        if entry.scope in first:
            message = f"has the same text and scope as line {first[entry.scope]}, and replaces it: remove one of them"
            found.append(LineProblem(line, message))
        first[entry.scope] = line
    return found
