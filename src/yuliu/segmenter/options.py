"""How long segments are: the rules that :class:`yuliu.segmenter.Segmenter` follows, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

from yuliu.errors import InvalidRequest
from yuliu.text.scripts import is_latin, is_wide

_SPOKEN_SYMBOLS = frozenset("%$€£¥￥+=°℃&@#‰")


def weigh(char: str) -> float:
    """How much of a segment's weight ``char`` is: about its share of 0.2 s of speech."""
    if is_latin(char):
        return 0.25
    if is_wide(char) or char.isdecimal() or char in _SPOKEN_SYMBOLS:
        return 1.0
    return 0.25 if char.isalpha() else 0.0


NUM_HELD_BACK = 3
"""Characters after a cut between two words: the word boundaries before them do not change any more when text follows
(rjieba, 36 sentences at every length: with 3 held back none of 252 cuts lay inside a word, with none 135 of 366)."""
MIN_WEIGHT = 3.5
"""What is lighter is not spoken alone if it can be helped: engines speak single words badly."""


@dataclass(frozen=True, slots=True)
class SegmenterOptions:
    """How long segments are, in weight: a Chinese character or a digit weighs 1, a Latin letter 0.25.

    A weight of 1 is about 0.2 s of speech in either language.
    """

    first_weight: float = 4.0
    """The first segment (of the stream, and after a flush) ends at the first clause end from this weight on."""
    growth: float = 2.0
    """Each later segment may end at a clause end from a weight this many times larger on."""
    clause_weight: float = 32.0
    """Until this weight is reached: sentences shorter than it are not cut at clause ends any more."""
    sentence_weight: float = MIN_WEIGHT
    """Sentences lighter than this go together with the next one: engines speak single words badly."""
    merge_limit: float = 60.0
    """Sentences that would go together weigh no more than this in all; else those before the last one go alone."""
    fixed_weight: float = 0.0
    """If above 0, all segments are of one length: from this weight to ``limit``, cut at the word boundary that is
    nearest to it. Sentence ends, and clause ends from this weight on, end a segment too."""
    first_limit: float = 20.0
    """The first segment's greatest weight; it grows as ``first_weight`` does."""
    limit: float = 60.0
    """The greatest weight of any segment; what is longer is cut at the best place there is."""
    max_characters: int = 400
    """The greatest length of any segment, whatever it weighs; what has no place to cut is cut anywhere."""

    def __post_init__(self) -> None:
        """Refuse what could not work.

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
