"""Readings are remembered, and bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.text.frontend import MAX_CHARS, MAX_TEXTS, Piece, Reading, Remembered
from yuliu.types import Hint, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Respelling


class Counting:
    """Reads every text as it stands, and counts."""

    def __init__(self) -> None:
        self.num_reads = 0

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        self.num_reads += 1
        return Reading((Piece(Span(0, len(text)), "hinted" if hints else text),), ())


def test_a_text_is_read_once() -> None:
    """The second read returns the same reading."""
    counting = Counting()
    front_end = Remembered(counting)
    assert front_end.read("你好。") is front_end.read("你好。")
    assert front_end.read("再见。").spoken == "再见。"
    assert counting.num_reads == 2


def test_hinted_texts_bypass_the_cache() -> None:
    """A hint belongs to one request, not to the text."""
    front_end = Remembered(Counting())
    hint = Hint(Span(0, 1), "spoken", "x")
    assert front_end.read("a").spoken == "a"
    assert front_end.read("a", [hint]).spoken == "hinted"
    assert front_end.read("a").spoken == "a"


def test_the_cache_is_bounded() -> None:
    """Long texts are not kept, and the least recently used of many short ones are dropped."""
    counting = Counting()
    front_end = Remembered(counting)
    for _ in range(2):
        front_end.read("x" * (MAX_CHARS + 1))
    assert counting.num_reads == 2
    for number in range(MAX_TEXTS + 1):
        front_end.read(str(number))
    front_end.read("0")
    assert counting.num_reads == 2 + MAX_TEXTS + 2
