"""Problems of an entry or a line of a lexicon file, for people: the place and the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.lexicon.entry import Entry

MAX_ENTRIES = 20_000
"""Maximum number of entries of one lexicon."""
MAX_FILE_BYTES = 4 * 1024 * 1024
_MAX_TOLD = 5


@dataclass(frozen=True, slots=True)
class LineProblem:
    """Problem of a line."""

    line: int
    """Line number, from 1."""
    message: str
    """Description and remedy; never quotes the line."""

    def __str__(self) -> str:
        """Format as ``line 3: description and remedy``."""
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """Result of reading a file."""

    entries: tuple[Entry, ...]
    """Valid entries, in the order of the file."""
    lines: tuple[int, ...]
    """Line number of each entry."""
    problems: tuple[LineProblem, ...] = ()

    def checked(self) -> tuple[Entry, ...]:
        """Return the entries if the whole file is valid.

        Raises:
            InvalidRequest: It is not; the message lists the first five problems.
        """
        refuse(self.problems)
        return self.entries


def refuse(problems: Sequence[LineProblem]) -> None:
    """Raise the problems, if there are any.

    Raises:
        InvalidRequest: There are problems; the message lists the first five.
    """
    if problems:
        first = sorted(problems, key=lambda problem: problem.line)[:_MAX_TOLD]
        told = "; ".join(map(str, first))
        more = f"; and {len(problems) - _MAX_TOLD} more" if len(problems) > _MAX_TOLD else ""
        raise InvalidRequest(told + more, param="entries")


def conflicts(parsed: Parsed) -> list[LineProblem]:
    """Return the entries that a later one in the same file replaces: same text, language, case and stage."""
    first: dict[object, int] = {}
    found: list[LineProblem] = []
    for line, entry in zip(parsed.lines, parsed.entries, strict=True):
        if entry.scope in first:
            message = f"has the same text and scope as line {first[entry.scope]}, and replaces it: remove one of them"
            found.append(LineProblem(line, message))
        first[entry.scope] = line
    return found
