"""Look-up of lexicon entries in a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.text.lexicon import Entry, Lexicon, Words
from yuliu.types import Boundary, Hint, Segment, Span, Style

if TYPE_CHECKING:
    from yuliu.types import Lang


BOTH: tuple[Lang, ...] = ("zh", "en")


def words(*entries: Entry) -> Words:
    return Words((Lexicon.of("test", entries),))


def found(text: str, *entries: Entry, **options: Any) -> list[str]:
    return [text[hit.span.start : hit.span.end] for hit in words(*entries).hits(text, **options)]


def segment(text: str, *hints: Hint, style: Style = Style()) -> Segment:  # noqa: B008 - a frozen value
    return Segment(text, Span(0, len(text)), tuple(range(len(text))), Boundary.SENTENCE, hints=hints, style=style)


@pytest.mark.parametrize(
    ("text", "entry", "places"),
    [
        ("用GPT写，gpt和ＧＰＴ", Entry("GPT", "x"), ["GPT", "gpt", "ＧＰＴ"]),
        ("GPT gpt", Entry("GPT", "x", match_case=True), ["GPT"]),
        ("ＧＰＴ", Entry("GPT", "x", match_case=True), ["ＧＰＴ"]),
        ("SQLite MySQL SQL2 2SQL SQL", Entry("SQL", "x"), ["SQL"]),
        ("SQLite MySQL", Entry("SQL", "x", where="anywhere"), ["SQL", "SQL"]),
        ("I'm I’m I.", Entry("I", "x"), ["I"]),
        ("the dogs' and dogs", Entry("dogs", "x"), ["dogs", "dogs"]),
        ("C++ or C", Entry("C++", "x"), ["C++"]),
        ("AC++", Entry("C++", "x"), []),
        ("这个行业的行业", Entry("行业", "x"), ["行业", "行业"]),
        ("iPhone15 iPhone 15", Entry("iPhone 15", "x"), ["iPhone 15"]),
        ("İstanbul and GPT", Entry("gpt", "x"), ["GPT"]),
    ],
)
def test_case_width_and_word_edges(text: str, entry: Entry, places: list[str]) -> None:
    """Case and width are ignored by default; Latin words match whole, Chinese ones anywhere."""
    assert found(text, entry) == places


def test_the_longest_entry_wins() -> None:
    """The longer text wins at one place, and the text that it covers is not searched again."""
    assert found("重庆大学学生", Entry("重庆", "a"), Entry("重庆大学", "b"), Entry("大学", "c")) == ["重庆大学"]


@pytest.mark.parametrize(
    ("text", "lang", "places"),
    [
        ("我用GPT写文章", "zh", ["GPT"]),  # an English word in a Chinese sentence counts as both
        ("我用GPT写文章", "en", ["GPT"]),
        ("I use GPT daily", "en", ["GPT"]),
        ("I use GPT daily", "zh", []),
        ("I use GPT daily", None, ["GPT"]),
    ],
)
def test_languages_limit_where_an_entry_applies(text: str, lang: Any, places: list[str]) -> None:
    """An entry for a language applies where the sentence or the word itself is in it."""
    assert found(text, Entry("GPT", "x", lang=lang)) == places


def test_a_forced_language_decides() -> None:
    """With a settled language of the whole text, entries for another one do not apply."""
    entry = Entry("GPT", "x", lang="zh")
    assert found("I use GPT daily", entry, lang="zh") == ["GPT"]
    assert found("我用GPT写文章", entry, lang="en") == []


def test_later_lexicons_win_among_equally_long_texts() -> None:
    """The last lexicon wins, but a longer text wins over it."""
    weak = Lexicon.of("weak", [Entry("重庆大学", "long"), Entry("北京", "weak")])
    strong = Lexicon.of("strong", [Entry("重庆", "short"), Entry("北京", "strong")])
    hits = Words((weak, strong)).hits("重庆大学在北京")
    assert [(hit.entry.reading, hit.lexicon) for hit in hits] == [("long", "weak"), ("strong", "strong")]


def test_a_narrower_entry_goes_before_a_wider_one() -> None:
    """The entry for one case or one language wins over the general one."""
    both = words(Entry("us", "us"), Entry("US", "U S", match_case=True), Entry("us", "美国", lang="zh"))
    assert [hit.entry.reading for hit in both.hits("help us, US")] == ["us", "U S"]
    assert [hit.entry.reading for hit in both.hits("去us旅游吧")] == ["美国"]


def test_the_last_of_conflicting_entries_wins() -> None:
    """Same text and scope: the later entry replaces the earlier one; another case or language is not a conflict."""
    entries = [Entry("SQL", "a"), Entry("sql", "b"), Entry("SQL", "c", match_case=True), Entry("sql", "d", lang="zh")]
    assert [entry.reading for entry in Lexicon.of("test", entries).entries] == ["b", "c", "d"]


def test_a_segment_gets_hints_where_its_writer_gave_none() -> None:
    """Entries become hints in order; a hint of the writer wins over an entry that touches it."""
    own = Hint(Span(4, 6), "phonemes", "hang2 ye4", "pinyin")
    entries = [Entry("行业", "x"), Entry("SQL", "sequel"), Entry("重庆", "chong2 qing4", "pinyin")]
    hinted = words(*entries).apply(segment("SQL的行业在重庆", own), BOTH)
    assert hinted.hints == (
        Hint(Span(0, 3), "spoken", "sequel"),
        own,
        Hint(Span(7, 9), "phonemes", "chong2 qing4", "pinyin"),
    )
    plain = segment("什么都没有")
    assert words(*entries).apply(plain, BOTH) is plain


def test_the_style_of_a_segment_is_its_language() -> None:
    """The lexicon takes a segment read as English for English."""
    entry = Entry("行业", "trade", lang="zh")
    assert words(entry).apply(segment("行业", style=Style(lang="en")), BOTH).hints == ()


@pytest.mark.parametrize(
    ("entry", "languages", "holds_there"),
    [
        (Entry("GPT", "吉皮提"), ("en",), False),
        (Entry("GPT", "吉皮提"), ("zh", "en"), True),
        (Entry("GPT", "ji4 pi2 ti4", "pinyin"), ("en",), False),
        (Entry("GPT", "ʤˌipˌitˈi", "x-misaki"), ("zh",), False),
        (Entry("GPT", "gee"), ("zh",), False),
        (Entry("GPT", "4"), ("en",), True),
    ],
)
def test_unspeakable_readings_do_not_apply(entry: Entry, languages: tuple[Lang, ...], holds_there: bool) -> None:
    """The word is then read without the entry rather than left out."""
    assert bool(words(entry).apply(segment("GPT"), languages).hints) is holds_there


TEXTS = st.text(st.sampled_from("abAB 行业重庆.1Ａ"), max_size=30)
ENTRIES = st.builds(
    Entry,
    st.text(st.sampled_from("abAB行业"), min_size=1, max_size=4),
    st.just("x"),
    match_case=st.booleans(),
    where=st.sampled_from([None, "word", "anywhere"]),
)


@given(text=TEXTS, entries=st.lists(ENTRIES, max_size=8))
def test_look_up_equals_exhaustive_search(text: str, entries: list[Entry]) -> None:
    """Left to right, the longest entry that applies at each place."""
    kept = Lexicon.of("test", entries).entries
    slow: list[Span] = []
    at = 0
    while at < len(text):
        size = max((len(entry.text) for entry in kept if holds(entry, text, at)), default=0)
        slow += [Span(at, at + size)] if size else []
        at += size or 1
    assert [hit.span for hit in words(*entries).hits(text)] == slow


def holds(entry: Entry, text: str, at: int) -> bool:
    """Return whether an entry applies at a place, by an independent regular expression."""
    letter = "[A-Za-z0-9]"
    pattern = re.escape(entry.text)
    if entry.where == "word" or (entry.where is None and (entry.text[0].isascii() or entry.text[-1].isascii())):
        pattern = f"(?:(?<!{letter})|(?!{letter})){pattern}(?:(?!{letter})|(?<!{letter}))"
    plain = text.replace("Ａ", "A")
    return bool(re.compile(pattern, 0 if entry.match_case else re.IGNORECASE).match(plain, at))


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"text": ""}, "text"),
        ({"text": " a"}, "text"),
        ({"text": "a" * 65}, "text"),
        ({"text": "a\tb"}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"text": 5}, "text"),
        ({"reading": ""}, "reading"),
        ({"reading": "a\u2028b"}, "reading"),
        ({"reading": "x" * 201}, "reading"),
        ({"alphabet": "sampa"}, "alphabet"),
        ({"lang": "fr"}, "lang"),
        ({"where": "here"}, "where"),
        ({"stage": "between"}, "stage"),
        ({"stage": "after", "alphabet": "ipa"}, "stage"),
        ({"lang": ["zh"]}, "lang"),
    ],
)
def test_invalid_entries_are_refused(fields: dict[str, Any], param: str) -> None:
    """The invalid field is named."""
    with pytest.raises(InvalidRequest) as refused:
        Entry(**{"text": "a", "reading": "b"} | fields)
    assert refused.value.param == param


def test_digests_differ_with_spoken_form_entries() -> None:
    """Equal entries have equal digests, whatever the lexicon's name; entries of the written text have none."""
    spoken = Entry("west", "vest", stage="after")
    words = [
        Words((Lexicon.of(name, entries),))
        for name, entries in [
            ("a", [spoken]),
            ("b", [spoken, Entry("x", "y")]),
            ("c", [Entry("east", "eat", stage="after")]),
        ]
    ]
    assert words[0].digests == words[1].digests != words[2].digests
    assert Words((Lexicon.of("d", [Entry("x", "y")]),)).digests == ()


def test_tables_can_be_made_ahead() -> None:
    """The matches are the same."""
    lexicon = Lexicon.of("x", [Entry("SQL", "sequel"), Entry("GPT", "chat", lang="en", stage="after")])
    lexicon.index()
    assert [hit.entry.text for hit in Words((lexicon,)).hits("SQL GPT")] == ["SQL"]


def test_an_entry_for_a_language_applies_in_each_of_its_places() -> None:
    """The languages of a text are computed once."""
    words = Words((Lexicon.of("x", [Entry("GPT", "chat", lang="en-US"), Entry("OK", "好", lang="zh-CN")]),))
    assert [hit.span for hit in words.hits("GPT and GPT, 请说OK吧")] == [Span(0, 3), Span(8, 11), Span(15, 17)]


def test_lexicons_are_searched_together_from_left_to_right() -> None:
    """Each match is found in its own lexicon."""
    words = Words(
        (Lexicon.of("a", [Entry("SQL", "sequel"), Entry("GUI", "gooey")]), Lexicon.of("b", [Entry("GPT", "chat")]))
    )
    assert [(hit.lexicon, hit.span.start) for hit in words.hits("SQL, GUI and GPT")] == [("a", 0), ("a", 5), ("b", 13)]
