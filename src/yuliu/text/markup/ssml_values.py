"""Values of SSML attributes as numbers; None for values that are not understood."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from yuliu.types import MAX_PAUSE_S

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = r"([+-]?\d{1,6}(?:\.\d{1,6})?)"
_TIME = re.compile(rf"\s*{_NUMBER}\s*(ms|s)\s*", re.IGNORECASE)
_PERCENT = re.compile(rf"\s*{_NUMBER}%\s*")
_PLAIN = re.compile(rf"\s*{_NUMBER}\s*")
_SEMITONES = re.compile(rf"\s*{_NUMBER}st\s*", re.IGNORECASE)
_DECIBEL = re.compile(rf"\s*{_NUMBER}dB\s*", re.IGNORECASE)

_STRENGTHS_S = {"none": 0.0, "x-weak": 0.1, "weak": 0.2, "medium": 0.4, "strong": 0.7, "x-strong": 1.2}
_RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.35, "x-fast": 1.75}
_PITCHES = {"x-low": -6.0, "low": -3.0, "medium": 0.0, "default": 0.0, "high": 3.0, "x-high": 6.0}
_VOLUMES_DB = {
    "silent": -60.0, "x-soft": -12.0, "soft": -6.0, "medium": 0.0, "default": 0.0, "loud": 4.0, "x-loud": 8.0,
}  # fmt: skip


def break_s(attributes: Mapping[str, str]) -> float | None:
    """Return the length of a ``break``, seconds."""
    if "time" in attributes:
        found = _TIME.fullmatch(attributes["time"])
        if found is None or float(found[1]) < 0:
            return None
        return min(float(found[1]) / (1000 if found[2].lower() == "ms" else 1), MAX_PAUSE_S)
    return _STRENGTHS_S.get(attributes.get("strength", "medium"))


def rate_factor(value: str) -> float | None:
    """Return the factor of ``slow``, ``120%``, ``+20%`` or ``1.2``."""
    if value in _RATES:
        return _RATES[value]
    if found := _PERCENT.fullmatch(value):
        share = float(found[1]) / 100
        factor = 1 + share if found[1][0] in "+-" else share
    elif found := _PLAIN.fullmatch(value):
        factor = float(found[1])
    else:
        return None
    return factor if factor > 0 else None


def pitch_semitones(value: str) -> float | None:
    """Return the semitones of ``high``, ``+2st`` or ``+10%``; None for absolute pitch, which depends on the voice."""
    if value in _PITCHES:
        return _PITCHES[value]
    if found := _SEMITONES.fullmatch(value):
        return float(found[1])
    if found := _PERCENT.fullmatch(value):
        share = float(found[1]) / 100
        factor = 1 + share if found[1][0] in "+-" else share
        return 12 * math.log2(factor) if factor > 0 else None
    return None


def volume_db(value: str) -> float | None:
    """Return the decibels of ``loud``, ``+6dB``, or a number from 0 to 100 as in SSML 1.0, where 100 is full volume."""
    if value in _VOLUMES_DB:
        return _VOLUMES_DB[value]
    if found := _DECIBEL.fullmatch(value):
        return float(found[1])
    if (found := _PLAIN.fullmatch(value)) and 0 <= float(found[1]) <= 100 and found[1][0] not in "+-":
        return max(20 * math.log10(max(float(found[1]), 1e-3) / 100), -60.0)
    return None
