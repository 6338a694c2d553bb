"""Share of the written cases that are read right, checked from the explanation of a text."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

from yuliu.text.phrasing import cut_between_words
from yuliu.text.sentences import SentenceCutter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.corpus import WrittenCase
    from yuliu.explanation import Explainer, Explanation

NUM_CUTTINGS = 5
"""Number of random ways in which a text is cut into deltas."""
HELD_BACK = 3
"""Characters at the end of arriving text after which no cut is made, as in the segmenter."""


def rate_cases(explainer: Explainer, cases: Sequence[WrittenCase]) -> dict[str, dict[str, Any]]:
    """Return for each area and language the number of cases, of right ones, and the texts of the wrong ones."""
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


def _tn(explainer: Explainer, case: WrittenCase) -> bool:
    spoken = normalised(
        " ".join(s.spoken for s in explainer.explain(case["text"], lang=case["lang"]).segments), case["lang"]
    )
    return spoken in {normalised(accepted, case["lang"]) for accepted in case.get("accepted") or [case["expected"]]}


def normalised(spoken: str, lang: str) -> str:
    """Normalise a reading for comparison: no spaces or punctuation, one zero, lower case; in English no "and"."""
    text = spoken.lower().replace("〇", "零")
    if lang == "en":
        text = re.sub(r"\band\b", " ", text.replace("-", " "))
    return "".join(char for char in text if char.isalnum())


def _g2p(explainer: Explainer, case: WrittenCase) -> bool:
    explanation = explainer.explain(case["text"], lang="zh")
    if isinstance(case["expected"], str):
        return f" {case['expected']} " in f" {' '.join(reading for _, _, reading in _pinyin(explanation))} "
    heard = {place: reading for place, _, reading in _pinyin(explanation)}
    return all(heard.get(place) in _accepted(readings, case.get("tone", "")) for place, _, readings in case["expected"])


def _pinyin(explanation: Explanation) -> list[tuple[int, str, str]]:
    return [syllable for segment in explanation.segments for syllable in segment.pinyin]


def _accepted(readings: list[str], tone: str) -> set[str]:
    """Return the accepted readings: given only citation tones, a third tone may have risen to a second."""
    risen = {reading[:-1] + "2" for reading in readings if reading[-1] == "3"} if tone == "citation" else set()
    return set(readings) | risen


def _lid_span(explainer: Explainer, case: WrittenCase) -> bool:
    heard = [
        (normalised(span.text, ""), span.lang)
        for segment in explainer.explain(case["text"]).segments
        for span in segment.spans
        if normalised(span.text, "")
    ]
    return merged(heard) == merged([(normalised(text, ""), lang) for text, lang in case["expected"]])


def merged(spans: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Merge neighbours of one language: segments may split a span of the case."""
    out: list[tuple[str, str]] = []
    for text, lang in spans:
        if out and out[-1][1] == lang:
            out[-1] = (out[-1][0] + text, lang)
        else:
            out.append((text, lang))
    return out


def _segments(_: Explainer, case: WrittenCase) -> bool:
    accepted = [case["expected"], *case.get("also_accepted", [])]
    draw = random.Random(case["text"])  # noqa: S311 - the same cuttings at each run
    return all(_cut(case["text"], draw) in accepted for _ in range(NUM_CUTTINGS))


def _cut(text: str, draw: random.Random) -> list[str]:
    cutter, sentences, at = SentenceCutter(), [], 0
    while at < len(text):
        size = draw.randint(1, 5)
        sentences += cutter.push(text[at : at + size])
        at += size
    return [sentence.strip() for sentence in [*sentences, *cutter.flush()]]


def _wordseg(_: Explainer, case: WrittenCase) -> bool:
    """Check that each forced cut is at a word boundary."""
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


CHECKS: dict[str, Callable[[Explainer, WrittenCase], bool]] = {
    "tn": _tn,
    "g2p": _g2p,
    "lid_span": _lid_span,
    "segment_stream": _segments,
    "wordseg": _wordseg,
}
"""Checks by area. The area ``lid`` asks for the language of whole strings, which nothing here needs."""
