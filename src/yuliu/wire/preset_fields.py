"""Fields of a preset that a request may replace, as JSON and TOML write them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from yuliu.segmenter.chunking import STRATEGIES
from yuliu.types import StreamClass
from yuliu.wire.faults import must

MIN_LEAD_S, MAX_LEAD_S = 0.1, 3600.0
_CLASSES = ", ".join(each.value for each in StreamClass)
_Strategy = Annotated[str, Meta(extra_json_schema={"enum": list(STRATEGIES)}), must("the name of a strategy")]


class ChunkingFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules for cutting text. Bounds of the weights follow from the strategy."""

    strategy: _Strategy
    """Name of the strategy."""
    min_weight: float | None = None
    """Minimum weight of a segment; a Chinese character weighs 1."""
    max_weight: float | None = None
    """Maximum weight of a segment."""


ClassField = Annotated[Literal["interactive", "standard", "bulk"], must(f"one of {_CLASSES}")]
ChunkingField = _Strategy | ChunkingFields
LeadField = Annotated[
    float, must(f"a number of seconds from {MIN_LEAD_S:g} to {MAX_LEAD_S:g}", ge=MIN_LEAD_S, le=MAX_LEAD_S)
]
