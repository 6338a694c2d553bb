"""Length rules of :class:`yuliu.segmenter.Segmenter`, and the weight of characters."""

from __future__ import annotations

from dataclasses import dataclass

from yuliu.errors import InvalidRequest
from yuliu.text.scripts import is_latin, is_wide

_SPOKEN_SYMBOLS = frozenset("%$€£¥￥+=°℃&@#‰")


def weigh(char: str) -> float:
    """Return the weight of ``char`` in a segment: about its share of 0.2 s of speech."""
    if is_latin(char):
        return 0.25
    if is_wide(char) or char.isdecimal() or char in _SPOKEN_SYMBOLS:
        return 1.0
    return 0.25 if char.isalpha() else 0.0


NUM_HELD_BACK = 3
"""Characters held back after a cut between two words, so that the word boundaries before them are final (rjieba, 36
sentences at every length: with 3 held back none of 252 cuts lay inside a word, with none 135 of 366)."""
MIN_WEIGHT = 3.5
"""Minimum weight of a segment that is spoken alone, where possible: engines speak single words badly."""


@dataclass(frozen=True, slots=True)
class SegmenterOptions:
    """Length rules of segments, in weight: a Chinese character or a digit weighs 1, a Latin letter 0.25.

    A weight of 1 is about 0.2 s of speech in either language.
    """

    first_weight: float = 4.0
    """Minimum weight at which a clause end closes the first segment (of the stream, and after a flush)."""
    growth: float = 2.0
    """Factor from one segment to the next on the minimum weight at which a clause end closes it; at least 1."""
    clause_weight: float = 32.0
    """Maximum of that weight: shorter sentences are then not cut at clause ends."""
    sentence_weight: float = MIN_WEIGHT
    """Minimum weight of a sentence that is not joined with the next one: engines speak single words badly."""
    merge_limit: float = 60.0
    """Maximum weight of joined sentences; beyond it those before the last one are spoken alone."""
    fixed_weight: float = 0.0
    """If above 0, all segments have one length: from this weight to ``limit``, cut at the nearest word boundary.
    Sentence ends, and clause ends from this weight on, close a segment too."""
    first_limit: float = 20.0
    """Maximum weight of the first segment; it grows as ``first_weight`` does."""
    limit: float = 60.0
    """Maximum weight of any segment; a longer clause is cut at the best place."""
    max_characters: int = 400
    """Maximum length of any segment, whatever its weight; text without a place to cut is cut anywhere."""

    def __post_init__(self) -> None:
        """Validate the fields.

        Raises:
            InvalidRequest: A weight is not above zero, ``growth`` is less than 1, ``max_characters`` less than 8, or
                ``fixed_weight`` not from 0 to ``limit``.
        """
        for name in ("first_weight", "clause_weight", "sentence_weight", "merge_limit", "first_limit", "limit"):
            if not getattr(self, name) > 0:
                raise InvalidRequest(f"{name} must be above 0", param=name)
        if not 0 <= self.fixed_weight <= self.limit:
            raise InvalidRequest("fixed_weight must be from 0 to limit", param="fixed_weight")
        if not self.growth >= 1:
            raise InvalidRequest("growth must be at least 1", param="growth")
        if not self.max_characters > 2 * NUM_HELD_BACK + 1:
            raise InvalidRequest("max_characters must be at least 8", param="max_characters")
