"""The cases of the front ends, checked from the JSON of an explanation alone, as an outsider would."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import yuliu
from yuliu.explanation import Explainer
from yuliu.text.markup import MarkupOptions

if TYPE_CHECKING:
    from yuliu.types import Lang

DATA = Path(__file__).parents[1] / "data"
EXPLAINER = Explainer()


def cases(area: str, file: str) -> list[Any]:
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["text"]) for case in map(json.loads, lines) if case["area"] == area]


FULL = yuliu.StreamOptions(reader=MarkupOptions(urls="full"))
"""The cases want every letter of an address."""


def explained(text: str, lang: Lang | None = None) -> Any:
    return json.loads(EXPLAINER.explain(text, lang=lang, options=FULL).to_json())


def bare(text: str, *, english: bool = False) -> str:
    """Return the text without white space and punctuation at either end."""
    if english:
        text = " ".join(word for word in text.lower().replace("-", " ").split() if word != "and")
    return "".join(char for char in text.lower().replace("〇", "零") if char.isalnum())


def trimmed(text: str) -> str:
    """Return the text without white space and punctuation at either end."""
    kept = [index for index, char in enumerate(text) if unicodedata.category(char)[0] not in "ZP"]
    return text[kept[0] : kept[-1] + 1] if kept else ""


@pytest.mark.parametrize("case", cases("tn", "zh_cases.jsonl") + cases("tn", "text_en_spoken.jsonl"))
def test_segments_hold_the_spoken_form(case: dict[str, Any]) -> None:
    """The spoken forms of the segments, one after the other, are one of the accepted ones."""
    english = case["lang"] == "en"
    found = explained(case["text"], case["lang"])
    spoken = " ".join(segment["spoken"] for segment in found["segments"])
    accepted = case.get("accepted") or [case["expected"]]
    assert bare(spoken, english=english) in [bare(each, english=english) for each in accepted]


@pytest.mark.parametrize("case", cases("g2p", "zh_cases.jsonl"))
def test_pinyin_is_found_by_the_index_of_its_character(case: dict[str, Any]) -> None:
    """Each named character has a right reading at its index; erhua is a syllable and ``r``."""
    pinyin = [each for segment in explained(case["text"], "zh")["segments"] for each in segment["pinyin"]]
    if isinstance(case["expected"], str):
        assert f" {case['expected']} " in f" {' '.join(syllable for *_, syllable in pinyin)} "
        return
    heard = {index: (char, syllable) for index, char, syllable in pinyin}
    for index, char, readings in case["expected"]:
        risen = {reading[:-1] + "2" for reading in readings if reading[-1] == "3"}
        assert heard[index][0] == char
        assert heard[index][1] in set(readings) | (risen if case["tone"] == "citation" else set())


@pytest.mark.parametrize("case", cases("lid_span", "segmentation.jsonl"))
def test_spans_name_the_languages(case: dict[str, Any]) -> None:
    """Neighbouring spans of one language joined, a mixed text splits as written down."""
    joined: list[list[str]] = []
    for segment in explained(case["text"])["segments"]:
        for span in segment["spans"]:
            if joined and joined[-1][1] == span["lang"]:
                joined[-1][0] += span["text"]
            else:
                joined.append([span["text"], span["lang"]])
    assert [[trimmed(text), lang] for text, lang in joined] == [[trimmed(t), lang] for t, lang in case["expected"]]
