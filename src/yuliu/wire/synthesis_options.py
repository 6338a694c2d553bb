"""In what manner a text is to be spoken: the fields of a request that OpenAI's API does not have, and two headers.

``class``, ``chunking`` and ``max_lead_s`` stay plain values: they replace what a preset says, and what may stand in a
preset is known to :mod:`yuliu.presets` alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from yuliu.audio.chain import NO_EFFECTS
from yuliu.errors import InvalidRequest
from yuliu.text import languages
from yuliu.wire.effects import EFFECT_FIELDS, effects_of
from yuliu.wire.strict_json import check_number, check_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.audio.chain import Effects
    from yuliu.types import Lang

PRESET_FIELDS = ("class", "chunking", "max_lead_s")
"""Fields that replace those of the preset of the same name."""
FIELDS = ("preset", *PRESET_FIELDS, "weight", "lead_in_ms", "seed", "language", *EFFECT_FIELDS)
CLASS_HEADER, WEIGHT_HEADER = "X-Yuliu-Class", "X-Yuliu-Weight"
"""Headers that say what ``class`` and ``weight`` say, for callers that cannot add fields; the fields win."""
MIN_WEIGHT, MAX_WEIGHT = 0.1, 10.0
MAX_LEAD_IN_MS = 1000
MAX_SEED = 2**32 - 1
_DECIMAL = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class SynthesisOptions:
    """How a request wants to be treated."""

    preset: str | None = None
    """Name of a preset; None is the default one."""
    overrides: Mapping[str, object] = field(default_factory=dict)
    """Those of :data:`PRESET_FIELDS` that were given, as they came: not checked yet."""
    weight: float = 1.0
    """How much the stream counts among those of its class, from 0.1 to 10."""
    lead_in_ms: float = 0.0
    """Silence that is sent as soon as the stream is admitted, milliseconds, at most 1000."""
    seed: int = 0
    """Fixes what an engine draws at random; from 0 to 2**32 - 1."""
    language: Lang | None = None
    """Reads all of the text as this language; None decides by script."""
    effects: Effects = NO_EFFECTS
    """What is done to the sound."""


def parse_synthesis_options(fields: Mapping[str, object], headers: Mapping[str, str]) -> SynthesisOptions:
    """The manner that a request asks for; what is null counts as left out.

    Args:
        fields: The JSON object of its body.
        headers: Its headers, by lower-case name.

    Raises:
        InvalidRequest: A value is wrong; ``param`` names its field or header.
    """
    return SynthesisOptions(
        preset=_preset(fields.get("preset")),
        overrides=_overrides(fields, headers.get(CLASS_HEADER.lower())),
        weight=_weight(fields.get("weight"), headers.get(WEIGHT_HEADER.lower())),
        lead_in_ms=_lead_in_ms(fields.get("lead_in_ms")),
        seed=_seed(fields.get("seed")),
        language=None if (language := parse_language(fields)) == "auto" else language,
        effects=effects_of(fields),
    )


def parse_language(fields: Mapping[str, object]) -> Lang | Literal["auto"] | None:
    """What the field ``language`` of an object says; None if it is left out or null.

    Raises:
        InvalidRequest: There is no such language. Whether the voice speaks it is not known here.
    """
    value = fields.get("language")
    if value is None:
        return None
    return "auto" if value == "auto" else languages.parse_language(value)


def presets_body(presets: Sequence[Mapping[str, object]]) -> bytes:
    """The list of presets, from plain values of each."""
    return json.dumps({"presets": list(presets)}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _preset(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidRequest("'preset' must be the name of a preset", param="preset")
    return value or None


def _overrides(fields: Mapping[str, object], class_of_header: str | None) -> dict[str, object]:
    given = {name: fields[name] for name in PRESET_FIELDS if fields.get(name) is not None}
    if class_of_header is not None:
        given.setdefault("class", class_of_header.strip())
    return given


def _weight(value: object, of_header: str | None) -> float:
    if value is None and of_header is not None:
        written = of_header.strip()
        value = float(written) if _DECIMAL.fullmatch(written) else written
        return check_number(value, WEIGHT_HEADER, MIN_WEIGHT, MAX_WEIGHT)
    return 1.0 if value is None else check_number(value, "weight", MIN_WEIGHT, MAX_WEIGHT)


def _lead_in_ms(value: object) -> float:
    return 0.0 if value is None else check_number(value, "lead_in_ms", 0, MAX_LEAD_IN_MS)


def _seed(value: object) -> int:
    return 0 if value is None else check_whole(value, "seed", 0, MAX_SEED)
