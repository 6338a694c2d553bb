"""Sentences are found while the text arrives, the same ones whatever way it is cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.text.sentences import BreakFinder, SentenceCutter
from yuliu.types import Boundary

DATA = Path(__file__).parents[1] / "data"


def rows(area: str) -> list[dict[str, Any]]:
    lines = (DATA / "segmentation.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["area"] == area]


def cut(deltas: list[str]) -> list[str]:
    cutter = SentenceCutter()
    return [*(sentence for delta in deltas for sentence in cutter.push(delta)), *cutter.flush()]


def stripped(sentences: list[str]) -> list[str]:
    return [sentence.strip() for sentence in sentences]


@st.composite
def cuttings(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


CASES = rows("segment_stream")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:24])
@settings(max_examples=25)
@given(data=st.data())
def test_each_case_gives_its_sentences_however_it_is_cut(case: dict[str, Any], data: st.DataObject) -> None:
    """The expected sentences come out whatever the deltas."""
    deltas = data.draw(cuttings(case["text"]))
    assert stripped(cut(deltas)) in [case["expected"], *case.get("also_accepted", [])]


# Sentences are parted by "|". Most are what other segmenters were seen to get wrong.
SENTENCES = [
    "98.6°F is normal.| Yes.",
    "It cost $3.5 for small.| Then I left.",
    "She has approx. 5 dollars vs. his 6 dollars.| OK.",
    "Use example.ai; v1.2.3 was released on Jan. 5 this year.| Nice.",
    "Prof. Wang spoke.| We slept.",
    "1. First thing.| 2. Second thing.| 3. Third thing.",
    "步骤：1. 打开 2. 放入 3. 关上。|完了。",
    "1.打开冰箱。|2.放入大象。",
    "A (b) c.|\n\nNext.",
    "(Nvidia or other), etc.| Next one.",
    "Apple|\nBanana|\nCherry",
    "一、打开电源。|二、按下按钮。",
    "A: 你好。|\r\nB: 你好！",
    '"Why?" he asked.| Nobody knew.',
    '"I see." he said.| "Fine."',
    "'I don't know.'| He left.",
    '"Stop!"|"Why?"|"Because."',
    "She said 'Go!'| He went.",
    "他走了。|“我也走。”|她说。",
    '他走了。|"你好。"|然后走了。',
    "鲁迅说过：“路是人走出来的。”|——鲁迅",
    "《论语》有云：“学而时习之，不亦说乎？”|这话没错。",
    "第3.5节讲了什么？|没讲。",
    "服务器地址是192.168.1.1。|请访问。",
    "他考了A.| 他哭了。",
    "你来吗?|我在等你!|快点!",
    "这是iPhone 15.|那是iPad.",
    "他是Ph.D.毕业。|厉害。",
    "你好，Dr. Smith！|你好！",
    "Dr.王来了。|他很忙。",
    "他走了。。。|真的",
    "太好了！🎉|走吧。",
    "嗯……|让我想想。",
    "He works at Acme Inc.| She works at Foo Ltd.| They met.",
    "Acme Inc. President Smith left.",
    "It opens at 9 a.m. Monday.| It closes at 5 p.m.| Tom left.",
    "See Fig. 3 and Sec. 2.| No.| I will not.| No. 5 is alive.",
    "He is from the U.S.|\nNext line.",
    "The U.S. Senate met.| It voted.",
    "The U.S.-based firm grew.| Fine.",
    "Wait... what?| No.",
    "On May 1, 2024, we met.| Yes.",
    "J.R.R. Tolkien wrote it.| Yes.",
    "I saw e.g. this.| And i.e. that.",
    "It was e.g., this one.| Also i.e., that one.",
    "We use C++.| And C#.| And Node.js.",
    "He said (quietly.)| Then left.",
    "http://a.b/c.| Next.",
    "St. Louis is nice.| Main St.| It is long.",
    "Smith et al. (2020) found it.| Good.",
    "She has a B.A. in art.| He has none.",
    "hello!| how are you?| i'm fine.| thanks.",
    "It is a kind of sg. that is unknown.| Yes.",
    "The first one is a line that its editor wrapped at a width\nof sixty characters.| Next.",
]


@pytest.mark.parametrize("marked", SENTENCES)
def test_known_difficult_texts(marked: str) -> None:
    """Decimals, abbreviations, quotes, list markers and line ends are told apart from sentence ends."""
    assert stripped(cut(list(marked.replace("|", "")))) == [part.strip() for part in marked.split("|")]


ALPHABET = [
    *"好。，！？…“”「」、；：~ab.,!?;:'\"()*`-— \n\r1５．👍",
    "U.S.",
    "p.m.",
    "The ",
    "Dr. ",
    "3.14",
    "……",
    "etc. ",
    "1. ",
]
TEXTS = st.lists(st.sampled_from(ALPHABET), max_size=40).map("".join)


@given(text=TEXTS, data=st.data())
def test_any_cutting_gives_the_same_sentences_and_loses_nothing(text: str, data: st.DataObject) -> None:
    """Sentences depend on the text alone, and joined they are the text."""
    deltas = data.draw(cuttings(text))
    sentences = cut(deltas)
    assert sentences == cut(list(text))
    assert "".join(sentences) == text


@given(text=TEXTS, more=TEXTS)
def test_returned_sentences_never_change(text: str, more: str) -> None:
    """The sentences returned for a text are the first ones of every text that begins with it."""
    cutter = SentenceCutter()
    certain = cutter.push(text)
    assert cut([text + more])[: len(certain)] == certain


@pytest.mark.parametrize(
    ("text", "awaited"),
    [
        ("你好吗？", "我"),
        ("他说：“走吧。”", "然"),
        ("你来吗?", "我"),
        ("Really?", " "),
        ("I am here.", " S"),
        ("I am from the U.S.", " She "),
        ("没有标点\n", "下"),
        ("没有标点\n", "\n"),
        ("有句号。", "\n"),
    ],
)
def test_a_sentence_is_returned_as_soon_as_it_is_certain(text: str, awaited: str) -> None:
    """A sentence waits for the minimum of text that decides it."""
    cutter = SentenceCutter()
    assert cutter.push(text + awaited[:-1]) == []
    assert cutter.push(awaited[-1]) == [text.rstrip("\n")]


@pytest.mark.parametrize(
    ("text", "boundary"),
    [
        ("", None),
        (" \n", None),
        ("你好。", Boundary.SENTENCE),
        ("“你好。”", Boundary.SENTENCE),
        ("Hello. ", Boundary.SENTENCE),
        ("你好，", Boundary.CLAUSE),
        ("第一行\n", Boundary.SENTENCE),
        ("It is 5 p.m. To", Boundary.NONE),
        ("你好", Boundary.NONE),
        ("1.", Boundary.NONE),
    ],
)
def test_a_flush_returns_the_final_boundary(text: str, boundary: Boundary | None) -> None:
    """At a flush the marks at the end decide the pause, though nothing follows them."""
    finder = BreakFinder()
    for char in text:
        finder.push(char)
    assert finder.flush() is boundary


def test_a_clause_end_is_a_break_but_no_sentence() -> None:
    """Commas are breaks between clauses, an enumeration's a weak one, and none between digits."""
    finder = BreakFinder()
    found = [(each.end, each.boundary, each.weak) for each in map(finder.push, "价1,299元，买、卖 好。买") if each]
    assert found == [
        (8, Boundary.CLAUSE, False),
        (10, Boundary.CLAUSE, True),
        (11, Boundary.CLAUSE, True),
        (14, Boundary.SENTENCE, False),
    ]


def test_any_character_may_stand_in_place_of_a_list_marker() -> None:
    """Letters of all alphabets, also those whose lower case has two characters, and numbers of any length."""
    for code in [*range(0x20, 0x3000), 0xFB01, 0x1D400]:
        cutter = SentenceCutter()
        text = f"One.\n{chr(code)}. Two. {chr(code)}\n2. Three."
        assert "".join([*cutter.push(text), *cutter.flush()]) == text
    cutter = SentenceCutter()
    assert "".join([*cutter.push("One.\n" + "9" * 6000 + ". Two."), *cutter.flush()]).endswith("Two.")
