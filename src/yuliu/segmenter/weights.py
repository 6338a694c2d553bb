"""The measure of segments."""

from __future__ import annotations

from yuliu.text.scripts import is_latin, is_wide

_SPOKEN_SYMBOLS = frozenset("%$€£¥￥+=°℃&@#‰")


def weigh(char: str) -> float:
    """How much of a segment's weight ``char`` is: about its share of 0.2 s of speech."""
    if is_latin(char):
        return 0.25
    if is_wide(char) or char.isdecimal() or char in _SPOKEN_SYMBOLS:
        return 1.0
    return 0.25 if char.isalpha() else 0.0
