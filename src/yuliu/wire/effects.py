"""Sound effects of a request: ``volume_db``, ``pitch_semitones``, and the object ``effects``.

The same fields stand in speech requests, and in ``start`` and ``config`` of the native stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from yuliu.audio.chain import MAX_VOLUME_DB, MIN_VOLUME_DB, Effects
from yuliu.audio.compressor import RANGES, Compression
from yuliu.audio.stretch import MAX_SEMITONES
from yuliu.wire.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

EFFECT_FIELDS = ("volume_db", "pitch_semitones", "effects")
SWITCHES = ("level", "highpass", "denoise", "limit")
"""Names in ``effects`` that are true or false."""
_ATTACK_S, _RELEASE_S = RANGES["attack_s"], RANGES["release_s"]


class CompressorFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Numbers of the compressor. A number that is left out or null has its usual value."""

    threshold_db: Annotated[float, Meta(ge=RANGES["threshold_db"][0], le=RANGES["threshold_db"][1])] | None = None
    """Level above which the compressor works, dB of full scale."""
    ratio: Annotated[float, Meta(ge=RANGES["ratio"][0], le=RANGES["ratio"][1])] | None = None
    """Number of decibels above the threshold that become one."""
    attack_ms: Annotated[float, Meta(ge=1000 * _ATTACK_S[0], le=1000 * _ATTACK_S[1])] | None = None
    """Time in which the gain falls, milliseconds."""
    release_ms: Annotated[float, Meta(ge=1000 * _RELEASE_S[0], le=1000 * _RELEASE_S[1])] | None = None
    """Time in which the gain comes back, milliseconds."""
    makeup_db: Annotated[float, Meta(ge=RANGES["makeup_db"][0], le=RANGES["makeup_db"][1])] | None = None
    """Gain on all of the sound afterwards, dB."""

    def compression(self) -> Compression:
        """Return the numbers in the units of the compressor."""
        values = {
            "threshold_db": self.threshold_db,
            "ratio": self.ratio,
            "attack_s": None if self.attack_ms is None else self.attack_ms / 1000,
            "release_s": None if self.release_ms is None else self.release_ms / 1000,
            "makeup_db": self.makeup_db,
        }
        return Compression(**{name: value for name, value in values.items() if value is not None})


class EffectSwitches(Struct, frozen=True, forbid_unknown_fields=True):
    """The object ``effects``. A name that is left out or null changes nothing."""

    level: bool | None = None
    """Brings sentences slowly to one loudness."""
    compress: bool | CompressorFields | None = None
    """Makes loud and soft parts more alike; an object sets its numbers."""
    highpass: bool | None = None
    """Takes away what lies below a voice."""
    denoise: bool | None = None
    """Takes noise away, for voices made from noisy recordings."""
    limit: bool | None = None
    """Keeps true peaks below -1 dB of full scale."""


EFFECT_NAMES = EffectSwitches.__struct_fields__
"""All names in ``effects``."""


class EffectFields(Struct, frozen=True, kw_only=True):
    """Fields of a message that change its sound."""

    volume_db: Annotated[float, Meta(ge=MIN_VOLUME_DB, le=MAX_VOLUME_DB)] | None = None
    """Louder or softer, dB; a limiter takes care of what is made louder."""
    pitch_semitones: Annotated[float, Meta(ge=-MAX_SEMITONES, le=MAX_SEMITONES)] | None = None
    """Higher or lower, semitones."""
    effects: EffectSwitches | None = None
    """Other effects on the sound."""

    def changes(self) -> dict[str, Any]:
        """Return the fields of :class:`~yuliu.audio.chain.Effects` that are given, with their values."""
        found: dict[str, Any] = {"volume_db": self.volume_db, "pitch_semitones": self.pitch_semitones}
        compress = None
        if self.effects is not None:
            found |= {name: getattr(self.effects, name) for name in SWITCHES}
            compress = self.effects.compress
        changes = {name: value for name, value in found.items() if value is not None}
        if compress is not None:
            changes["compression"] = (
                compress.compression()
                if isinstance(compress, CompressorFields)
                else (Compression() if compress else None)
            )
        return changes


_FIELDS: Schema[EffectFields] = Schema(EffectFields, what="the object")


def parse_effects(fields: Mapping[str, object]) -> dict[str, Any]:
    """Return what a mapping says of the sound; what is left out or null is not in it.

    Returns:
        Values of fields of :class:`~yuliu.audio.chain.Effects`, by their names, each within its range.

    Raises:
        InvalidRequest: A value is wrong; ``param`` names it, as ``effects.level`` where it stands in ``effects``.
    """
    return _FIELDS.convert(fields).changes()


def effects_of(fields: Mapping[str, object]) -> Effects:
    """Return all that is to be done to the sound. Raises as :func:`parse_effects` does."""
    return Effects(**parse_effects(fields))
