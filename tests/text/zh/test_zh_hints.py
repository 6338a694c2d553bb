"""Places in Mandarin whose reading is given."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.text.zh import Mandarin
from yuliu.text.zh.hints import parse_pinyin
from yuliu.types import Hint, Span

MANDARIN = Mandarin()


def hint(text: str, part: str, kind: str, value: str, detail: str = "") -> Hint:
    start = text.index(part)
    return Hint(Span(start, start + len(part)), kind, value, detail)  # type: ignore[arg-type]


def pinyin(text: str, *hints: Hint) -> str:
    return " ".join(unit.pinyin or "" for unit in MANDARIN.read(text, hints).units)


@pytest.mark.parametrize(
    ("text", "part", "value", "expected"),
    [
        ("这个行业好", "行业", "xing2 ye4", "zhe4 ge5 xing2 ye4 hao3"),
        ("不会", "会", "kuai4", "bu2 kuai4"),  # 不 takes note of the tone that is given
        ("不会", "会", "hui3", "bu4 hui3"),
        ("你好", "好", "hao4", "ni3 hao4"),
        ("你好", "你", "ni3", "ni3 hao3"),  # what is given undergoes no sandhi
        ("用GPT写", "GPT", "ji4 pi2 ti4", "yong4 ji4 pi2 ti4 xie3"),
        ("去哪儿", "哪儿", "nar3", "qu4 nar3"),
        ("女儿", "女儿", "nv3 er2", "nv3 er2"),
    ],
)
def test_hinted_pinyin_is_spoken_and_affects_its_neighbours(text: str, part: str, value: str, expected: str) -> None:
    """The syllables are unchanged; sandhi beside them follows their tones."""
    assert pinyin(text, hint(text, part, "phonemes", value, "pinyin")) == expected


def test_a_hinted_place_is_one_piece_and_its_units_stand_for_it() -> None:
    """The pieces tile the text, and everything said for the place points at all of it."""
    text = "在2024年用GPT"
    reading = MANDARIN.read(text, [hint(text, "GPT", "spoken", "吉皮提3号")])
    assert [tuple(piece.source) for piece in reading.pieces][-1] == (7, 10)
    assert reading.spoken == "在二零二四年用吉皮提三号"
    assert {unit.source for unit in reading.units if unit.source.start >= 7} == {Span(7, 10)}


@pytest.mark.parametrize(
    ("part", "kind", "detail", "spoken"),
    [
        ("13800138000", "digits", "", "一三八零零一三八零零零"),
        ("13800138000", "telephone", "", "幺三八零零幺三八零零零"),
        ("+86 10", "telephone", "", "加八六幺零"),
        ("2024", "cardinal", "", "两千零二十四"),
        ("-1,234.5", "cardinal", "", "负一千二百三十四点五"),
        ("3", "ordinal", "", "第三"),
        ("A4b", "characters", "", "A四B"),
        ("03/04/2024", "date", "dmy", "二零二四年四月三日"),
        ("03/04/2024", "date", "mdy", "二零二四年三月四日"),
        ("05-01", "date", "md", "五月一日"),
        ("5月1日", "date", "", "五月一日"),
        ("8:05", "time", "", "八点零五分"),
        ("5kg", "unit", "", "五千克"),
    ],
)
def test_say_as_sets_the_kind_of_expression(part: str, kind: str, detail: str, spoken: str) -> None:
    """The same digits are read as a date, a number or single digits."""
    text = f"在{part}呢"
    assert MANDARIN.read(text, [hint(text, part, "say_as", kind, detail)]).spoken == f"在{spoken}呢"


@pytest.mark.parametrize(
    ("value", "detail", "rule"),
    [("hang9", "pinyin", "phonemes_unknown"), ("həlˈO", "x-misaki", "phonemes_unknown"), ("", "", "phonemes_unknown")],
)
def test_a_hint_that_cannot_be_followed_is_refused(value: str, detail: str, rule: str) -> None:
    """Its place is read as if the hint were not there."""
    reading = MANDARIN.read("行业好", [Hint(Span(0, 2), "phonemes", value, detail)])
    plain = MANDARIN.read("行业好")
    assert (reading.pieces, reading.units) == (plain.pieces, plain.units)
    assert [(each.source, each.rule) for each in reading.refused] == [(Span(0, 2), rule)]


def test_a_wrong_kind_of_expression_is_refused() -> None:
    """Words are not a number, and unknown kinds are refused."""
    for kind in ("cardinal", "telephone", "weather"):
        reading = MANDARIN.read("你好", [Hint(Span(0, 2), "say_as", kind)])
        assert [each.rule for each in reading.refused] == ["say_as_unknown"]
        assert reading.spoken == "你好"


@pytest.mark.parametrize(
    ("value", "syllables"),
    [
        ("hang2 ye4", ("hang2", "ye4")),
        ("hang2ye4", ("hang2", "ye4")),
        ("háng yè", ("hang2", "ye4")),
        ("nü3 lu:4 lǜ ma", ("nv3", "lv4", "lv4", "ma5")),
        ("xi1'an1 de0", ("xi1", "an1", "de5")),
        ("blah1", ()),
        ("hang2 ☃", ()),
        ("", ()),
    ],
)
def test_common_spellings_of_pinyin_are_accepted(value: str, syllables: tuple[str, ...]) -> None:
    """Digits or marks, with or without spaces, ü in three ways."""
    assert parse_pinyin(value) == syllables


HINTS = st.builds(
    lambda start, length, kind, value, detail: Hint(Span(start, start + length), kind, value, detail),
    st.integers(-1, 12),
    st.integers(-1, 4),
    st.sampled_from(["phonemes", "say_as", "spoken"]),
    st.sampled_from(["hao3", "ji4 pi2", "x9", "", "好的3", "digits", "date", "characters", "ordinal"]),
    st.sampled_from(["pinyin", "ipa", "ymd", ""]),
)


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(st.sampled_from("你好不一3点5.%GPT ，儿\u0301\ud800"), max_size=12), hints=st.lists(HINTS, max_size=4)
)
def test_any_hints_leave_the_text_tiled(text: str, hints: list[Hint]) -> None:
    """No hint raises, and the pieces tile the text."""
    reading = MANDARIN.read(text, hints)
    assert [piece.source.start for piece in reading.pieces] == [0, *(p.source.end for p in reading.pieces)][
        : len(reading.pieces)
    ]
    assert not text or reading.pieces[-1].source.end == len(text)
    assert [unit.source for unit in reading.units] == sorted(unit.source for unit in reading.units)
    pieces = {piece.source for piece in reading.pieces}
    told = [each.source for each in reading.refused]
    assert all(each.span in pieces or each.span in told for each in hints)
