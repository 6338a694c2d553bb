"""How numbers, dates, money and the rest are said, measured on written cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from yuliu.text.en.fold import fold
from yuliu.text.en.spoken_form import spoken_parts

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "text_en_spoken.jsonl").read_text(encoding="utf-8").splitlines()
]


def spoken(text: str) -> str:
    return "".join(part.spoken for part in spoken_parts(fold(text).text))


def comparable(text: str) -> str:
    """Without spaces, punctuation and "and"; a hyphen counts as a space."""
    return re.sub(r"\W", "", re.sub(r"\band\b", " ", text.lower().replace("-", " ")))


def test_share_of_cases_right(record_property: Callable[[str, object], None]) -> None:
    """At least 98 in 100 of the cases are said as written down for them."""
    wrong = [
        case["text"]
        for case in CASES
        if comparable(spoken(case["text"])) not in map(comparable, case.get("accepted") or [case["expected"]])
    ]
    record_property("spoken_form_en", f"{len(CASES) - len(wrong)}/{len(CASES)}")
    assert len(wrong) <= 0.02 * len(CASES), wrong
