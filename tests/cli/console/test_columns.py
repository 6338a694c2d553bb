"""Width of text in a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.cli.console.columns import num_columns_of, tail


@pytest.mark.parametrize(("text", "num_columns"), [("ab", 2), ("你好", 4), ("e\u0301", 1), ("ｗ", 2), ("", 0)])
def test_wide_and_combining_characters_have_their_width(text: str, num_columns: int) -> None:
    """A Chinese or fullwidth character takes two columns, a combining one none."""
    assert num_columns_of(text) == num_columns


@given(st.text(st.sampled_from("ab你e\u0301，"), max_size=30), st.integers(0, 20))
def test_tail_is_the_longest_that_fits(line: str, num_columns: int) -> None:
    """One more character would not fit."""
    shown = tail(line, num_columns)
    assert line.endswith(shown)
    assert num_columns_of(shown) <= num_columns
    rest = line[: len(line) - len(shown)]
    assert not rest or num_columns_of(rest[-1] + shown) > num_columns
