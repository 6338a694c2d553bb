"""Lines that show a listener what was heard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.cli.console.columns import num_columns_of
from yuliu.cli.text_input.conversation import Interruption, heard_lines
from yuliu.types import Heard

TEXT = "Your train leaves at seven.\nIt stops in two towns."


def interruption(text: str, place: int | None) -> Interruption:
    return Interruption(text, 1.2344, None if place is None else Heard(1.2, place))


@pytest.mark.parametrize(
    ("num_columns", "place", "lines"),
    [
        (
            99,
            17,
            ["heard 1,234 ms, to character 17 of 50: Your train leaves", "not heard: at seven. It stops in two towns."],
        ),
        (
            60,
            26,
            ["heard 1,234 ms, to character 26 of 50: ...n leaves at seven", "not heard: . It stops in two towns."],
        ),
        (30, 50, ["heard 1,234 ms, to character 50 of 50: ...", "not heard: "]),
        (30, 0, ["heard 1,234 ms, to character 0 of 50: ", "not heard: Your train leav..."]),
    ],
)
def test_heard_and_unheard_text_are_shown(num_columns: int, place: int, lines: list[str]) -> None:
    """The end of the heard text and the start of the rest have one line each."""
    assert heard_lines(interruption(TEXT, place), num_columns) == lines


def test_time_is_shown_without_a_report_of_the_server() -> None:
    """The heard time is known even if the position in the text is not."""
    message = "heard 1,234 ms; the server did not report the position in the text"
    assert heard_lines(interruption(TEXT, None), 99) == [message]


@given(st.text(max_size=60), st.integers(0, 60), st.integers(60, 100))
def test_lines_fit_the_terminal(text: str, place: int, num_columns: int) -> None:
    """No text makes a line too wide, even with wide characters."""
    for line in heard_lines(interruption(text, min(place, len(text))), num_columns):
        assert num_columns_of(line) < num_columns
        assert line.isprintable()
