"""Readings of numbers, dates, money and the rest, measured on written cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from yuliu.text.en.fold import fold
from yuliu.text.en.spoken_form import spoken_parts

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[2] / "data"
CASES = [json.loads(line) for line in (DATA / "text_en_spoken.jsonl").read_text(encoding="utf-8").splitlines()]
KINDS = [line.split("\t") for line in (DATA / "text_en_kinds.tsv").read_text(encoding="utf-8").splitlines()]
ACCEPTED = [line.split("\t") for line in (DATA / "text_en_accepted.tsv").read_text(encoding="utf-8").splitlines()]
"""Text, then all readings that are right; written before they were first run."""

MISREAD_ELSEWHERE = {
    "Born 2024-05-17.": "Born May seventeenth, twenty twenty four.",
    "Call 555-1234 now.": "Call five five five, one two three four now.",
    "1,984 people": "one thousand nine hundred eighty four people",
    "Room 1805": "Room eighteen oh five",
    "-$5.50": "minus five dollars and fifty cents",
    "$3.999": "three point nine nine nine dollars",
    "$1.05": "one dollar and five cents",
    "2^10": "two to the power of ten",
    "3*4=12": "three times four equals twelve",
    "~5": "about five",
    "x<y": "x less than y",
    "1/2 cup": "one half cup",
    "5°C": "five degrees Celsius",
    "C#": "C sharp",
    "v2.0.1": "version two point zero point one",
    "1e-5": "one times ten to the minus five",
    "COVID-19": "COVID nineteen",
    "24/7": "twenty four seven",
    "2,5": "two point five",
    "1.000,50": "one thousand point five zero",
    "90's": "nineties",
    "http://h:8880/v1": "H colon eight eight eight zero slash V one",
    "MR. T": "Mister T",
    "World War II": "World War two",
    "No. 5": "Number five",
    "St. Louis": "Saint Louis",
    "the 1990s": "the nineteen nineties",
    "5 mW": "five milliwatts",
    "500 mA": "five hundred milliamps",
    "120 mV": "one hundred twenty millivolts",
    "5 in the morning": "five in the morning",
    "3 a day": "three a day",
    "5 min": "five minutes",
    "Pi is 3.14.": "Pi is three point one four.",
    "$1,000.50": "one thousand dollars and fifty cents",
    "007": "zero zero seven",
    "1st": "first",
    "GPT-4.1, Python 3.12": "GPT four point one, Python three point twelve",
    "approx. 5 dollars vs. 6 dollars": "approximately five dollars versus six dollars",
    "example.ai": "example dot AI",
    "v1.2.3 was released on Jan. 5 this year": (
        "version one point two point three was released on January fifth this year"
    ),
    "Prof. Lee": "Professor Lee",
    "a small group)—and then we left": "a small group)—and then we left",
    "Panasonic and Wozniak": "Panasonic and Wozniak",
    "Pan Am Constellation": "Pan Am Constellation",
    "th' old": "the old",
    "(Nvidia or other), etc. Next one.": "(Nvidia or other), et cetera. Next one.",
    "40-60°C": "forty to sixty degrees Celsius",
    "$100 after 9:30PM": "one hundred dollars after nine thirty PM",
    "**bold**": "bold",
    "**Arg #1**": "Arg number one",
    "*sigh*": "sigh",
    "at exactly 12pm on November 29th, 2024!": "at exactly twelve PM on November twenty ninth, twenty twenty four!",
    "98.6°F is normal.": "ninety eight point six degrees Fahrenheit is normal.",
    "Dr. Smith": "Doctor Smith",
    "example.com": "example dot com",
    "1,000": "one thousand",
    "1.234.567 euro": "one million two hundred thirty four thousand five hundred sixty seven euro",
    "$500": "five hundred dollars",
    "Jr.": "Junior.",
    "Mr Smith": "Mister Smith",
    "zip 90210": "zip nine zero two one zero",
    "in 1908 and 1920": "in nineteen oh eight and nineteen twenty",
    "705A and 121B": "seven oh five A and one twenty one B",
    "5 ml, 5 mmHg, 5 V": "five milliliters, five millimeters of mercury, five volts",
    "$3.5 for small": "three point five dollars for small",
}


def spoken(text: str) -> str:
    return " ".join("".join(part.spoken for part in spoken_parts(fold(text).text)).split())


def comparable(text: str) -> str:
    """Return the words without spaces, punctuation and "and"; a hyphen counts as a space."""
    return re.sub(r"\W", "", re.sub(r"\band\b", " ", text.lower().replace("-", " ")))


def test_share_of_cases_right(record_property: Callable[[str, object], None]) -> None:
    """At least 98 of 100 cases match the written reading."""
    wrong = [
        case["text"]
        for case in CASES
        if comparable(spoken(case["text"])) not in map(comparable, case.get("accepted") or [case["expected"]])
    ]
    record_property("spoken_form_en", f"{len(CASES) - len(wrong)}/{len(CASES)}")
    assert len(wrong) <= 0.02 * len(CASES), wrong


@pytest.mark.parametrize("case", ACCEPTED, ids=[case[0] for case in ACCEPTED])
def test_any_accepted_reading_passes(case: list[str]) -> None:
    """The reading is one of those that people accept."""
    text, *accepted = case
    assert comparable(spoken(text)) in map(comparable, accepted)


@pytest.mark.parametrize(("text", "said"), KINDS, ids=[text for text, _ in KINDS])
def test_each_kind_of_expression_is_read_idiomatically(text: str, said: str) -> None:
    """Every kind of number, name and mark."""
    assert spoken(text) == said


@pytest.mark.parametrize(("text", "said"), MISREAD_ELSEWHERE.items(), ids=list(MISREAD_ELSEWHERE))
def test_texts_that_other_servers_misread(text: str, said: str) -> None:
    """Texts from the bug reports of other speech servers are read correctly."""
    assert spoken(text) == said
