"""Options of synthesis that OpenAI's API does not have: fields of a request, and two headers.

Values of ``class``, ``chunking`` and ``max_lead_s`` replace what a preset says (:mod:`yuliu.presets`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, field

from yuliu.audio.chain import NO_EFFECTS, Effects
from yuliu.errors import InvalidRequest
from yuliu.text import languages
from yuliu.types import MAX_SPEED, MIN_SPEED, Lang
from yuliu.wire.effects import EFFECT_FIELDS, EffectFields
from yuliu.wire.faults import must
from yuliu.wire.lexicons import EntriesField, NamesField
from yuliu.wire.preset_fields import ChunkingField, ClassField, LeadField
from yuliu.wire.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PRESET_FIELDS = ("class", "chunking", "max_lead_s")
"""Fields that replace those of the preset of the same name."""
FIELDS = ("preset", *PRESET_FIELDS, "weight", "lead_in_ms", "seed", "language", *EFFECT_FIELDS)
CLASS_HEADER, WEIGHT_HEADER = "X-Yuliu-Class", "X-Yuliu-Weight"
"""Headers that stand in for ``class`` and ``weight`` where a client cannot add fields; the fields win."""
MIN_WEIGHT, MAX_WEIGHT = 0.1, 10.0
MAX_LEAD_IN_MS = 1000
MAX_SEED = 2**32 - 1
_DECIMAL = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)

SpeedField = Annotated[float, Meta(ge=MIN_SPEED, le=MAX_SPEED)]
LanguageField = Annotated[str, must("a BCP 47 tag, such as 'zh' or 'en-US', or 'auto'")]
"""Its value is for :func:`parse_language`: languages are registered while the program runs."""


class SynthesisOptions(Struct, frozen=True):
    """Options of a request beside OpenAI's."""

    preset: str | None = None
    """Name of a preset; None is the default one."""
    overrides: dict[str, object] = {}
    """Given fields of :data:`PRESET_FIELDS`."""
    weight: float = 1.0
    """Weight of the stream among those of its class, from 0.1 to 10."""
    lead_in_ms: float = 0.0
    """Silence that is sent as soon as the stream is admitted, milliseconds, at most 1000."""
    seed: int = 0
    """Seed of what an engine draws at random; from 0 to 2**32 - 1."""
    language: Lang | None = None
    """Language in which all of the text is read; None decides by script."""
    effects: Effects = NO_EFFECTS
    """Effects on the sound."""


class SynthesisFields(EffectFields, frozen=True, kw_only=True):
    """Option fields of a request. Null counts as left out."""

    preset: Annotated[str | None, must("the name of a preset")] = None
    """Name of a preset: a set of values for a kind of use."""
    stream_class: ClassField | None = field(name="class", default=None)
    """Urgency of the stream; else the preset's."""
    chunking: ChunkingField | None = None
    """Rules for cutting the text; else the preset's."""
    max_lead_s: LeadField | None = None
    """Maximum sound that is made ahead of its listener, seconds; else the preset's."""
    weight: Annotated[float, Meta(ge=MIN_WEIGHT, le=MAX_WEIGHT)] | None = None
    """Weight of the stream among those of its class; 1 if left out."""
    lead_in_ms: Annotated[float, Meta(ge=0, le=MAX_LEAD_IN_MS)] | None = None
    """Silence that is sent as soon as the stream is admitted, milliseconds."""
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)] | None = None
    """Seed of what a voice draws at random; 0 if left out."""
    lexicon: NamesField = None
    """Names of lexicons of the server, the strongest last."""
    lexicon_entries: EntriesField = None
    """Entries for this text alone: a list of them, or an object from texts to readings."""
    language: LanguageField | None = None
    """Language in which all of the text is read; ``auto`` decides by script, as if left out."""

    def manner(self, headers: Mapping[str, str]) -> SynthesisOptions:
        """Return what the fields and headers ask for.

        Raises:
            InvalidRequest: A header is wrong, or there is no such language; ``param`` names the header or field.
        """
        language, changes = parse_language(self.language), self.changes()
        return SynthesisOptions(
            self.preset or None,
            self._overrides(headers.get(CLASS_HEADER.lower())),
            _header_weight(headers.get(WEIGHT_HEADER.lower())) if self.weight is None else self.weight,
            self.lead_in_ms or 0.0,
            self.seed or 0,
            None if language == "auto" else language,
            Effects(**changes) if changes else NO_EFFECTS,
        )

    def _overrides(self, class_of_header: str | None) -> dict[str, object]:
        of_header = None if class_of_header is None else class_of_header.strip()
        stream_class = of_header if self.stream_class is None else self.stream_class
        given = {"class": stream_class, "chunking": self.chunking, "max_lead_s": self.max_lead_s}
        return {name: value for name, value in given.items() if value is not None}


_FIELDS: Schema[SynthesisFields] = Schema(SynthesisFields, what="the object")


def parse_synthesis_options(fields: Mapping[str, object], headers: Mapping[str, str]) -> SynthesisOptions:
    """Return the options that a request asks for.

    Args:
        fields: The JSON object of its body.
        headers: Its headers, by lower-case name.

    Raises:
        InvalidRequest: A value is wrong; ``param`` names its field or header.
    """
    return _FIELDS.convert(fields).manner(headers)


def parse_language(value: str | None) -> Lang | Literal["auto"] | None:
    """Return the language that the field ``language`` names; None if it is left out or null.

    Raises:
        InvalidRequest: There is no such language. Whether the voice speaks it is not known here.
    """
    return value if value in (None, "auto") else languages.parse_language(value)


def presets_body(presets: Sequence[Mapping[str, object]]) -> bytes:
    """Return the list of presets, from plain values of each: those of a ``ListedPreset``."""
    return json.dumps({"presets": list(presets)}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _header_weight(value: str | None) -> float:
    if value is None:
        return 1.0
    written = value.strip()
    weight = float(written) if _DECIMAL.fullmatch(written) else 0.0
    if not MIN_WEIGHT <= weight <= MAX_WEIGHT:
        raise InvalidRequest(
            f"{WEIGHT_HEADER!r} must be a number from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}", param=WEIGHT_HEADER
        )
    return weight
