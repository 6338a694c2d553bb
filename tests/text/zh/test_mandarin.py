"""The Mandarin front end as a whole: any text is survived, and every character is accounted for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.text.zh import Mandarin
from yuliu.text.zh.phones import MARKS, PHONES

MANDARIN = Mandarin()
ANY_TEXT = st.text(max_size=80) | st.text(
    alphabet="0123456789０１，。、.,:：/-~—%￥$€+*=<>()（）@#&^√²³½①Ⅲ℃°㎡ABCGTVWaekmgstx "
    "年月日时点分第两二一不元个号楼次三得地儿了花还行长了女儿看\u3000\n\u200d😀éñ가あア𠀀兒",
    max_size=60,
)


def _is_aside(char: str) -> bool:
    return char.isspace() or unicodedata.category(char)[0] in "PZ"


@settings(max_examples=400, deadline=None)
@given(ANY_TEXT)
def test_any_text_is_read_and_every_character_is_accounted_for(text: str) -> None:
    """No text raises; pieces tile it; every character is in a unit, in a skip, or white space or punctuation."""
    reading = MANDARIN.read(text)
    ends = [0, *(piece.source.end for piece in reading.pieces)]
    assert [piece.source.start for piece in reading.pieces] == ends[:-1]
    assert ends[-1] == len(text)
    covered = {at for unit in reading.units for at in range(*unit.source)}
    covered |= {at for skip in reading.skipped for at in range(*skip.source)}
    left_over = [text[at] for at in range(len(text)) if at not in covered and not _is_aside(text[at])]
    assert not left_over


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT)
def test_units_are_in_order_and_in_the_voice_alphabet(text: str) -> None:
    """Sources of units and skips lie within the text and do not go backwards; phones and marks are the voice's."""
    reading = MANDARIN.read(text)
    for spans in ([unit.source for unit in reading.units], [skip.source for skip in reading.skipped]):
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
        assert spans == sorted(spans)
    for unit in reading.units:
        assert set(unit.phonemes) <= PHONES
    assert all(unit.after in MARKS for unit in reading.units[:-1])
    assert not reading.units or reading.units[-1].after == ""


@given(ANY_TEXT)
def test_the_same_text_is_always_read_the_same(text: str) -> None:
    """Reading keeps no state."""
    assert MANDARIN.read(text) == MANDARIN.read(text)


@pytest.mark.parametrize(
    "text",
    [
        "7" * 20_000,
        "1-" * 10_000,
        "1.2/" * 5_000,
        "三天两头" * 25_000,
        "1 + 2 = " * 5_000,
        "A" * 100_000,
        "a.b" * 10_000,
        "第1、" * 10_000,
        "0-~" * 10_000,
        "，" * 100_000,
        "儿" * 20_000,
    ],
    ids=lambda text: text[:6] + f"x{len(text)}",
)
def test_long_texts_are_read_within_the_time_limit(text: str) -> None:
    """Cost grows with length only: floods of one kind end well before the time limit."""
    reading = MANDARIN.read(text)
    assert sum(piece.source.end - piece.source.start for piece in reading.pieces) == len(text)
