"""Tones as spoken, erhua, and the marks between syllables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.text.zh import Mandarin

MANDARIN = Mandarin()


def _pinyin(text: str) -> str:
    return " ".join(unit.pinyin or "" for unit in MANDARIN.read(text).units)


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("展览馆", "zhan2 lan2 guan3"),
        ("小老虎", "xiao3 lao2 hu3"),
        ("洗手间", "xi2 shou3 jian1"),
        ("很好", "hen2 hao3"),
        ("我也很好", "wo2 ye3 hen2 hao3"),
        ("手表", "shou2 biao3"),
        ("姐姐", "jie3 jie5"),
        ("想想", "xiang2 xiang5"),
        ("哪里", "na2 li5"),
        ("你好，我走了", "ni2 hao3 wo2 zou3 le5"),
    ],
)
def test_third_tones(text: str, pinyin: str) -> None:
    """A third tone rises before another within a foot, then across feet, and never across a pause."""
    assert _pinyin(text) == pinyin


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("不对", "bu2 dui4"),
        ("不好", "bu4 hao3"),
        ("好不好", "hao3 bu5 hao3"),
        ("对不起", "dui4 bu5 qi3"),
        ("一个", "yi2 ge4"),
        ("一天", "yi4 tian1"),
        ("一百", "yi4 bai3"),
        ("一万", "yi2 wan4"),
        ("第一", "di4 yi1"),
        ("第一个", "di4 yi1 ge4"),
        ("二十一岁", "er4 shi2 yi1 sui4"),
        ("统一", "tong3 yi1"),
        ("星期一", "xing1 qi1 yi1"),
        ("一月一日", "yi1 yue4 yi1 ri4"),
        ("三点一四", "san1 dian3 yi1 si4"),
        ("三点一刻", "san1 dian3 yi2 ke4"),
        ("看一看", "kan4 yi5 kan4"),
        ("一步一步", "yi2 bu4 yi2 bu4"),
    ],
)
def test_yi_and_bu(text: str, pinyin: str) -> None:
    """一 and 不 follow the tone behind them, but for numerals, ordinals and doubled verbs."""
    assert _pinyin(text) == pinyin


@pytest.mark.parametrize(
    ("text", "units", "phonemes"),
    [
        ("花儿", 1, ("h", "ua1", "er5")),
        ("哪儿", 1, ("n", "a3", "er5")),
        ("女儿", 2, ("n", "v3")),
        ("儿子", 2, ("^", "er2")),
        ("幼儿园", 3, ("^", "iou4")),
        ("婴儿", 2, ("^", "ing1")),
    ],
)
def test_erhua_joins_the_syllable_before(text: str, units: int, phonemes: tuple[str, ...]) -> None:
    """儿 colours the final before it, unless it means child."""
    reading = MANDARIN.read(text)
    assert len(reading.units) == units
    assert reading.units[0].phonemes == phonemes


def test_marks_show_words_and_pauses() -> None:
    """#0 inside a prosodic word, #1 between two, #2 at an enumeration comma, #3 at a comma."""
    units = MANDARIN.read("苹果、香蕉，我喜欢的水果").units
    assert [(unit.text, unit.after) for unit in units] == [
        ("苹", "#0"),
        ("果", "#2"),
        ("香", "#0"),
        ("蕉", "#3"),
        ("我", "#1"),
        ("喜", "#0"),
        ("欢", "#0"),
        ("的", "#1"),
        ("水", "#0"),
        ("果", ""),
    ]


@pytest.mark.parametrize(
    ("text", "groups"),
    [("他买书", "他买 书"), ("在公园散步", "在公园 散步"), ("孩子们走了", "孩子们 走了"), ("看图书馆", "看 图书馆")],
)
def test_short_words_join_into_prosodic_words(text: str, groups: str) -> None:
    """Particles lean on the word before them, a single character on a word of one or two behind it."""
    units = MANDARIN.read(text).units
    assert "".join(unit.text + (" " if unit.after == "#1" else "") for unit in units) == groups


@given(st.text(alphabet="一不个好我很想买水果姐小老虎手看百千万第儿花女地得了", max_size=20))
def test_only_tones_change_beside_neighbours(text: str) -> None:
    """Sandhi and erhua leave one syllable per character, 儿 aside, and a tone from 1 to 5 on each."""
    units = MANDARIN.read(text).units
    assert "".join(unit.text for unit in units) == text
    assert all(unit.pinyin and unit.pinyin[-1] in "12345" for unit in units)
