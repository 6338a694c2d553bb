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


@pytest.mark.parametrize(("letter", "plain"), [("\u00a8", ""), ("\u33a0", "cm^2"), ("\u33a6", "km^3")])
def test_accents_without_a_letter_are_dropped_and_squared_units_spelled_out(letter: str, plain: str) -> None:
    """The rules know the plain forms."""
    assert fold(f"5{letter}b").text == f"5{plain}b"


@pytest.mark.parametrize(
    ("char", "plain"), [("\u02d8", ""), ("\u00bd", "1/2"), ("\u00b2", "^2"), ("\u33a1", "m^2"), ("\u0663", "3")]
)
def test_numbers_and_accents_have_plain_forms(char: str, plain: str) -> None:
    """Fractions, powers, squared units and digits become ASCII; a spacing accent disappears."""
    assert fold(char).text.strip() == plain
