"""Mixed text is split into languages by script, and numbers go with what they count or name."""

from __future__ import annotations

import json
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.text.language_spans import split_languages

if TYPE_CHECKING:
    from yuliu.types import Lang

DATA = Path(__file__).parents[1] / "data"
BOTH: tuple[Lang, ...] = ("zh", "en")


def rows(area: str) -> list[dict[str, Any]]:
    lines = (DATA / "segmentation.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["area"] == area]


def bare(text: str) -> str:
    """Return the text without white space and punctuation at either end."""
    kept = [index for index, char in enumerate(text) if unicodedata.category(char)[0] not in "ZP"]
    return text[kept[0] : kept[-1] + 1] if kept else ""


def names(text: str, languages: tuple[Lang, ...] = BOTH) -> list[tuple[str, str]]:
    return [(text[found.span.start : found.span.end], found.name) for found in split_languages(text, languages)]


@pytest.mark.parametrize("case", rows("lid_span"), ids=lambda case: case["text"])
def test_each_case_gives_its_spans(case: dict[str, Any]) -> None:
    """Mixed sentences split into the spans written down for them, punctuation aside."""
    assert [[bare(text), name] for text, name in names(case["text"])] == [
        [bare(text), name] for text, name in case["expected"]
    ]


@pytest.mark.parametrize(
    "case",
    [row for row in rows("lid") if row.get("expected") in ("zh", "en", "ja", "ko", "ru")],
    ids=lambda case: case["text"],
)
def test_the_language_of_a_whole_text_is_among_its_spans(case: dict[str, Any]) -> None:
    """A text whose language its script can tell has a span of that language, and only such spans if it is unmixed."""
    found = {name for _, name in names(case["text"])}
    assert case["expected"] in found
    if len({char.isascii() for char in case["text"] if char.isalpha()}) == 1:
        assert found == {case["expected"]}


# "|" parts the spans; one that is not Chinese begins with its language.
MIXED = [
    "这个|en:bug|我|en:fix|了",
    "今天是|en:Friday, May 1, 2024",
    "会议|en:3pm|开始，在2024年5月",
    "定在|en:3:30 pm，|别迟到",
    "在A4纸上写|en:OK，|K歌去不去？|en:iPhone 15 Pro|卖25元。",
    "B超和X光，T恤和U盘，3D的，n个人",
    "选A、B还是C？A/B测试做了吗",
    "吃|en:vitamin C|有用吗",
    "他说：“|en:I am a student.”|真的吗",
    "en:Wi-Fi |下的中位数是 96 ms，4G 下是 187 ms",
    "用|en:iPhone 15|和|en:Windows 11|系统，跑了5km",
    "用|en:Python |3年了，写了|en:100 lines",
    "请看|en:Room 302|在三楼",
    "更新到v2.0.1版本，|en:PDF|和|en:CPU",
    "en:App|在|en:Android|上|en:CPU 41%，|都没错",
    "内存是 16 GB，2个|en:bug，|3天修好",
    "en:GPT-4o|和|en:Claude 3.5|都不错",
    "买10个，|en:call 911",
    "航班CA1234，高铁G102次",
    "¥25和$30，价格是€9.99",
    "气温-3°C到5°C，|en:it is 20°C today",
    "我在学日语的|ja:ひらがな",
    "我想去|ja:タワー|看夜景",
    "ja:日本語を勉強します。|我在学",
    "你好|ru:спасибо|再见",
    "ko:안녕 |en:OK|好",
    "买了|en:MacBook Pro |14寸，每天|en:run |5公里",
    "en:No. 5 |香水",
    "3D打印 |en:vs |2D绘图",
    "en:I paid |25元 |en:for it",
    "下周一交|en:report，deadline|是|en:5:00 PM",
    "这个|en:feature|的|en:ETA|是Q3 2024",
    "α和β是希腊字母，Ⅲ期工程",
    "👍好的🎉|en:thanks 🎉",
]


@pytest.mark.parametrize("marked", MIXED)
def test_mixed_sentences(marked: str) -> None:
    """Letters, numbers, units, dates and product names go to the language that speaks them."""
    parts = [part.partition(":") if part[2:3] == ":" else ("zh", "", part) for part in marked.split("|")]
    expected = [(text, name) for name, _, text in parts]
    assert names("".join(text for text, _ in expected)) == expected


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("我有25个bug。", ("zh",), [("我有25个", "zh", "zh"), ("bug。", None, "en")]),
        (
            "我有25个bug。",
            ("en",),
            [("我有", None, "zh"), ("25", "en", "en"), ("个", None, "zh"), ("bug。", "en", "en")],
        ),
        ("A4", ("zh",), [("A4", "zh", "zh")]),
        ("用A4纸", ("en",), [("用", None, "zh"), ("A4", "en", "en"), ("纸", None, "zh")]),
        ("May 1", ("zh",), [("May ", None, "en"), ("1", "zh", "zh")]),
        ("…… 👍", ("en", "zh"), [("…… 👍", "en", "en")]),
        ("x=3", ("zh", "en"), [("x=3", "zh", "zh")]),
        ("x=3", ("en", "zh"), [("x=3", "en", "en")]),
        ("3", ("en", "zh"), [("3", "en", "en")]),
        ("", ("zh", "en"), []),
    ],
)
def test_unspoken_text_has_no_language(
    text: str, languages: tuple[Lang, ...], expected: list[tuple[str, Lang | None, str]]
) -> None:
    """Numbers and letters go to the available languages; words of others are named, with None to speak them."""
    spans = split_languages(text, languages)
    assert [(text[found.span.start : found.span.end], found.lang, found.name) for found in spans] == expected


@given(
    text=st.text(st.sampled_from([*"好的我用A4aOK13,.-' ()“”。，、あア한Жαé👍Ⅲ°C$%元年\n"]), max_size=40),
    languages=st.sampled_from([("zh", "en"), ("en", "zh"), ("zh",), ("en",)]),
)
def test_spans_tile_the_text_and_neighbours_differ(text: str, languages: tuple[Lang, ...]) -> None:
    """Every character is in exactly one span, whatever the text."""
    spans = split_languages(text, languages)
    assert [found.span.start for found in spans] == [0, *(found.span.end for found in spans)][: len(spans)]
    assert (spans[-1].span.end if spans else 0) == len(text)
    assert all(found.span.start < found.span.end for found in spans)
    assert all(one[1:] != other[1:] for one, other in pairwise(spans))
    assert all(found.lang is None or found.lang == found.name for found in spans)
    assert all(found.lang in (None, *languages) for found in spans)


@pytest.mark.parametrize("text", ["ﬁne ﬂow", "𝓗𝓮𝓵𝓵𝓸 there", "Ｈｅｌｌｏ"])
def test_styled_latin_letters_are_english(text: str) -> None:
    """Ligatures as in PDFs, styled letters as in posts, and full-width letters are Latin."""
    assert {span.lang for span in split_languages(text, ("zh", "en"))} == {"en"}
