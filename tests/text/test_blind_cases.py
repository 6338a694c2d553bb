"""Cases that were written before they were first run, in four lots; how many of each lot are right.

What the first run of each lot gave is told in docs/design/text-en.md and segmenter.md; here is held what was reached
since.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from yuliu.text.en.fold import fold
from yuliu.text.en.spoken_form import spoken_parts
from yuliu.text.language_spans import split_languages
from yuliu.text.sentences import SentenceCutter

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = Path(__file__).parents[1] / "data"
LOTS = (1, 2, 3, 4)
UNRIGHT_SPANS = {1: 0, 2: 0, 3: 1, 4: 1}
"""Japanese that touches Chinese without a mark: a verb's stem in kanji, and 大家 before みんな."""


@cache
def cases(name: str) -> list[dict[str, Any]]:
    lines = (DATA / f"blind_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def of_lot(name: str, lot: int) -> list[dict[str, Any]]:
    return [case for case in cases(name) if case["lot"] == lot]


def comparable(text: str) -> str:
    """Return the words without spaces, punctuation and "and"; a hyphen counts as a space."""
    return "".join(word for word in re.findall(r"\w+", text.lower().replace("'", "").replace("’", "")) if word != "and")


def spoken(text: str) -> str:
    return "".join(part.spoken for part in spoken_parts(fold(text).text))


def sentences(text: str, seed: int) -> list[str]:
    """Return the sentences of ``text`` cut into deltas of 1 to 7 characters, without surrounding white space."""
    draw = random.Random(seed)
    cutter = SentenceCutter()
    found: list[str] = []
    start = 0
    while start < len(text):
        length = draw.randint(1, 7)
        found += cutter.push(text[start : start + length])
        start += length
    return [sentence.strip() for sentence in found + cutter.flush() if sentence.strip()]


def joined(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the spans without white space and punctuation, with neighbours of one language joined."""
    found: list[tuple[str, str]] = []
    for text, lang in pairs:
        bare = "".join(char for char in text if unicodedata.category(char)[0] not in "ZP")
        if bare and found and found[-1][1] == lang:
            found[-1] = (found[-1][0] + bare, lang)
        elif bare:
            found.append((bare, lang))
    return found


@pytest.mark.parametrize("lot", LOTS)
def test_english_matches_blind_readings(lot: int) -> None:
    """Every case of the lot has one of the readings that were accepted before it was run."""
    wrong = [
        (case["text"], spoken(case["text"]))
        for case in of_lot("en", lot)
        if comparable(spoken(case["text"])) not in map(comparable, case["accepted"])
    ]
    assert wrong == []


@pytest.mark.parametrize("lot", LOTS)
def test_sentences_match_blind_segmentation(lot: int) -> None:
    """Every case of the lot gives one of its accepted lists of sentences, the same under any cutting."""
    wrong = []
    for case in of_lot("segments", lot):
        found = [sentences(case["text"], seed) for seed in range(20)]
        if found[0] not in [case["expected"], *case["also_accepted"]] or any(each != found[0] for each in found):
            wrong.append((case["text"], found[0]))
    assert wrong == []


@pytest.mark.parametrize("lot", LOTS)
def test_languages_match_blind_labels(lot: int) -> None:
    """The cases of the lot are split as labelled, except for the known failures."""
    wrong = []
    for case in of_lot("spans", lot):
        text = case["text"]
        accepted = [joined((part, lang) for part, lang in each) for each in all_accepted(case)]
        found = joined((text[one.span.start : one.span.end], one.name) for one in split_languages(text, ("zh", "en")))
        if found not in accepted:
            wrong.append((text, found))
    assert len(wrong) <= UNRIGHT_SPANS[lot], wrong


def all_accepted(case: dict[str, Any]) -> list[list[list[str]]]:
    return [case["expected"], *case.get("also_accepted", [])]
