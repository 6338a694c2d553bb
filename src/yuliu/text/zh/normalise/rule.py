"""What a rule of normalisation is, and the patterns and looks around that rules share.

A rule is tried where a character of ``first`` stands. Every pattern is bounded in length, so that a text costs
time in proportion to its length whatever it holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DIGIT = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LATIN = UPPER + UPPER.lower()

NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,5}(?!\d)|\d{1,16})(?:\.\d{1,12})?"
"""A number without sign: thousands separators and decimals allowed."""

TO = r"\s?[-~]\s?"
"""What stands between the ends of a range, after folding."""


@dataclass(frozen=True, slots=True)
class MandarinRule:
    """One kind of writing and how it is read."""

    first: str
    """Characters that the writing may begin with."""
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], str | None]
    """Gives the words for a match, or None where the match is something else after all."""
    spelled: bool = False
    """Whether Latin words in the result are said letter by letter (addresses)."""


def rule(
    first: str, pattern: str, read: Callable[[re.Match[str]], str | None] | str, *, spelled: bool = False
) -> MandarinRule:
    """Make a rule; ``read`` may be the words themselves."""
    if isinstance(read, str):
        words = read
        return MandarinRule(first, re.compile(pattern), lambda _: words, spelled)
    return MandarinRule(first, re.compile(pattern), read, spelled)


def before(match: re.Match[str], length: int) -> str:
    """Up to ``length`` characters before the match."""
    return match.string[max(0, match.start() - length) : match.start()]


def after(match: re.Match[str], length: int) -> str:
    """Up to ``length`` characters after the match."""
    return match.string[match.end() : match.end() + length]


_SAME_FORMULA = re.compile(r"[\w\s+\-*/.×÷()%^²³]{0,16}", re.ASCII)


def in_equation(match: re.Match[str]) -> bool:
    """Whether an equals sign stands near the match with nothing but a formula between."""
    right = _SAME_FORMULA.match(match.string, match.end())
    if right is not None and match.string[right.end() : right.end() + 1] in ("=", "≈"):
        return True
    left = before(match, 16)
    _, equals, tail = left.rpartition("=")
    return bool(equals) and _SAME_FORMULA.fullmatch(tail) is not None
