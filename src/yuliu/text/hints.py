"""Checks and small parsers that front ends share for hints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yuliu.text.frontend import RefusedHint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Hint

_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\Z", re.ASCII)


def plain_number(text: str) -> str | None:
    """``text`` without separators and white space if it is a number in digits (``-1,234.5``), else None."""
    bare = "".join(text.split())
    return bare.replace(",", "") if _NUMBER.match(bare) else None


def day_parts(text: str, order: str) -> tuple[str, str, str] | None:
    """Year, month and day of a date in digits; ``order`` is one of ``ymd``, ``mdy``, ``dmy``, ``md``, ``dm``, ``ym``.

    Parts that are not there are empty. None if the text holds another number of parts.
    """
    parts = re.findall(r"\d+", text, re.ASCII)
    if len(parts) != len(order) or not set(order) <= set("ymd"):
        return None
    found = dict(zip(order, parts, strict=True))
    return found.get("y", ""), found.get("m", ""), found.get("d", "")


def in_place(hints: Sequence[Hint], length: int) -> tuple[list[Hint], list[RefusedHint]]:
    """Hints that lie inside a text of ``length`` characters, in order and apart; and the others."""
    placed: list[Hint] = []
    refused: list[RefusedHint] = []
    end = 0
    for hint in sorted(hints, key=lambda hint: hint.span):
        if end <= hint.span.start < hint.span.end <= length:
            placed.append(hint)
            end = hint.span.end
        else:
            refused.append(RefusedHint(hint.span, "hint_misplaced"))
    return placed, refused
