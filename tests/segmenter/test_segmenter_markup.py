"""The segmenter takes what the reader makes of a text: units, styles, pauses, marks, hinted texts that are not cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.segmenter import Segmenter, SegmenterOptions, split_segment
from yuliu.text.markup import MarkupOptions, MarkupReader
from yuliu.types import Boundary, Hint, Segment, Span, Style

SMALL = SegmenterOptions(first_limit=6, limit=12, clause_weight=8, max_characters=24)
PIECES = [
    *(
        "好的",
        "，",
        "。",
        "word ",
        ". ",
        "\n",
        "其实没有那么复杂",
        "12345",
        "<break time='1s'/>",
        "<mark name='m'/>",
        "**",
    ),
    *("<say-as interpret-as='digits'>一二，三。四 12</say-as>", "<phoneme ph='x'>A股 go。</phoneme>", "<p>", "</p>"),
    *("<prosody rate='fast'>", "</prosody>", "<sub alias='另外一个很长的说法'>x</sub>"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def segments_of(text: str, *, step: int = 10_000, options: SegmenterOptions | None = None) -> list[Segment]:
    reader, segmenter = MarkupReader(MarkupOptions(ssml="on")), Segmenter(options)
    found: list[Segment] = []
    for start in range(0, len(text), step):
        for event in reader.push(text[start : start + step]):
            found += segmenter.take(event)
    for event in reader.flush():
        found += segmenter.take(event)
    return found + segmenter.flush()


@settings(deadline=None)
@given(text=TEXTS, step=st.integers(1, 7), options=st.sampled_from([None, SMALL]))
def test_any_cutting_gives_the_same_segments(text: str, step: int, options: SegmenterOptions | None) -> None:
    """Reader and segmenter together do not depend on the deltas."""
    assert segments_of(text, step=step, options=options) == segments_of(text, options=options)


@settings(deadline=None)
@given(text=TEXTS, options=st.sampled_from([None, SMALL]))
def test_segments_follow_each_other_and_keep_all_hints_and_marks(text: str, options: SegmenterOptions | None) -> None:
    """Sources do not overlap; hinted texts are whole, also after the split by language; no mark is lost."""
    segments = segments_of(text, options=options)
    assert all(left.source.end <= right.source.start for left, right in pairwise(segments))
    parts = [part for segment in segments if segment.text for part in split_segment(segment, ["zh", "en"])]
    for those in (segments, parts):
        hinted = [segment.text[slice(*hint.span)] for segment in those for hint in segment.hints]
        assert len(hinted) == text.count("</say-as>") + text.count("</phoneme>")
        assert set(hinted) <= {"一二，三。四 12", "A股 go。"}
    assert sum(len(segment.marks) for segment in segments) == text.count("<mark")


def test_units_end_where_the_reader_says() -> None:
    """A heading is a paragraph of its own, an item a sentence, though their lines have no marks."""
    segments = segments_of("# Plan\n- one thing that goes on for more than fifty characters in all\n- two\n")
    assert [(segment.text.strip(), segment.boundary) for segment in segments] == [
        ("Plan", Boundary.PARAGRAPH),
        ("one thing that goes on for more than fifty characters in all", Boundary.SENTENCE),
        ("two", Boundary.SENTENCE),
    ]


def test_skipped_text_between_segments_belongs_to_neither() -> None:
    """A segment's source begins where its text does, even after skipped text."""
    text = "Look.\n```\nx = 1\n```\nDone."
    first, announced, last = segments_of(text)
    assert (first.source, text[slice(*announced.source)]) == (Span(0, 5), "\n```")
    assert text[slice(*last.source)] == "\nDone."


@pytest.mark.parametrize(
    ("text", "pauses"),
    [
        ("One two three.<break time='1s'/> Four.", [("One two three.", 1.0), (" Four.", None)]),
        ("<break time='1s'/>One.", [("", 1.0), ("One.", None)]),
        ("One<break time='1s'/>", [("One", 1.0)]),
    ],
)
def test_pauses_come_with_the_segment_before_them(text: str, pauses: list[tuple[str, float | None]]) -> None:
    """Without pending text, a segment without text carries the pause."""
    assert [(segment.text, segment.pause_s) for segment in segments_of(text)] == pauses


