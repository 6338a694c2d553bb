"""Other words in the parts of a spoken form."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.text.en import English
from yuliu.text.lexicon import Entry, Lexicon, Words
from yuliu.text.respelling import respelled
from yuliu.text.zh import Mandarin
from yuliu.types import Hint, Span

MANDARIN = Mandarin()
ENGLISH = English()


def words(*entries: tuple[str, str]) -> Words:
    return Words((Lexicon.of("test", [Entry(text, reading, stage="after") for text, reading in entries]),))


def test_a_respelled_rewriting_stays_one_piece() -> None:
    """In a passage only the changed words become a piece."""
    reading = MANDARIN.read("买5kg，3千克", respelling=words(("千克", "公斤")))
    assert reading.spoken == "买五公斤，三公斤"
    assert [(tuple(piece.source), piece.spoken) for piece in reading.pieces][1] == ((1, 4), "五公斤")
    assert [unit.pinyin for unit in reading.units][-2:] == ["gong1", "jin1"]


def test_english_words_are_respelled() -> None:
    """Whole words, also across several of them."""
    reading = ENGLISH.read("It costs $5, hello world.", respelling=words(("dollars", "bucks"), ("hello world", "bye")))
    assert reading.spoken == "It costs five bucks, bye."
    assert [unit.text for unit in reading.units][-2:] == ["bucks", "bye"]


def test_hinted_places_are_not_respelled() -> None:
    """A hint wins over an entry."""
    hint = Hint(Span(1, 3), "phonemes", "qian1 ke4", "pinyin")
    reading = MANDARIN.read("三千克", [hint], words(("千克", "公斤")))
    assert reading.spoken == "三千克"
    assert [unit.pinyin for unit in reading.units][1:] == ["qian1", "ke4"]


def test_entries_before_normalisation_do_not_touch_the_spoken_form() -> None:
    """千克 as an ordinary entry is matched in the written text only."""
    before = Words((Lexicon.of("test", [Entry("千克", "公斤")]),))
    assert MANDARIN.read("5kg", respelling=before).spoken == "五千克"


@dataclass(frozen=True)
class Part:
    start: int
    end: int
    spoken: str
    rewritten: bool


@st.composite
def changed(draw: st.DrawFn) -> tuple[list[Part], list[tuple[Span, str]]]:
    parts: list[Part] = []
    for _ in range(draw(st.integers(1, 5))):
        start = parts[-1].end if parts else 0
        spoken = draw(st.text(st.sampled_from("abc"), max_size=4))
        rewritten = draw(st.booleans())
        length = draw(st.integers(1, 4)) if rewritten else len(spoken)
        parts.append(Part(start, start + length, spoken, rewritten))
    total = sum(len(part.spoken) for part in parts)
    edges = sorted(draw(st.sets(st.integers(0, total), max_size=6)))
    spans = [Span(start, end) for start, end in zip(edges[::2], edges[1::2], strict=False)]
    return parts, [(span, draw(st.sampled_from(["", "X", "YYY"]))) for span in spans]


@given(changed())
def test_respelled_parts_still_tile_the_text(
    case: tuple[list[Part], list[tuple[Span, str]]],
) -> None:
    """All changes are in the result, nothing else differs, and the text is covered as before."""
    parts, changes = case
    wanted = "".join(part.spoken for part in parts)
    for span, new in reversed(changes):
        wanted = wanted[: span.start] + new + wanted[span.end :]
    result = respelled(parts, changes, is_settled=lambda _: False)
    assert "".join(part.spoken for part in result) == wanted
    assert [part.start for part in result] == [0, *(part.end for part in result)][:-1]
    assert result[-1].end == parts[-1].end


@pytest.mark.parametrize("settled", [0, 1])
def test_a_change_over_a_settled_part_is_left_out(settled: int) -> None:
    """Even where it touches other parts as well."""
    parts = [Part(0, 2, "ab", True), Part(2, 4, "cd", True)]
    assert (
        respelled(parts, [(Span(1, 3), "X")], is_settled=lambda part: part is parts[settled] or part == parts[settled])
        == parts
    )
