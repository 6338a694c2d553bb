"""Width of text in a terminal, in which a Chinese character takes two columns. Pure."""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH = frozenset(("Mn", "Me", "Cf"))


def num_columns_of(text: str) -> int:
    """Return the width of a text: two columns for wide characters, none for combining ones."""
    return sum(map(_width, text))


def tail(text: str, num_columns: int) -> str:
    """Return the end of a text that fits."""
    width = 0
    for at in range(len(text) - 1, -1, -1):
        width += _width(text[at])
        if width > num_columns:
            return text[at + 1 :]
    return text


def _width(char: str) -> int:
    if unicodedata.category(char) in _ZERO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
