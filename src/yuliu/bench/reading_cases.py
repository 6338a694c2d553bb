"""How much text is read right: written cases, checked from an explanation as an outsider would."""

from __future__ import annotations

import json
import random
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from yuliu.text.phrasing import cut_between_words
from yuliu.text.sentences import SentenceCutter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.explanation import Explainer, Explanation

Case = dict[str, Any]
CUTTINGS = 5
"""Random ways of cutting a text into deltas that are tried."""
HELD_BACK = 3
"""Characters at the end of arriving text behind which no cut is made, as the segmenter does."""


def written_cases() -> list[Case]:
    """The cases that come with Yuliu; docs/design/text-zh.md tells where they are from."""
    lines = (files(__package__) / "cases.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def rate(explainer: Explainer, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
    """For each area and language: how many cases, how many right, and the texts of those that are wrong."""
    found: dict[str, dict[str, Any]] = {}
    for case in cases:
        check = CHECKS.get(case["area"])
        if check is None:
            continue
        entry = found.setdefault(f"{case['area']} {case['lang']}", {"cases": 0, "right": 0, "wrong": []})
        entry["cases"] += 1
        if check(explainer, case):
            entry["right"] += 1
        else:
            entry["wrong"].append(case["text"])
    return found


def _tn(explainer: Explainer, case: Case) -> bool:
    heard = bare(" ".join(s.spoken for s in explainer.explain(case["text"], lang=case["lang"]).segments), case["lang"])
    return heard in {bare(wanted, case["lang"]) for wanted in case.get("accepted") or [case["expected"]]}


def bare(spoken: str, lang: str) -> str:
    """What is compared: no spaces and punctuation, one zero, lower case; in English no "and"."""
    text = spoken.lower().replace("〇", "零")
    if lang == "en":
        text = re.sub(r"\band\b", " ", text.replace("-", " "))
    return "".join(char for char in text if char.isalnum())


def _g2p(explainer: Explainer, case: Case) -> bool:
    explanation = explainer.explain(case["text"], lang="zh")
    if isinstance(case["expected"], str):
        return f" {case['expected']} " in f" {' '.join(reading for _, _, reading in _pinyin(explanation))} "
    heard = {place: reading for place, _, reading in _pinyin(explanation)}
    return all(heard.get(place) in _accepted(readings, case.get("tone", "")) for place, _, readings in case["expected"])


def _pinyin(explanation: Explanation) -> list[tuple[int, str, str]]:
    return [syllable for segment in explanation.segments for syllable in segment.pinyin]


def _accepted(readings: list[str], tone: str) -> set[str]:
    """Where only citation tones are told, a third tone may have risen to a second."""
    risen = {reading[:-1] + "2" for reading in readings if reading[-1] == "3"} if tone == "citation" else set()
    return set(readings) | risen


def _lid_span(explainer: Explainer, case: Case) -> bool:
    heard = [
        (bare(span.text, ""), span.lang)
        for segment in explainer.explain(case["text"]).segments
        for span in segment.spans
        if bare(span.text, "")
    ]
    return merged(heard) == merged([(bare(text, ""), lang) for text, lang in case["expected"]])


def merged(spans: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one language as one span: segments may part what is one span in the case."""
    out: list[tuple[str, str]] = []
    for text, lang in spans:
        if out and out[-1][1] == lang:
            out[-1] = (out[-1][0] + text, lang)
        else:
            out.append((text, lang))
    return out


def _segments(_: Explainer, case: Case) -> bool:
    accepted = [case["expected"], *case.get("also_accepted", [])]
    draw = random.Random(case["text"])  # noqa: S311 - the same cuttings at each run
    return all(_cut(case["text"], draw) in accepted for _ in range(CUTTINGS))


def _cut(text: str, draw: random.Random) -> list[str]:
    cutter, sentences, at = SentenceCutter(), [], 0
    while at < len(text):
        size = draw.randint(1, 5)
        sentences += cutter.push(text[at : at + size])
        at += size
    return [sentence.strip() for sentence in [*sentences, *cutter.flush()]]


def _wordseg(_: Explainer, case: Case) -> bool:
    """Wherever the text must be cut, the cut is at a word boundary."""
    text, allowed = _boundaries(case["expected"])
    cuts = [cut_between_words(text[:end], earliest=1, latest=end - HELD_BACK) for end in range(HELD_BACK, len(text))]
    return all(cut is None or cut in allowed for cut in cuts)


def _boundaries(expected: str) -> tuple[str, set[int]]:
    places, text = {0}, ""
    for char in expected:
        if char in " /":
            places.add(len(text))
        else:
            text += char
    return text, places | {len(text)}


CHECKS: dict[str, Callable[[Explainer, Case], bool]] = {
    "tn": _tn,
    "g2p": _g2p,
    "lid_span": _lid_span,
    "segment_stream": _segments,
    "wordseg": _wordseg,
}
"""By area. The area ``lid`` asks for the language of whole strings, which nothing here needs."""
