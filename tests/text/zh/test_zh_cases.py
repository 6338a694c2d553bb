"""The shared cases for Mandarin: spoken form, pronunciation, word boundaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from yuliu.text.zh import Mandarin
from yuliu.text.zh.words import segment

MANDARIN = Mandarin()
DATA = Path(__file__).parents[2] / "data"
CASES = [json.loads(line) for line in (DATA / "zh_cases.jsonl").read_text(encoding="utf-8").splitlines()]


def _cases(area: str) -> list[Any]:
    return [pytest.param(case, id=case["text"]) for case in CASES if case["area"] == area]


def _bare(spoken: str) -> str:
    return "".join(char for char in spoken.lower().replace("〇", "零") if char.isalnum())


def _syllables(text: str) -> list[str]:
    """Return the syllables with ``r`` apart: ``huar1`` is ``hua1 r``."""
    out = []
    for unit in MANDARIN.read(text).units:
        pinyin = unit.pinyin or ""
        rhotic = len(unit.phonemes) == 3
        out += [pinyin[:-2] + pinyin[-1], "r"] if rhotic else [pinyin]
    return out


@pytest.mark.parametrize("case", _cases("tn"))
def test_spoken_forms_match_accepted_readings(case: dict[str, Any]) -> None:
    """The spoken form is one of the accepted ones, punctuation and case aside."""
    accepted = case.get("accepted") or [case["expected"]]
    assert _bare(MANDARIN.read(case["text"]).spoken) in map(_bare, accepted)


@pytest.mark.parametrize("case", _cases("g2p"))
def test_characters_are_read_as_the_sentence_requires(case: dict[str, Any]) -> None:
    """Each named character has one of its right readings; where only citation tones are told, sandhi may have acted."""
    if isinstance(case["expected"], str):
        assert f" {case['expected']} " in f" {' '.join(_syllables(case['text']))} "
        return
    units = MANDARIN.read(case["text"]).units
    for place, _, readings in case["expected"]:
        heard = next(unit.pinyin for unit in units if unit.source.start <= place < unit.source.end)
        risen = {reading[:-1] + "2" for reading in readings if reading[-1] == "3"}
        assert heard in set(readings) | (risen if case["tone"] == "citation" else set())


def _boundaries(expected: str) -> tuple[set[int], set[int]]:
    """Return the required and the allowed boundaries."""
    wanted: set[int] = set()
    allowed: set[int] = set()
    at = 0
    for char in expected:
        if char == " ":
            wanted.add(at)
        elif char == "/":
            allowed.add(at)
        else:
            at += 1
    return wanted, allowed


def test_word_boundaries_are_mostly_right() -> None:
    """Of all cuts between words at most 1 % fall inside a word, and at least 95 % of the boundaries are found."""
    wrong = found = wanted_in_all = 0
    for case in CASES:
        if case["area"] != "wordseg":
            continue
        wanted, allowed = _boundaries(case["expected"])
        cuts, at = set(), 0
        for word in segment(case["text"]):
            at += len(word.text)
            cuts.add(at)
        cuts.discard(at)
        wrong += len(cuts - wanted - allowed)
        found += len(cuts & wanted)
        wanted_in_all += len(wanted)
    assert wrong <= wanted_in_all * 0.01
    assert found >= wanted_in_all * 0.95


_POLYPHONES = [
    line.split("\t")
    for line in (DATA / "zh_polyphones.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("marked", "readings"), _POLYPHONES, ids=[marked for marked, _ in _POLYPHONES])
def test_polyphones_follow_their_neighbours(marked: str, readings: str) -> None:
    """The character behind each asterisk has the expected reading."""
    units = MANDARIN.read(marked.replace("*", "")).units
    places = [at - marked[:at].count("*") for at, char in enumerate(marked) if char == "*"]
    for place, reading in zip(places, readings.split(), strict=True):
        heard = next(unit.pinyin for unit in units if unit.source.start <= place < unit.source.end)
        assert heard in (reading, reading[:-1] + "2" if reading[-1] == "3" else reading)
