"""Unicode to plain characters, with the way back."""

from __future__ import annotations

import sys

import pytest

from yuliu.text.en.fold import fold


@pytest.mark.slow
def test_every_code_point_can_be_folded() -> None:
    """Each code point, halves of surrogate pairs included, maps back to its source."""
    for code in range(sys.maxunicode + 1):
        folded = fold(f"a{chr(code)}b")
        assert len(folded.text) == len(folded.starts) == len(folded.ends)
        assert (folded.starts[0], folded.ends[-1]) == (0, 3)


@pytest.mark.parametrize("letter", ["\u0958", "\ufb1d", "\u0f43"])
def test_letters_that_are_never_composed_are_unchanged(letter: str) -> None:
    """Their normal form has two characters, but they are folded as one."""
    assert fold(letter).text
