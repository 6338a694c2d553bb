"""Explanation as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.cli.console.columns import num_columns_of
from yuliu.cli.console.explanation_table import described
from yuliu.explanation import Explainer, TimedDelta
from yuliu.lexicon_store import LexiconStore
from yuliu.text.lexicon import Entry

if TYPE_CHECKING:
    from yuliu.explanation import Explanation


@pytest.fixture(scope="module")
def explainer(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    """Explainer whose default lexicon has words and phonemes."""
    home = tmp_path_factory.mktemp("home")
    entries = [Entry("SQL", "sequel" + " sequel" * 11), Entry("行业", "hang2 ye4", alphabet="pinyin")]
    LexiconStore(home).put("default", entries)
    return Explainer(home)


def lines_of(found: Explanation, num_columns: int) -> list[str]:
    return described(found, num_columns=num_columns).replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()


def test_lexicon_entries_are_shown_and_clipped(explainer: Explainer) -> None:
    """An entry shows its alphabet and lexicon; a long one ends with an ellipsis."""
    lines = lines_of(explainer.explain("SQL 行业。"), 60)
    assert any("行业 -> hang2 ye4 (pinyin), from default" in line for line in lines)
    assert any("SQL -> sequel sequel" in line and line.endswith("…") for line in lines)


def test_long_fields_are_wrapped(explainer: Explainer) -> None:
    """Text and the lines of characters above their syllables continue on further lines."""
    lines = lines_of(explainer.explain("今天下午有雨，出门的时候请记得带上一把伞和一件大衣"), 40)
    assert sum("xia4" in line or "men2" in line for line in lines) >= 2
    assert max(map(num_columns_of, lines)) <= 40


def test_text_without_words_has_nothing_to_speak(explainer: Explainer) -> None:
    """The table says so."""
    assert lines_of(explainer.explain(" "), 40)[-1] == "nothing to speak"


def test_streamed_segments_show_their_emission(explainer: Explainer) -> None:
    """The heading says by which rule, after which delta and when a segment was emitted."""
    lines = lines_of(explainer.follow([TimedDelta("好的。", 0.0)]), 80)
    assert lines[0] == "0-3         zh  by end after delta 0, 3 characters, 0 ms"


@given(st.text(st.sampled_from("你好 wordy\u0301👍$5.한\x1b\n"), max_size=120), st.integers(40, 120))
def test_no_line_is_wider_than_the_terminal(explainer: Explainer, text: str, num_columns: int) -> None:
    """No text makes a line too wide, or controls the terminal."""
    for line in lines_of(explainer.explain(text), num_columns):
        assert "\x1b" not in line
        assert num_columns_of(line) <= num_columns
