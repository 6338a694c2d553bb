"""Ordered rewriting rules over a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Read = Callable[[re.Match[str]], str | None]
"""Words of a match; None if it is something else. An empty string leaves it out."""

_WORD_BEFORE = re.compile(r"([A-Za-z][A-Za-z.']*)[ \"'(:#=]*\Z")
_WORD_AFTER = re.compile(r"[ -]?([A-Za-z]+)")
_DIGIT = re.compile(r"\d")
_WINDOW = 32
"""Number of characters before a match in which the previous word is searched."""


@dataclass(frozen=True, slots=True)
class EnglishRule:
    """Pattern and its reading. A pattern must not scan far and then fail: bound its repeats, or anchor them at the
    start of a run, so that any text is read in linear time."""

    name: str
    pattern: re.Pattern[str]
    read: Read
    needs_digit: bool = False
    """True if every match contains a digit: texts without digits are then not searched."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Characters ``start`` to ``end`` of the scanned text, spoken as ``spoken``."""

    start: int
    end: int
    spoken: str


def rewritings(text: str, rules: Sequence[EnglishRule], closed: Sequence[tuple[int, int]] = ()) -> Iterator[Rewriting]:
    """Return the rewritings of ``text``, left to right, without overlap: the leftmost match wins, and of those that
    start together the first rule that does not decline.

    Args:
        text: Folded text.
        rules: Rules in the order in which they are tried.
        closed: Ranges that no rewriting may touch, in order and without overlap.
    """
    has_digit = _DIGIT.search(text) is not None
    found = [rule.pattern.search(text) if has_digit or not rule.needs_digit else None for rule in rules]
    position = 0
    while True:
        best = -1
        for index, match in enumerate(found):
            if match is not None and match.start() < position:
                match = found[index] = rules[index].pattern.search(text, position)
            if match is not None and (best < 0 or match.start() < _start(found[best])):
                best = index
        if best < 0:
            return
        match = found[best]
        assert match is not None  # noqa: S101 - for the type checker; best is only set where there is a match
        if (after := _behind_closed(match, closed)) is not None:
            found[best] = rules[best].pattern.search(text, after)
            continue
        spoken = rules[best].read(match)
        if spoken is None or match.end() == match.start():
            found[best] = rules[best].pattern.search(text, match.start() + 1)
            continue
        yield Rewriting(match.start(), match.end(), spoken)
        position = match.end()


def _behind_closed(match: re.Match[str], closed: Sequence[tuple[int, int]]) -> int | None:
    """Return the place behind a closed range that a match touches; None if it touches none."""
    if not closed:
        return None
    index = bisect_right(closed, match.start(), key=lambda each: each[1])
    if index == len(closed) or match.end() <= closed[index][0]:
        return None
    return closed[index][1] if match.start() >= closed[index][0] else match.start() + 1


def _start(match: re.Match[str] | None) -> int:
    return match.start() if match else -1


def before(match: re.Match[str], num_characters: int) -> str:
    """Return at most ``length`` characters directly before the match."""
    return match.string[max(0, match.start() - num_characters) : match.start()]


def word_before(match: re.Match[str]) -> str:
    """Return the word before the match, in lower case without a final dot; empty after a number or at the start."""
    start = match.start()
    found = _WORD_BEFORE.search(match.string, max(0, start - _WINDOW), start)
    return found.group(1).lower().rstrip(".") if found else ""


def word_after(match: re.Match[str]) -> str:
    """Return the word directly after the match (a space or hyphen between), as written; empty if there is none."""
    found = _WORD_AFTER.match(match.string, match.end())
    return found.group(1) if found else ""
