"""A front end that remembers what it has read: greetings, prompts and menus come again and again."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.reading import FrontEnd, Reading
    from yuliu.types import Hint, Respelling

MAX_TEXTS = 512
"""Readings kept; those that were asked for longest ago are forgotten first."""
MAX_CHARS = 60
"""Longer texts are not kept: they seldom come again. Kept ones take about 5 kB each, 2.5 MB in all."""


class Remembered:
    """The readings of a front end, the latest ones kept. Safe to share between threads, as front ends are.

    Args:
        front_end: Reads what is not remembered. Its readings are values, so they can be given again.
    """

    def __init__(self, front_end: FrontEnd) -> None:
        self._front_end = front_end
        self._kept = lru_cache(MAX_TEXTS)(front_end.read)

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """As the front end reads it. Texts with hints or a respelling are always read anew."""
        if hints or respelling is not None or len(text) > MAX_CHARS:
            return self._front_end.read(text, hints, respelling)
        return self._kept(text)
