"""Each strategy cuts where it says, the same however the text arrives, and may be changed while it arrives."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import pytest
import rjieba
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.segmenter import Chunking, Segmenter, SegmenterOptions, weigh
from yuliu.segmenter.chunking import STRATEGIES
from yuliu.segmenter.options import MIN_WEIGHT
from yuliu.types import Hint, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.segmenter.chunking import Strategy
    from yuliu.types import Segment

PIECES = [
    *"好的我们在去一三。，！？…“”、：ab.,!?;'\"()- \n1５",
    "今天天气很好",
    "其实没有那么复杂",
    "你先把手机打开",
    " iPhone 15 Pro ",
    "The quick brown fox ",
    "Dr. ",
    "3.14",
    "13800138000",
    "。\n",
    "\n\n",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
WEIGHTS = st.floats(MIN_WEIGHT, 20)
CHUNKINGS = st.one_of(
    st.sampled_from(STRATEGIES).map(Chunking),
    st.builds(lambda name, low, more: Chunking(name, low, low + more), st.sampled_from(STRATEGIES), WEIGHTS, WEIGHTS),
)
SENTENCES = (
    "我跟你说这个事情其实没有那么复杂你先把手机打开然后点右上角那个齿轮再往下翻翻到最后一个选项点进去就能看到了",
    "昨天晚上我们一起在学校门口的那家小饭馆里吃了一顿非常丰盛的晚餐然后各自坐地铁回家休息",
    "随着人工智能技术的快速发展越来越多的企业开始把语音合成应用到客户服务和内容生产当中",
)


def weight(text: str) -> float:
    return sum(map(weigh, text))


def cut(text: str, chunking: Chunking) -> list[str]:
    return [segment.text for segment in segments_of([text], chunking.options())]


def segments_of(deltas: list[str | SegmenterOptions | None], options: SegmenterOptions) -> list[Segment]:
    """Push ``deltas`` in order; flush where one is None, and at the end."""
    segmenter = Segmenter(options)
    found: list[Segment] = []
    for delta in deltas:
        if isinstance(delta, SegmenterOptions):
            segmenter.configure(delta)
        else:
            found += segmenter.flush() if delta is None else segmenter.push(delta)
    return found + segmenter.flush()


def in_pieces(text: str, data: st.DataObject) -> Iterator[str]:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    for start, end in zip([0, *places], [*places, len(text)], strict=True):
        yield text[start:end]


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), data=st.data())
def test_any_cutting_gives_the_same_segments_through_changes(texts: list[str], data: st.DataObject) -> None:
    """The result depends on the text and the places of flushes and changes, and tiles the text."""
    first = data.draw(CHUNKINGS).options()
    pieces: list[str | SegmenterOptions | None] = []
    singly: list[str | SegmenterOptions | None] = []
    for text in texts:
        change = data.draw(st.one_of(st.none(), CHUNKINGS.map(Chunking.options)))
        pieces += [*in_pieces(text, data), change]
        singly += [*text, change]
    found = segments_of(pieces, first)
    assert found == segments_of(singly, first)
    assert "".join(segment.text for segment in found) == "".join(texts)
    assert [place for segment in found for place in segment.origin] == list(range(len("".join(texts))))


@given(text=TEXTS, before=CHUNKINGS, after=CHUNKINGS)
def test_a_change_keeps_returned_segments(text: str, before: Chunking, after: Chunking) -> None:
    """A change returns nothing by itself, and leaves earlier segments alone."""
    segmenter = Segmenter(before.options())
    early = segmenter.push(text)
    segmenter.configure(after.options())
    late = [*segmenter.push("今天天气很好。"), *segmenter.flush()]
    assert early == Segmenter(before.options()).push(text)
    assert "".join(segment.text for segment in early + late) == text + "今天天气很好。"


@given(text=TEXTS, chunking=CHUNKINGS)
def test_changing_to_the_same_options_changes_nothing(text: str, chunking: Chunking) -> None:
    """Anywhere in the text."""
    half = len(text) // 2
    options = chunking.options()
    assert segments_of([text[:half], options, text[half:]], options) == segments_of([text], options)


def test_a_change_does_not_make_segments_short_again() -> None:
    """Growth goes on where it was: only a flush says that the sound in hand is used up."""
    text = "我们先说第一点，再说第二点，然后大家一起讨论，最后写下来，交给老师看。"
    options = Chunking().options()
    changed = segments_of([text, replace(options, max_characters=300), text], options)
    assert [segment.text for segment in changed] == [segment.text for segment in segments_of([text, text], options)]


@given(text=TEXTS, chunking=CHUNKINGS)
def test_no_cut_falls_inside_a_number_or_a_latin_word(text: str, chunking: Chunking) -> None:
    """Adjacent letters and digits stay together, unless they alone exceed the limit by far."""
    longest = max((weight(word) for word in text.split()), default=0.0)
    if chunking.strategy != "fixed" and longest > chunking.options().first_limit:
        return
    for one, other in pairwise(cut(text, chunking)):
        assert not (one[-1].isascii() and one[-1].isalnum() and other[0].isascii() and other[0].isalnum())


@pytest.mark.parametrize("text", SENTENCES)
@pytest.mark.parametrize(("low", "high"), [(8, 12), (4, 6), (10, 10), (15, 20)])
def test_fixed_cuts_at_word_boundaries_near_the_range(text: str, low: float, high: float) -> None:
    """Without marks each cut is at the end of a word, in the range or as near as words allow."""
    found = cut(text, Chunking("fixed", low, high))
    ends = set(accumulate(map(len, rjieba.cut(text))))
    assert set(accumulate(map(len, found))) <= ends
    assert len(found) > 1
    for piece in found[:-1]:
        assert low - 2 <= weight(piece) <= high + 2
    assert weight(found[-1]) <= high + MIN_WEIGHT


@given(text=st.lists(st.sampled_from(["今天", "我们", "学校", "电脑", "朋友", "漂亮"]), max_size=60).map("".join))
def test_fixed_stays_in_the_range_where_words_are_short(text: str) -> None:
    """With a word boundary every two or so characters, no piece leaves the range but the last."""
    found = cut(text, Chunking("fixed"))
    assert all(8 <= weight(piece) <= 12 for piece in found[:-1])
    assert not found or weight(found[-1]) <= 12


def test_fixed_ends_at_sentences_and_does_not_leave_a_rest_of_one() -> None:
    """A sentence a little over the range is cut so that its end can be spoken alone."""
    assert cut("今天下午我们一起去公园散步吧。好的没问题。", Chunking("fixed")) == [
        "今天下午我们一起去",
        "公园散步吧。",
        "好的没问题。",
    ]


def test_fixed_keeps_numbers_and_labels_together() -> None:
    """No cut beside a number, however near the range is."""
    found = cut("这一批耳机总共卖了1299.5元人民币而且还附送两个充电器", Chunking("fixed"))
    assert any("1299.5元" in piece for piece in found)


def test_fixed_does_not_cut_a_hinted_text() -> None:
    """A hinted text stays in one piece, even if longer than the range."""
    segmenter = Segmenter(Chunking("fixed").options())
    before, hinted, after = "我们今天去看", "中华人民共和国国家博物馆主馆东侧", "的展览然后回家"
    text = before + hinted + after
    found = segmenter.push_clean(before, range(6), source_end=6)
    start, end = len(before), len(before + hinted)
    hint = Hint(Span(0, 0), "spoken", "国博")
    found += segmenter.push_clean(hinted, range(start, end), source_end=end, hint=hint)
    found += segmenter.push_clean(after, range(end, len(text)), source_end=len(text))
    found += segmenter.flush()
    assert "".join(segment.text for segment in found) == text
    assert len(found) > 1
    assert [hinted in segment.text for segment in found].count(True) == 1


def test_punctuation_cuts_at_every_clause_end() -> None:
    """Clauses from a small weight on are segments; lists are not cut at every mark."""
    text = "我们先说第一点，再说第二点，然后大家一起讨论，好，最后写下来。"
    assert cut(text, Chunking("punctuation")) == [
        "我们先说第一点，",
        "再说第二点，",
        "然后大家一起讨论，",
        "好，最后写下来。",
    ]
    assert cut("苹果、香蕉、橘子、葡萄都要买。", Chunking("punctuation"))[0] == "苹果、香蕉、橘子、葡萄都要买。"


def test_sentences_stay_whole_and_short_ones_go_together() -> None:
    """Sentences of ten characters go alone; lighter ones are joined, up to thirty."""
    chunking = Chunking("sentence")
    long = "明天上午九点我们在公司三楼的会议室开会，请大家提前到场，带上资料。"
    assert cut(long, chunking) == [long]
    assert cut("你好。我是小王。很高兴认识你们。我们开始吧！好的。", chunking) == [
        "你好。我是小王。很高兴认识你们。",
        "我们开始吧！好的。",
    ]
    assert cut("我是小王啊。" + long, chunking) == ["我是小王啊。", long]
    assert cut("好。" + long, chunking) == ["好。" + long]  # too short to be spoken alone


@given(lengths=st.lists(st.integers(1, 40), max_size=12))
def test_joined_sentences_weigh_no_more_than_allowed(lengths: list[int]) -> None:
    """Sentences of up to forty characters are never split, and joined only as far as needed and allowed."""
    sentences = ["好" * length + "。" for length in lengths]
    found = cut("".join(sentences), Chunking("sentence"))
    left = list(sentences)
    for place, piece in enumerate(found):
        joined = [left.pop(0)]
        while len("".join(joined)) < len(piece):
            joined.append(left.pop(0))
        assert piece == "".join(joined)
        before = weight("".join(joined[:-1]))
        assert before < 10
        assert weight(piece) <= 30 or before < MIN_WEIGHT
        is_last = place == len(found) - 1
        assert is_last or weight(piece) >= 10 or weight(piece + left[0]) > 30
    assert not left


@given(text=TEXTS.map(lambda text: text.replace("\n", "")), chunking=CHUNKINGS)
def test_no_segment_is_lighter_than_the_minimum(text: str, chunking: Chunking) -> None:
    """In one line of text only the last segment may be lighter."""
    assert all(weight(piece) >= MIN_WEIGHT for piece in cut(text, chunking)[:-1])


def test_a_stream_may_change_its_strategy() -> None:
    """From whole sentences to subtitles and back: what is pending is cut by the new rules with the next character."""
    sentence, fixed = Chunking("sentence").options(), Chunking("fixed").options()
    segmenter = Segmenter(sentence)
    assert segmenter.push("明天上午九点我们在公司三楼的会议室开会，请大家提前") == []
    segmenter.configure(fixed)
    assert [segment.text for segment in segmenter.push("十")] == ["明天上午九点我们在公司", "三楼的会议室开会，"]
    segmenter.configure(sentence)
    given_out = [segment.text for segment in segmenter.push("分钟到场。并且带上电脑。好")]
    assert given_out == ["请大家提前十分钟到场。"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_first_segment_can_be_made_shorter_but_not_too_short(strategy: Strategy) -> None:
    """The factor acts on the first segment where the strategy treats it by itself, and on nothing else."""
    whole, half = Chunking(strategy).options(), Chunking(strategy).options(first_weight_scale=0.5)
    if strategy in ("sentence", "fixed"):
        assert half == whole
    else:
        assert half.first_limit == whole.first_limit / 2
        assert half.first_weight >= MIN_WEIGHT
        assert half.limit == whole.limit


def test_the_default_is_what_the_segmenter_does_by_itself() -> None:
    assert Chunking().options() == SegmenterOptions()


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"strategy": "words"}, "strategy"),
        ({"min_weight": 3}, "min_weight"),
        ({"min_weight": float("nan")}, "min_weight"),
        ({"max_weight": 91}, "max_weight"),
        ({"max_weight": float("nan")}, "max_weight"),
        ({"strategy": "fixed", "min_weight": 9, "max_weight": 8}, "max_weight"),
        ({"strategy": "fixed", "min_weight": 20}, "max_weight"),
    ],
)
def test_invalid_options_are_refused(arguments: dict[str, Any], param: str) -> None:
    """The message names the invalid option."""
    with pytest.raises(InvalidRequest) as refusal:
        Chunking(**arguments)
    assert refusal.value.param == param


def test_fixed_does_not_cut_a_long_number() -> None:
    """A run without any place to cut goes on beyond the range."""
    assert cut("1234567890" * 3 + "你好世界", Chunking("fixed")) == ["1234567890" * 3 + "你好世界"]


@pytest.mark.parametrize("fixed_weight", [-1.0, 61.0])
def test_a_fixed_weight_above_the_limit_is_refused(fixed_weight: float) -> None:
    """Or one below zero."""
    with pytest.raises(InvalidRequest, match="from 0 to limit") as caught:
        SegmenterOptions(fixed_weight=fixed_weight)
    assert caught.value.param == "fixed_weight"


def test_fixed_cuts_text_without_any_boundary_at_the_maximum_length() -> None:
    """Nothing is lost."""
    pieces = cut("1" * 450, Chunking("fixed"))
    assert "".join(pieces) == "1" * 450
    assert max(map(len, pieces)) <= SegmenterOptions().max_characters
