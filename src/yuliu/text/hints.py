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
    """Return a number in digits (``-1,234.5``) without separators and white space; None for any other text."""
    bare = "".join(text.split())
    return bare.replace(",", "") if _NUMBER.match(bare) else None


def day_parts(text: str, order: str) -> tuple[str, str, str] | None:
    """Return year, month and day of a date in digits; ``order`` is ``ymd``, ``mdy``, ``dmy``, ``md``, ``dm`` or ``ym``.

    Missing parts are empty. Return None if the text has a different number of parts.
    """
    parts = re.findall(r"\d+", text, re.ASCII)
    if len(parts) != len(order) or not set(order) <= set("ymd"):
        return None
    found = dict(zip(order, parts, strict=True))
    return found.get("y", ""), found.get("m", ""), found.get("d", "")


def in_place(hints: Sequence[Hint], length: int) -> tuple[list[Hint], list[RefusedHint]]:
    """Return the hints that lie inside a text of ``length`` characters without overlap, in order, and the refused
    others."""
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
