"""Readings that the tagger gets wrong, put right from the words around."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def retag(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Part-of-speech tags with corrections; same length as ``words``."""
    return list(tags)
