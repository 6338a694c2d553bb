"""Long clauses are cut between words, where a phrase begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.text.phrasing import cut_between_words

DATA = Path(__file__).parents[1] / "data"
LINES = (DATA / "segmentation.jsonl").read_text(encoding="utf-8").splitlines()
WORDS = [row for row in map(json.loads, LINES) if row["area"] == "wordseg"]
HELD_BACK = 3


@pytest.mark.parametrize("case", WORDS, ids=lambda case: case["text"])
def test_no_cut_falls_inside_a_word(case: dict[str, str]) -> None:
    """However much of a sentence has arrived, a cut with three characters held back lies between two words."""
    boundaries = word_ends(case["expected"])
    for length in range(len(case["text"]) + 1):
        for latest in range(length - HELD_BACK + 1):
            place = cut_between_words(case["text"][:length], earliest=1, latest=latest)
            assert place is None or place in boundaries


def word_ends(marked: str) -> set[int]:
    """Places where a boundary is required or allowed."""
    ends, length = set(), 0
    for char in marked:
        if char in " /":
            ends.add(length)
        else:
            length += 1
    return ends


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("这个事情其实没有那么复杂你先把手机打开", "这个事情其实没有那么复杂"),
        ("会议从上午九点一直开到下午因为大家意见不一", "会议从上午九点一直开到下午"),
        ("I would like to know whether you could come and see", "I would like to know whether you could come"),
        ("The quick brown fox jumps over lazy dogs", "The quick brown fox jumps"),
        ("Quick brown foxes like lazy dogs", "Quick brown foxes like lazy"),
        ("请打开 config.yaml 文件", "请打开 config.yaml"),
    ],
)
def test_a_phrase_begins_after_the_cut(text: str, expected: str) -> None:
    """Cuts are before words that open a phrase, not after words that belong to the next."""
    place = cut_between_words(text, earliest=1, latest=len(text))
    assert text[:place] == expected


@pytest.mark.parametrize(
    "text", ["", "好", "3.14159", "https://example.com/a?b=1", "第12345号", "   ", "一百二十三万", "好的了吗"]
)
def test_numbers_and_single_words_stay_whole(text: str) -> None:
    """Without a boundary between two words there is no cut."""
    assert cut_between_words(text, earliest=1, latest=len(text)) is None


def test_the_bounds_are_kept() -> None:
    """No cut before ``earliest`` or after ``latest``."""
    text = "我们 明天 一起 去 公园 散步"
    places = [cut_between_words(text, earliest=place, latest=place) for place in range(len(text))]
    assert all(found in (None, place) for place, found in enumerate(places))
    assert any(places)


@given(st.text(st.characters(codec=None, categories=None), max_size=200), st.integers(0, 200))
def test_any_characters_can_be_cut(text: str, latest: int) -> None:
    """Halves of surrogate pairs and all other characters are taken; a cut is within the bounds."""
    place = cut_between_words(text, earliest=1, latest=latest)
    assert place is None or 1 <= place <= min(latest, len(text))
