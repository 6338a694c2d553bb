"""What a segment says, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.text.scripts import is_wide

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.types import Timing


def spoken_words(timings: Iterable[Timing]) -> str:
    """The words of timings, with spaces where their scripts have them: between Chinese characters there are none."""
    spoken = ""
    for timing in timings:
        if spoken and timing.text and not (is_wide(spoken[-1]) or is_wide(timing.text[0])):
            spoken += " "
        spoken += timing.text
    return spoken
