"""Chunking strategies of a stream, and the rules of the segmenter for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from yuliu.errors import InvalidRequest
from yuliu.segmenter.options import MIN_WEIGHT, SegmenterOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

Strategy = Literal["adaptive", "punctuation", "sentence", "fixed"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
MAX_WEIGHT = 90.0
"""Maximum weight of a segment, whatever the options: about 18 s of speech."""
_RANGES: Mapping[Strategy, tuple[float, float]] = {
    "adaptive": (4.0, 60.0),
    "punctuation": (4.0, 60.0),
    "sentence": (10.0, 30.0),
    "fixed": (8.0, 12.0),
}
_GROWING = SegmenterOptions()
_EVEN = SegmenterOptions(growth=1.0)
_MIN_FIRST_LIMIT = 8.0


@dataclass(frozen=True, slots=True)
class Chunking:
    """Rules for cutting a stream's text. Weights as in :class:`SegmenterOptions`: a Chinese character weighs 1."""

    strategy: Strategy = "adaptive"
    """``adaptive``: a short first segment, then ever longer ones up to whole sentences; ``punctuation``: at every
    clause and sentence end; ``sentence``: whole sentences, short ones together; ``fixed``: pieces of one length."""
    min_weight: float | None = None
    """Minimum weight of a segment, as far as the text allows: ``adaptive``: of the first one; ``punctuation``: of a
    clause; ``sentence``: of a single sentence; ``fixed``: of any. None takes the strategy's own."""
    max_weight: float | None = None
    """Maximum weight, above which a segment is cut at the best place; ``sentence``: of several sentences together,
    while a single one stays whole up to 60. None takes the strategy's own."""

    def __post_init__(self) -> None:
        """Validate the fields.

        Raises:
            InvalidRequest: The strategy is unknown, or not 3.5 <= ``min_weight`` <= ``max_weight`` <= 90.
        """
        if self.strategy not in STRATEGIES:
            raise InvalidRequest(f"strategy must be one of {', '.join(STRATEGIES)}", param="strategy")
        low, high = self.weights
        if not MIN_WEIGHT <= low <= MAX_WEIGHT:
            raise InvalidRequest(f"min_weight must be from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}", param="min_weight")
        if not low <= high <= MAX_WEIGHT:
            raise InvalidRequest(f"max_weight must be from min_weight to {MAX_WEIGHT:g}", param="max_weight")

    @property
    def weights(self) -> tuple[float, float]:
        """Minimum and maximum weight, the strategy's own by default."""
        low, high = _RANGES[self.strategy]
        return (
            low if self.min_weight is None else self.min_weight,
            high if self.max_weight is None else self.max_weight,
        )

    def options(self, *, first_weight_scale: float = 1.0) -> SegmenterOptions:
        """Return the rules of the segmenter.

        Args:
            first_weight_scale: Factor on the length of the first segment where the strategy treats it separately
                (``adaptive``, ``punctuation``), set by the controller; no segment becomes lighter than 3.5 by it.
        """
        low, high = self.weights
        if self.strategy == "fixed":
            return replace(_EVEN, first_weight=low, clause_weight=low, first_limit=high, limit=high, fixed_weight=low)
        if self.strategy == "sentence":
            limit = max(_EVEN.limit, high)
            return replace(
                _EVEN,
                first_weight=limit,
                clause_weight=limit,
                sentence_weight=low,
                merge_limit=high,
                first_limit=limit,
                limit=limit,
            )
        first = max(low * first_weight_scale, MIN_WEIGHT)
        first_limit = min(max(_GROWING.first_limit * first_weight_scale, _MIN_FIRST_LIMIT, first), high)
        clause_weight = low if self.strategy == "punctuation" else max(low, min(_GROWING.clause_weight, high))
        return replace(_GROWING, first_weight=first, clause_weight=clause_weight, first_limit=first_limit, limit=high)
