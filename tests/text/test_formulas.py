"""LaTeX formulas in words."""

from __future__ import annotations

import pytest

from yuliu.text.formulas import ENGLISH_COLUMN, MANDARIN_COLUMN, spoken_formula


@pytest.mark.parametrize(
    ("formula", "mandarin", "english"),
    [
        (r"\sqrt{2}", "根号2", "the square root of 2"),
        (r"\sqrt[3]{x}", "开3次方根号x", "the cube root of x"),
        (r"\sqrt[n]{x}", "开n次方根号x", "the n root of x"),
        (r"\int\limits_0^1 x", "积分从0到1，x", "the integral from 0 to 1 of x"),
        (r"\lim_{x \to 0} x", "极限x趋于0，x", "the limit as x to 0 of x"),
        (r"x^\circ", "x度", "x degrees"),
        ("x^{2n}", "x的2 n次方", "x to the power of 2 n"),
        ("x^3", "x的立方", "x cubed"),
    ],
)
def test_a_formula_is_read_in_words(formula: str, mandarin: str, english: str) -> None:
    """Roots, bounds and powers in both languages."""
    assert spoken_formula(formula, column=MANDARIN_COLUMN) == mandarin
    assert spoken_formula(formula, column=ENGLISH_COLUMN) == english


@pytest.mark.parametrize(("formula", "words"), [("x^", "x"), ("x^{}", "x"), (r"\frac", "over")])
def test_an_incomplete_formula_is_read_as_far_as_it_goes(formula: str, words: str) -> None:
    """A missing argument is empty."""
    assert spoken_formula(formula, column=ENGLISH_COLUMN) == words


@pytest.mark.parametrize("formula", ["{" * 8 + "x" + "}" * 8, r"\begin{matrix}a\end{matrix}", r"a \\ b"])
def test_a_formula_with_layout_or_deep_nesting_is_not_read(formula: str) -> None:
    """The reader announces it instead."""
    assert spoken_formula(formula, column=ENGLISH_COLUMN) is None
