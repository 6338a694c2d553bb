"""Streamed texts from JSON lines: pieces of text with the intervals between them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.explanation import TimedDelta, pause_ms_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def arrivals_of(line: str, number: int) -> tuple[str, list[TimedDelta]]:
    """Return the name and the pieces of a text.

    Args:
        line: ``{"id": "any", "deltas": ["He", "llo.", "@@PAUSE 900@@", " Yes."], "gap_ms": 30}``; ``id`` and
            ``gap_ms`` may be left out.
        number: Number of the line, for messages.

    Raises:
        InvalidRequest: The line has another form.
    """
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not isinstance(values.get("deltas"), list):
        raise InvalidRequest(f'line {number}: must be a JSON object with "deltas", a list of strings', param="deltas")
    deltas, gap_ms = values["deltas"], values.get("gap_ms", 0)
    if not all(isinstance(delta, str) for delta in deltas):
        raise InvalidRequest(f'line {number}: each of the "deltas" must be a string', param="deltas")
    if isinstance(gap_ms, bool) or not isinstance(gap_ms, int | float) or not 0 <= gap_ms <= 1e9:
        raise InvalidRequest(f'line {number}: "gap_ms" must be a number of milliseconds, 0 or more', param="gap_ms")
    return str(values.get("id", "")), list(_timed(deltas, gap_ms))


def _timed(deltas: list[str], gap_ms: float) -> Iterator[TimedDelta]:
    at_ms = 0.0
    is_first = True
    for delta in deltas:
        if (pause_ms := pause_ms_of(delta)) is not None:
            at_ms += pause_ms
            continue
        at_ms += 0 if is_first else gap_ms
        is_first = False
        yield TimedDelta(delta, at_ms / 1000)
