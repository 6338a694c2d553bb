"""Line editor: keys become acts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.cli.text_input.line_editor import (
    MAX_LINE_CHARS,
    SEQUENCE_S,
    Leave,
    LineEditor,
    Say,
    Stop,
)

ARROWS = ("\x1b[A", "\x1bOP", "\x1b[1;5C", "\x1b[3~")


def feed(typed: LineEditor, *texts: str, sounding: bool = True, every_s: float = 1.0) -> list[object]:
    return [act for n, text in enumerate(texts) for act in typed.feed(text, n * every_s, sounding=sounding)]


@pytest.mark.parametrize("key", [" ", "\u3000", "\x1b"])
@pytest.mark.parametrize("lines", [True, False])
def test_space_and_escape_stop_the_voice(key: str, lines: bool) -> None:
    """The keys stop only a voice that sounds."""
    assert feed(LineEditor(lines=lines), key) == [Stop()]
    assert Stop() not in feed(LineEditor(lines=lines), key, sounding=False)


def test_other_keys_do_not_stop() -> None:
    assert feed(LineEditor(lines=False), "abc\n你\x04\x7f", *ARROWS) == []


def test_lines_can_be_typed_during_playback() -> None:
    """A space inside a line is a space; Escape stops the voice and keeps the line."""
    typed = LineEditor(lines=True)
    assert feed(typed, "How", " ", "are", "\x1b") == [Stop()]
    assert typed.line == "How are"
    assert feed(typed, " you?\r") == [Say("How are you?")]
    assert typed.line == ""


def test_editing_keys_work_as_in_a_terminal() -> None:
    """Backspace, Ctrl-W and Ctrl-U delete a letter, a word and the line."""
    typed = LineEditor(lines=True)
    assert feed(typed, "one twoo\x7f 三四\b", sounding=False) == []
    assert typed.line == "one two 三"
    feed(typed, "\x17")
    assert typed.line == "one two "
    feed(typed, "\x17")
    assert typed.line == "one "
    feed(typed, "e\u0301\x7f")
    assert typed.line == "one "
    feed(typed, "\x15\x7f\x7f")
    assert typed.line == ""
    feed(typed, "a\tb\x00\x07")
    assert typed.line == "a b"


def test_ctrl_d_leaves_on_an_empty_line() -> None:
    """Ctrl-D inside a line does nothing, and blank lines are ignored."""
    typed = LineEditor(lines=True)
    assert feed(typed, "\n", "  \n", "\x04", sounding=False) == [Leave()]
    assert feed(typed, "x\x04\n", sounding=False) == [Say("x")]


@pytest.mark.parametrize("arrow", ARROWS)
def test_escape_sequences_are_ignored(arrow: str) -> None:
    """Arrow keys neither stop the voice nor appear in the line."""
    typed = LineEditor(lines=True)
    assert feed(typed, f"a{arrow}b") == []
    assert typed.line == "ab"


@given(st.sampled_from(ARROWS), st.integers(1, 5))
def test_split_escape_sequence_does_not_appear_in_the_line(arrow: str, cut: int) -> None:
    """A sequence that is cut right after its Escape may stop the voice."""
    typed = LineEditor(lines=True)
    acts = feed(typed, arrow[:cut], arrow[cut:], every_s=SEQUENCE_S / 2)
    assert acts == ([Stop()] if cut == 1 else [])
    assert typed.line == ""


def test_text_after_escape_is_text() -> None:
    """Later text counts as text even if it could belong to an escape sequence."""
    typed = LineEditor(lines=True)
    assert feed(typed, "\x1b", "Oh", every_s=0.5) == [Stop()]
    assert typed.line == "Oh"
    assert feed(typed, "\x15\x1bno") == [Stop()]
    assert typed.line == "no"


@given(st.text(st.characters(exclude_characters="\x1b"), max_size=30), st.lists(st.integers(0, 30), max_size=4))
def test_acts_do_not_depend_on_cuts(text: str, cuts: list[int]) -> None:
    """Input gives the same acts however it is cut."""
    whole, parts = LineEditor(lines=True), LineEditor(lines=True)
    places = sorted({0, *(min(cut, len(text)) for cut in cuts), len(text)})
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert feed(whole, text) == feed(parts, *pieces)
    assert whole.line == parts.line


@given(st.text(max_size=50), st.booleans(), st.booleans())
def test_line_is_always_printable(text: str, lines: bool, sounding: bool) -> None:
    """No input puts characters into the line that move the cursor."""
    typed = LineEditor(lines=lines)
    feed(typed, text, sounding=sounding)
    assert typed.line.isprintable()
    assert lines or not typed.line


def test_line_has_a_maximum_length() -> None:
    typed = LineEditor(lines=True)
    feed(typed, "x" * (MAX_LINE_CHARS + 10))
    assert len(typed.line) == MAX_LINE_CHARS