def test_a_change_of_style_starts_a_segment() -> None:
    """Each segment has one style; the marks of the text before decide its boundary."""
    plain, slow, after = segments_of("Well, <prosody rate='slow'>slowly now.</prosody> And on.")
    assert (plain.style, slow.style, after.style) == (Style(), Style(rate=0.75), Style())
    assert (plain.boundary, slow.boundary) == (Boundary.CLAUSE, Boundary.SENTENCE)


def test_marks_belong_to_the_following_text() -> None:
    """The last ones come with a segment without text, if nothing follows."""
    segments = segments_of("<mark name='a'/>One.<mark name='b'/><prosody rate='slow'>Two.</prosody><mark name='c'/>")
    assert [(segment.text, [mark.name for mark in segment.marks]) for segment in segments] == [
        ("One.", ["a"]),
        ("Two.", ["b"]),
        ("", ["c"]),
    ]


def test_a_style_that_names_a_language_decides_it() -> None:
    """All of the segment is read as that language, if the voice has it."""
    segment = Segment("好 go", Span(0, 4), (0, 1, 2, 3), Boundary.SENTENCE, style=Style(lang="en"))
    assert [part.lang for part in split_segment(segment, ["zh", "en"])] == ["en"]
    assert [part.lang for part in split_segment(segment, ["zh"])] == ["zh", None]


def test_parts_keep_style_pause_hints_and_marks() -> None:
    """The pause goes with the last part, a hint and a mark with the part in which they stand."""
    segment = segments_of("你好<mark name='m'/> <phoneme alphabet='ipa' ph='x'>hello</phoneme>.<break time='2s'/>")[0]
    zh, en = split_segment(segment, ["zh", "en"])
    assert (zh.text.strip(), zh.pause_s, zh.hints) == ("你好", None, ())
    assert (en.text, en.pause_s, en.hints) == ("hello.", 2.0, (Hint(Span(0, 5), "phonemes", "x", "ipa"),))
    assert [mark.name for mark in zh.marks + en.marks] == ["m"]


def test_a_segment_without_text_stays_whole() -> None:
    """Its language is the preferred one."""
    segment = Segment("", Span(3, 3), (), Boundary.SENTENCE)
    assert [(part.text, part.lang) for part in split_segment(segment, ["zh", "en"])] == [("", "zh")]


def test_a_hinted_place_is_not_cut_between_languages() -> None:
    """Even if its reading is in two languages."""
    segment = Segment("看GPT吧", Span(0, 5), (0, 1, 2, 3, 4), Boundary.SENTENCE)
    hint = Hint(Span(1, 4), "spoken", "吉皮提 model")
    parts = split_segment(replace(segment, hints=(hint,)), ["zh", "en"])
    assert [part.text for part in parts] == ["看GPT", "吧"]
    empty = Hint(Span(1, 4), "spoken", "")
    assert [part.text for part in split_segment(replace(segment, hints=(empty,)), ["zh", "en"])] == ["看", "GPT", "吧"]


def test_phonemes_of_another_language_do_not_decide_the_language() -> None:
    """The place is split as if it had no hint."""
    segment = Segment(
        "看GPT", Span(0, 4), (0, 1, 2, 3), Boundary.SENTENCE, hints=(Hint(Span(1, 4), "phonemes", "x", "ipa"),)
    )
    assert [part.lang for part in split_segment(segment, ["zh"])] == ["zh", None]


def test_a_hinted_text_beyond_the_weight_limit_stays_whole() -> None:
    """No cut is forced inside a hinted text, not even where the segment begins with it."""
    text = "<say-as interpret-as='characters'>" + "一" * 15 + "</say-as>" + "x" * 8
    segments = segments_of(text, options=SMALL)
    assert [hint.span for segment in segments for hint in segment.hints] == [Span(0, 15)]
    assert segments[0].text.startswith("一" * 15)
