"""Arriving text is cut into segments: soon for the first, whole sentences later, the same ones however it arrives."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.segmenter import Segmenter, SegmenterOptions, split_segment, weigh
from yuliu.types import Boundary, Segment, Span

if TYPE_CHECKING:
    from yuliu.types import Lang

DATA = Path(__file__).parents[1] / "data"
STREAMS = {
    row["id"]: row["deltas"]
    for row in map(json.loads, (DATA / "llm_stream.jsonl").read_text(encoding="utf-8").splitlines())
}
PIECES = [
    *"好的我们在去一三。，！？…“”「」、；：~ab.,!?;:'\"()*`-— \n1５👍",
    "今天天气很好",
    "其实没有那么复杂",
    " iPhone 15 Pro ",
    "U.S. ",
    "The cat ",
    "Dr. ",
    "3.14",
    "$1,299.50",
    "https://a.b/c?d=1",
    "……",
    "1. ",
    "\n\n",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
FLUSH = None
SMALL = SegmenterOptions(first_limit=6, limit=12, clause_weight=8, max_characters=24)


def weight(text: str) -> float:
    return sum(map(weigh, text))


def segments_of(deltas: list[str | None], options: SegmenterOptions | None = None) -> list[Segment]:
    """Push ``deltas`` in order; flush where one is None, and at the end."""
    segmenter = Segmenter(options)
    found: list[Segment] = []
    for delta in [*deltas, FLUSH]:
        found += segmenter.flush() if delta is FLUSH else segmenter.push(delta)
    return found


def texts_of(text: str, options: SegmenterOptions | None = None) -> list[str]:
    return [segment.text for segment in segments_of([text], options)]


@given(texts=st.lists(TEXTS, min_size=1, max_size=3), data=st.data(), options=st.sampled_from([None, SMALL]))
def test_any_cutting_gives_the_same_segments(texts: list[str], data: st.DataObject, options: SegmenterOptions) -> None:
    """Segments depend on the text and on where it was flushed, not on how it was cut into deltas."""
    deltas: list[str | None] = []
    for text in texts:
        places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
        deltas += [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
        deltas.append(FLUSH)
    one_by_one = [char for text in texts for char in [*text, FLUSH]]
    assert segments_of(deltas, options) == segments_of(one_by_one, options)


@given(texts=st.lists(TEXTS, max_size=3), options=st.sampled_from([None, SMALL]))
def test_segments_tile_the_text(texts: list[str], options: SegmenterOptions) -> None:
    """Nothing is lost or said twice, and every character knows its place in the source."""
    found = segments_of([delta for text in texts for delta in (text, FLUSH)], options)
    whole = "".join(texts)
    assert "".join(segment.text for segment in found) == whole
    assert [place for segment in found for place in segment.origin] == list(range(len(whole)))
    assert [segment.source.start for segment in found] == [0, *(segment.source.end for segment in found)][: len(found)]
    assert all(segment.source == (segment.origin[0], segment.origin[-1] + 1) for segment in found)
    assert all(segment.lang is None for segment in found)


@given(text=TEXTS, more=TEXTS)
def test_returned_segments_never_change(text: str, more: str) -> None:
    """The segments of a text are the first ones of every text that begins with it."""
    early = Segmenter().push(text)
    assert Segmenter().push(text + more)[: len(early)] == early


@given(text=TEXTS, options=st.sampled_from([SegmenterOptions(), SMALL]))
def test_pending_text_is_bounded(text: str, options: SegmenterOptions) -> None:
    """So is every segment."""
    segmenter = Segmenter(options)
    num_given = 0
    for index, char in enumerate(text):
        found = segmenter.push(char)
        num_given += sum(len(segment.text) for segment in found)
        assert all(len(segment.text) < options.max_characters for segment in found)
        assert index + 1 - num_given < options.max_characters
    rest = segmenter.flush()
    assert num_given + sum(len(segment.text) for segment in rest) == len(text)
    assert segmenter.flush() == []


@given(text=TEXTS)
def test_no_cut_falls_inside_a_number_or_a_latin_word(text: str) -> None:
    """Adjacent letters and digits stay together, unless they alone exceed the limit by far."""
    limits = SegmenterOptions(first_limit=6, limit=12, clause_weight=8)
    found = texts_of(text, limits)
    for one, other in pairwise(found):
        inside = one[-1].isascii() and one[-1].isalnum() and other[0].isascii() and other[0].isalnum()
        assert not inside or weight(one) >= 2 * limits.first_limit - 1  # a word that is too long by itself


@pytest.mark.parametrize(
    "text",
    [
        "好" * 100_000,
        "5" * 20_000,
        "a" * 100_000,
        " " * 50_000,
        "。" * 50_000,
        "\n" * 50_000,
        "a. " * 20_000,
        "😀" * 20_000,
    ],
    ids=lambda text: ascii(text[:2]),
)
def test_endless_text_is_cut_into_bounded_segments(text: str) -> None:
    """However long a text without words, marks or spaces grows, it comes out whole, in bounded segments."""
    found = segments_of([text])
    assert "".join(segment.text for segment in found) == text
    assert max(len(segment.text) for segment in found) <= SegmenterOptions().max_characters


@pytest.mark.parametrize(
    ("text", "awaited"),
    [
        ("今天北京的气温，", "是"),
        ("你好世界。", "我"),
        ("价格是3.14元，", "不"),
        ("Let me check that for you.", " T"),
        ("Sure, I can help with that,", " "),
        ("他说：“我们走吧！”", "然"),
        ("好的，我来帮你查，", "请"),
    ],
)
def test_the_first_segment_comes_with_the_deciding_character(text: str, awaited: str) -> None:
    """The first clause is returned with the character that makes its end certain."""
    segmenter = Segmenter()
    assert segmenter.push(text + awaited[:-1]) == []
    assert [segment.text for segment in segmenter.push(awaited[-1])] == [text]


def test_a_first_clause_without_marks_does_not_wait_for_the_sentence() -> None:
    """Text without punctuation is spoken from about twenty characters on, cut where a phrase begins."""
    found = segments_of(STREAMS["no-punctuation"])
    assert [segment.text for segment in found] == [
        "我跟你说这个事情其实没有那么复杂",
        "你先把手机打开然后点右上角那个齿轮再往下翻翻到最后一个选项",
    ]
    assert [segment.boundary for segment in found] == [Boundary.NONE, Boundary.NONE]


def test_later_segments_grow_to_whole_sentences() -> None:
    """Clauses are merged ever more, until short sentences are no longer cut."""
    text = "我们先说第一点，再说第二点，" + "然后大家一起讨论，最后写下来，交给老师看。" * 3
    assert texts_of(text) == [
        "我们先说第一点，",
        "再说第二点，然后大家一起讨论，",
        "最后写下来，交给老师看。",
        "然后大家一起讨论，最后写下来，交给老师看。",
        "然后大家一起讨论，最后写下来，交给老师看。",
    ]


def test_a_long_sentence_is_cut_at_a_clause_end() -> None:
    """A sentence beyond the limit is cut where a clause ends, not between two words."""
    clause = "这是一个没有逗号的小句它一直说下去没有停"
    found = segments_of(
        [f"{clause}，{clause}，{clause}，{clause}。"], SegmenterOptions(first_weight=60, first_limit=60)
    )
    assert [segment.boundary for segment in found[:-1]] == [Boundary.CLAUSE] * (len(found) - 1)
    assert max(weight(segment.text) for segment in found) <= SegmenterOptions().limit


def test_a_word_beyond_the_limit_is_cut_off_soon_after_its_end() -> None:
    """An address longer than the limit stays whole, and does not drag a whole further segment along."""
    address = "https://example.com/" + "a" * 70
    found = texts_of(f"{address} and then we all went home together to have some tea and to talk about it")
    assert found[0].startswith(address)
    assert weight(found[0]) <= weight(address) + SegmenterOptions().first_limit / 4


def test_a_short_sentence_goes_with_the_next_one() -> None:
    """Single words are not spoken alone while more follows in the line, but are when the text ends or stalls."""
    assert texts_of("好。我们走吧。") == ["好。我们走吧。"]
    assert texts_of("Yes! Yes! We all agree on that.") == ["Yes! Yes! We all agree on that."]
    assert texts_of("苹果\n香蕉") == ["苹果", "\n香蕉"]
    assert [segment.text for segment in segments_of(["好。", FLUSH, "我们走吧。"])] == ["好。", "我们走吧。"]


EXPECTED_STREAMS = {
    "zh-weather": ["今天北京的气温是-3°C到5°C，", "西北风3-4级。", "出门记得戴帽子。"],
    "zh-price-split": ["这款耳机现在只要¥1,299.50，", "比上个月便宜了12.5%。"],
    "en-decimal-split": ["Pi is about 3.14,", " and e is about 2.718."],
    "stalled-tool-call": ["Let me check that for you.", " The flight leaves at 9:05 a.m. from gate B12."],
    "slow-writer": ["嗯，让我想一想。", "你说得对。"],
    "short": ["好的。"],
    "emoji-only": ["👍🎉"],
    "abbrev": ["Dr. Lee lives on St. John St.,", " near the U.S. embassy.", " See e.g. map v2.0.1."],
    "quote": ["他说：“走吧。”", "然后就走了。"],
    "en-markdown": [
        "## Plan",
        "\n\n1. **Measure** first.",
        "\n2. Change *one* thing.",
        "\n3. Run `make bench`.",
        "\n\nDone!",
    ],
}


@pytest.mark.parametrize("name", EXPECTED_STREAMS)
def test_streams_of_a_language_model(name: str) -> None:
    """Tokens that split prices, decimals and abbreviations give whole clauses; a pause gives what there is."""
    deltas = [FLUSH if delta.startswith("@@PAUSE") else delta for delta in STREAMS[name]]
    assert [segment.text for segment in segments_of(deltas)] == EXPECTED_STREAMS[name]


def test_a_number_is_not_cut_while_more_of_it_may_come_but_a_stall_ends_the_wait() -> None:
    """ "3." is held until it is known whether "14" follows, and a flush gives it out."""
    segmenter = Segmenter()
    assert [segmenter.push(delta) for delta in ("The number pi is 3", ".", "14", ".")] == [[]] * 4
    assert [segment.text for segment in segmenter.flush()] == ["The number pi is 3.14."]


@pytest.mark.parametrize(
    ("text", "boundaries"),
    [
        ("今天天气很好，我们出去玩。", [Boundary.CLAUSE, Boundary.SENTENCE]),
        ("第一段结束了。\n\n第二段开始了", [Boundary.PARAGRAPH, Boundary.NONE]),
        ("这是标题\n\n正文开始了", [Boundary.PARAGRAPH, Boundary.NONE]),
        ("第一行没有标点\n第二行", [Boundary.SENTENCE, Boundary.NONE]),
        ("说完这一句了。\n", [Boundary.PARAGRAPH, Boundary.NONE]),
        ("说完这一句了。\r\n", [Boundary.PARAGRAPH, Boundary.NONE]),
        ("好。\n", [Boundary.PARAGRAPH, Boundary.NONE]),
        ("What is this thing? It is good", [Boundary.SENTENCE, Boundary.NONE]),
    ],
)
def test_the_boundary_names_the_end(text: str, boundaries: list[Boundary]) -> None:
    """Clause, sentence and paragraph ends are told apart, and a text that breaks off has no boundary."""
    assert [segment.boundary for segment in segments_of([text])] == boundaries


def test_after_a_flush_the_next_segment_is_short_again() -> None:
    """A stall empties the sound in hand, so the text after it starts as small as the stream did."""
    text = "我们先说第一点，再说第二点，再说第三点。"
    found = [segment.text for segment in segments_of([text, FLUSH, text])]
    assert found == ["我们先说第一点，", "再说第二点，再说第三点。"] * 2


@given(text=TEXTS, data=st.data())
def test_clean_text_keeps_its_place_in_the_source(text: str, data: st.DataObject) -> None:
    """With characters taken out of the source, segments still tile it, and each holds the origins of its text."""
    shown = [data.draw(st.integers(0, 3)) != 0 for _ in text]
    segmenter = Segmenter()
    found: list[Segment] = []
    for place, char in enumerate(text):
        clean, origins = (char, [place]) if shown[place] else ("", [])
        found += segmenter.push_clean(clean, origins, source_end=place + 1)
    found += segmenter.flush()
    assert "".join(segment.text for segment in found) == "".join(
        char for char, kept in zip(text, shown, strict=True) if kept
    )
    assert [segment.source.start for segment in found] == [0, *(segment.source.end for segment in found)][: len(found)]
    for segment in found:
        assert "".join(text[place] for place in segment.origin) == segment.text
        assert segment.source.start <= segment.origin[0]
        assert segment.origin[-1] < segment.source.end
    if found:
        assert found[-1].source.end == len(text)


@given(text=TEXTS.filter(bool), languages=st.sampled_from([("zh", "en"), ("en", "zh"), ("zh",), ("en",)]))
def test_parts_of_one_language_tile_their_segment(text: str, languages: tuple[Lang, ...]) -> None:
    """Split by language, a segment loses nothing, and only its last part keeps the pause."""
    segment = Segment(text, Span(7, 7 + 2 * len(text)), tuple(range(8, 8 + 2 * len(text), 2)), Boundary.SENTENCE)
    parts = split_segment(segment, languages)
    assert "".join(part.text for part in parts) == text
    assert tuple(place for part in parts for place in part.origin) == segment.origin
    assert [part.source.start for part in parts] == [7, *(part.source.end for part in parts[:-1])]
    assert parts[-1].source.end == segment.source.end
    assert [part.boundary for part in parts] == [Boundary.NONE] * (len(parts) - 1) + [Boundary.SENTENCE]


def test_a_mixed_segment_is_split_by_language() -> None:
    """Each part has its language; unspoken text has none."""
    text = "我有个meeting。спасибо"
    segment = Segment(text, Span(0, len(text)), tuple(range(len(text))), Boundary.CLAUSE)
    assert [(part.text, part.lang) for part in split_segment(segment, ("zh", "en"))] == [
        ("我有个", "zh"),
        ("meeting。", "en"),
        ("спасибо", None),
    ]


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"first_weight": 0}, "first_weight"),
        ({"limit": -1}, "limit"),
        ({"first_limit": float("nan")}, "first_limit"),
        ({"growth": 0.5}, "growth"),
        ({"max_characters": 7}, "max_characters"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], param: str) -> None:
    """The message names the invalid option."""
    with pytest.raises(InvalidRequest) as refusal:
        SegmenterOptions(**options)
    assert refusal.value.param == param


@pytest.mark.parametrize("text", ["请记下工单编号：100235，谢谢。", "他的电话号码：13800138000，别忘了。"])
def test_a_number_stays_with_its_label(text: str) -> None:
    """The text before a full-width colon decides the reading of the number behind it."""
    label = text.index("：")
    assert not any(segment.source.end == label + 1 for segment in segments_of([*text]))
