"""What a listener at a terminal is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.cli.remote import Played
from yuliu.cli.text_input.conversation import heard
from yuliu.cli.text_input.line_editor import num_columns_of
from yuliu.types import Heard

TEXT = "Your train leaves at seven.\nIt stops in two towns."


def played(text: str, place: int | None) -> Played:
    told = None if place is None else Heard(1.2, place)
    return Played(said=[text[:5], text[5:]], interrupted_at_s=1.2344, heard=told)


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
def test_what_was_heard_and_what_was_not(num_columns: int, place: int, lines: list[str]) -> None:
    """The end of the one, the beginning of the other, each on one line."""
    assert heard(played(TEXT, place), num_columns) == lines


def test_a_server_that_does_not_say() -> None:
    """The time is known all the same."""
    assert heard(played(TEXT, None), 99) == ["heard 1,234 ms; the server did not say how far in the text that is"]


@given(st.text(max_size=60), st.integers(0, 60), st.integers(60, 100))
def test_it_fits(text: str, place: int, num_columns: int) -> None:
    """Wide characters too, whatever the text is."""
    for line in heard(played(text, min(place, len(text))), num_columns):
        assert num_columns_of(line) < num_columns
        assert line.isprintable()
