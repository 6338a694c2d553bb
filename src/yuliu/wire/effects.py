"""What is to be done to the sound, as requests say it: ``volume_db``, ``pitch_semitones``, and the object ``effects``.

The same fields stand in speech requests, in ``start`` and in ``config`` of the native stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.audio.chain import MAX_VOLUME_DB, MIN_VOLUME_DB, Effects
from yuliu.audio.compressor import RANGES, Compression
from yuliu.audio.stretch import MAX_SEMITONES
from yuliu.errors import InvalidRequest
from yuliu.wire.strict_json import check_flag, check_number

if TYPE_CHECKING:
    from collections.abc import Mapping

EFFECT_FIELDS = ("volume_db", "pitch_semitones", "effects")
SWITCHES = ("level", "highpass", "denoise", "limit")
"""Names in ``effects`` that are true or false."""
EFFECT_NAMES = ("level", "compress", "highpass", "denoise", "limit")
"""All names in ``effects``."""
_COMPRESSION: Mapping[str, tuple[str, int]] = {
    "threshold_db": ("threshold_db", 1),
    "ratio": ("ratio", 1),
    "attack_ms": ("attack_s", 1000),
    "release_ms": ("release_s", 1000),
    "makeup_db": ("makeup_db", 1),
}
"""Fields of ``compress``: the field of :class:`Compression`, and how many of these make one of that."""


def parse_effects(fields: Mapping[str, object]) -> dict[str, Any]:
    """What is said of the sound; what is left out or null is not in it.

    Returns:
        Values of fields of :class:`~yuliu.audio.chain.Effects`, by their names, each within its range.

    Raises:
        InvalidRequest: A value is wrong; ``param`` names it, as ``effects.level`` where it stands in ``effects``.
    """
    found: dict[str, Any] = {}
    for name, low, high in (
        ("volume_db", MIN_VOLUME_DB, MAX_VOLUME_DB),
        ("pitch_semitones", -MAX_SEMITONES, MAX_SEMITONES),
    ):
        if (value := fields.get(name)) is not None:
            found[name] = check_number(value, name, low, high)
    return found | _switched(fields.get("effects"))


def effects_of(fields: Mapping[str, object]) -> Effects:
    """All that is to be done to the sound. Raises as :func:`parse_effects` does."""
    return Effects(**parse_effects(fields))


def _switched(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    given = _object("effects", value, EFFECT_NAMES)
    wanted = {name: given[name] for name in SWITCHES if given.get(name) is not None}
    found: dict[str, Any] = {name: check_flag(each, f"effects.{name}") for name, each in wanted.items()}
    if given.get("compress") is not None:
        found["compression"] = _compression(given["compress"])
    return found


def _compression(value: object) -> Compression | None:
    if isinstance(value, bool):
        return Compression() if value else None
    given = _object("effects.compress", value, tuple(_COMPRESSION))
    values: dict[str, float] = {}
    for name, each in given.items():
        if each is not None:
            field, number = _COMPRESSION[name]
            low, high = RANGES[field]
            values[field] = check_number(each, f"effects.compress.{name}", number * low, number * high) / number
    return Compression(**values)


def _object(param: str, value: object, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        kinds = "an object" if param == "effects" else "true, false or an object"
        raise InvalidRequest(f"{param!r} must be {kinds}; it may hold {', '.join(known)}", param=param)
    if not set(known) >= set(value):
        raise InvalidRequest(f"{param!r} may hold {', '.join(known)}, and nothing else", param=param)
    return value
