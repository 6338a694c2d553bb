"""Explanations beyond the cases: markup, lexicons, arriving text, any text at all."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yuliu
from yuliu.cli.text_input.deltas import arrivals_of
from yuliu.errors import InvalidRequest, UnknownLexicon
from yuliu.explanation import Explainer, TimedDelta, explain
from yuliu.text.lexicon import Entry

if TYPE_CHECKING:
    from yuliu.types import Lang

DATA = Path(__file__).parents[1] / "data"
EXPLAINER = Explainer(DATA)  # a folder without lexicons and voices


def values(text: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXPLAINER.explain(text, **options).to_json())
    return found


def test_the_contract_has_these_keys() -> None:
    """Names that other programs rely on, and places as pairs."""
    found = values("**买**5kg用iPhone👍。")
    assert list(found) == ["text", "reader", "segments"]
    segment = found["segments"][0]
    assert list(segment) == [
        *("source", "text", "lang", "spoken", "spans", "pinyin", "phonemes", "skipped", "lexicon", "refused"),
    ]
    assert segment["source"] == [2, 17]
    assert segment["text"] == "买5kg用iPhone。"
    assert segment["spans"][0] == {"source": [2, 9], "lang": "zh", "text": "买5kg用", "spoken": "买五千克用"}
    assert segment["pinyin"][:2] == [[2, "买", "mai2"], [5, "五", "wu3"]]
    assert {"source": [3, 5], "rule": "markdown"} in segment["skipped"]


def test_erhua_is_a_syllable_and_an_r() -> None:
    """Each at its own character; inside a rewriting both at its start."""
    assert values("花儿")["segments"][0]["pinyin"] == [[0, "花", "hua1"], [1, "儿", "r"]]
    entry = Entry("X", "花儿")
    said = values("X", options=yuliu.StreamOptions(lexicon_entries=(entry,)))["segments"][0]["pinyin"]
    assert said == [[0, "花", "hua1"], [0, "儿", "r"]]
    assert values("女儿")["segments"][0]["pinyin"][1] == [1, "儿", "er2"]


@pytest.mark.parametrize(("lang", "spoken"), [("zh", "百分之二十五"), ("en", "twenty five percent")])
def test_a_language_can_be_forced(lang: Lang, spoken: str) -> None:
    """All of the text is then read as that language."""
    segment = values("25%", lang=lang)["segments"][0]
    assert (segment["lang"], segment["spoken"].replace("-", " ")) == (lang, spoken)


def test_unspoken_languages_are_named_and_skipped() -> None:
    """The span has its language, no words, and a rule that leaves it out."""
    segment = values("Hello, 안녕하세요")["segments"][0]
    assert segment["spans"][1] == {"source": [7, 12], "lang": "ko", "text": "안녕하세요", "spoken": ""}
    assert segment["skipped"] == [{"source": [7, 12], "rule": "language_not_spoken"}]


def test_lexicon_matches_and_refusals_are_reported() -> None:
    """Matches have place and source; readings that no voice can follow are refused and the text is read normally."""
    entries = (
        Entry("GPT", "吉皮提", lang="zh"),
        Entry("行业", "hang2 bad9", "pinyin"),
        Entry("千克", "公斤", stage="after"),
    )
    segment = values("用GPT的行业买5kg", options=yuliu.StreamOptions(lexicon_entries=entries))["segments"][0]
    assert segment["spoken"] == "用吉皮提的行业买五公斤"
    assert [span["lang"] for span in segment["spans"]] == ["zh"]
    assert [hit["text"] for hit in segment["lexicon"]] == ["GPT", "行业", "千克"]
    assert segment["lexicon"][0] == {
        "source": [1, 4],
        "text": "GPT",
        "reading": "吉皮提",
        "alphabet": None,
        "lexicon": "request",
    }
    assert segment["refused"] == [{"source": [5, 7], "rule": "phonemes_unknown"}]


def test_an_unknown_lexicon_is_an_error() -> None:
    """Rather than a reading without it."""
    with pytest.raises(UnknownLexicon):
        EXPLAINER.explain("x", options=yuliu.StreamOptions(lexicon=("nothing",)))


def test_arriving_text_reports_when_each_segment_was_certain() -> None:
    """By the text, by a pause of its writer, or by its end; on a simulated clock."""
    arrivals = [
        TimedDelta("你好，今天", 0.0),
        TimedDelta("天气不错。", 0.1),
        TimedDelta("我", 2.0),
        TimedDelta("们走。", 2.1),
    ]
    segments = EXPLAINER.follow(arrivals).segments
    told = [(each.text, each.emitted.by, each.emitted.delta, each.emitted.at_ms) for each in segments if each.emitted]
    assert told == [("你好，今天天气不错。", "stall", 1, 600.0), ("我们走。", "end", 3, 2100.0)]
    assert all(segment.emitted is None for segment in EXPLAINER.explain("你好").segments)


LINES = (DATA / "llm_stream.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", LINES, ids=[json.loads(line)["id"] for line in LINES])
def test_recorded_streams_are_never_early_nor_held_after_the_stall(line: str) -> None:
    """No segment comes before its characters; after a pause no earlier text is held."""
    _, arrivals = arrivals_of(line, 1)
    found = EXPLAINER.follow(arrivals)
    assert found.text == "".join(arrival.text for arrival in arrivals)
    pauses = [
        (sum(len(each.text) for each in arrivals[:index]), before.at_s + 0.5)
        for index, (before, after) in enumerate(pairwise(arrivals), start=1)
        if after.at_s - before.at_s >= 0.5
    ]
    for segment in found.segments:
        assert segment.emitted
        assert segment.emitted.char >= segment.source.end
        for num_chars, flushed_s in pauses:
            if segment.source.start < num_chars:
                assert segment.emitted.at_ms <= 1000 * flushed_s + 1e-3


def test_a_stall_shorter_than_the_gap_flushes_each_piece() -> None:
    """The stall time is an option."""
    arrivals = [TimedDelta("好的", 0.0), TimedDelta("再见", 0.2)]
    segments = EXPLAINER.follow(arrivals, options=yuliu.StreamOptions(stall_s=0.1)).segments
    assert [segment.text for segment in segments] == ["好的", "再见"]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_explained_and_covered(text: str) -> None:
    """Any characters, halves of surrogate pairs too: JSON in UTF-8, and each one is in a segment or skipped by a rule,
    or white space."""
    line = EXPLAINER.explain(text).to_json()
    found = json.loads(line.encode("utf-8"))
    assert found["text"] == text
    covered: set[int] = set()
    for each in [*found["segments"], *found["reader"]["skipped"]]:
        covered.update(range(*each["source"]))
    assert all(char.isspace() for place, char in enumerate(text) if place not in covered)
    for segment in found["segments"]:
        assert segment["text"] == "".join(span["text"] for span in segment["spans"])


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.sampled_from("你好我们3.5%，。 GPT*`a\n"), max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=6),
)
def test_any_cutting_gives_the_same_explanation(text: str, cuts: list[int]) -> None:
    """Without pauses, the deltas only change when segments become certain."""
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [TimedDelta(text[start:end], 0.0) for start, end in pairwise(edges)]
    assert EXPLAINER.follow(pieces, timed=False) == EXPLAINER.explain(text)


def test_values_of_an_arriving_text_include_emission() -> None:
    """Values of a complete text do not."""
    found = EXPLAINER.follow([TimedDelta("Hello there. ", 0.0), TimedDelta("Bye", 1.0)]).to_values()
    assert [segment["emitted"]["by"] for segment in found["segments"]] == ["stall", "end"]
    assert "emitted" not in EXPLAINER.explain("Hello there.").to_values()["segments"][0]


def test_a_language_is_accepted_by_any_tag() -> None:
    """One that is not known is refused by its name."""
    assert EXPLAINER.explain("25%", lang="EN_us") == EXPLAINER.explain("25%", lang="en")
    with pytest.raises(InvalidRequest, match="there is no language 'fr'; there are zh, en") as caught:
        EXPLAINER.explain("25%", lang="fr")
    assert caught.value.param == "lang"


def test_the_shared_explainer_gives_the_same() -> None:
    """It is made once, at the first call."""
    assert explain("25%", lang="en").segments == explain("25%", lang="en").segments
