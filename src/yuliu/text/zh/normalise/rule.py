"""Rules of normalisation, and the patterns and context look-ups that they share.

A rule is tried at each character of ``first``. Every pattern is bounded in length, so that the cost of a text is
proportional to its length, whatever it holds.
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
"""Number without sign; thousands separators and decimals are allowed."""

TO = r"\s?[-~]\s?"
"""Mark between the ends of a range, after folding."""


@dataclass(frozen=True, slots=True)
class MandarinRule:
    """Kind of expression and its reading."""

    first: str
    """Characters that the expression may begin with."""
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], str | None]
    """Words of a match, or None where the match is something else."""
    spelled: bool = False
    """True if Latin words in the result are spelled (addresses)."""


def rule(
    first: str, pattern: str, read: Callable[[re.Match[str]], str | None] | str, *, spelled: bool = False
) -> MandarinRule:
    """Make a rule; ``read`` may be the words themselves."""
    if isinstance(read, str):
        words = read
        return MandarinRule(first, re.compile(pattern), lambda _: words, spelled)
    return MandarinRule(first, re.compile(pattern), read, spelled)


def before(match: re.Match[str], length: int) -> str:
    """Return up to ``length`` characters before the match."""
    return match.string[max(0, match.start() - length) : match.start()]


def after(match: re.Match[str], length: int) -> str:
    """Return up to ``length`` characters after the match."""
    return match.string[match.end() : match.end() + length]


_SAME_FORMULA = re.compile(r"[\w\s+\-*/.×÷()%^²³]{0,16}", re.ASCII)


def in_equation(match: re.Match[str]) -> bool:
    """Return whether only a formula separates the match from an equals sign."""
    right = _SAME_FORMULA.match(match.string, match.end())
    if right is not None and match.string[right.end() : right.end() + 1] in ("=", "≈"):
        return True
    left = before(match, 16)
    _, equals, tail = left.rpartition("=")
    return bool(equals) and _SAME_FORMULA.fullmatch(tail) is not None
