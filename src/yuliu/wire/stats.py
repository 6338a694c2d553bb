"""``GET /v1/stats``: the last minute as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NUM_DIGITS = 6
"""Number of decimals that are kept: microseconds are enough."""


def stats_body(stats: Mapping[str, object]) -> bytes:
    """Return plain values as JSON in ASCII."""
    return json.dumps(_rounded(stats), ensure_ascii=True, allow_nan=False).encode("ascii")


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, NUM_DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return value
