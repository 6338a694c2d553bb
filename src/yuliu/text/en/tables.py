"""Word tables written as compact strings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def listing(names: str) -> tuple[str, ...]:
    """Return the words of ``names``, which are separated by white space."""
    return tuple(names.split())


def table(entries: str) -> dict[str, str]:
    """Return the entries ``short: long``, which are separated by semicolons."""
    found = (entry.split(":", 1) for entry in " ".join(entries.split()).split("; "))
    return {short.strip(): long.strip() for short, long in found}


def any_of(names: Iterable[str]) -> str:
    """Return a pattern for any of ``names``, the longest that fits."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
