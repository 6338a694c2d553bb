"""Cases written before their readings were seen, checked from explanations as an outsider would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.reading_cases import rate_cases
from yuliu.explanation import Explainer

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "blind_zh.jsonl").read_text(encoding="utf-8").splitlines()
]
RATES = rate_cases(Explainer(), CASES)
REACHED = {"tn zh": 0.99, "g2p zh": 0.99, "wordseg zh": 1.0, "lid_span mixed": 1.0}
"""After the faults that the lots showed were repaired; docs/design/text-zh.md tells the rates of the first runs."""


def test_every_area_is_rated() -> None:
    """Each case has a checker."""
    assert {area: found["cases"] for area, found in RATES.items()} == {
        area: sum(f"{case['area']} {case['lang']}" == area for case in CASES) for area in REACHED
    }
    assert len(CASES) == sum(found["cases"] for found in RATES.values())


@pytest.mark.parametrize("area", REACHED)
def test_the_accuracy_does_not_fall(area: str) -> None:
    """The share of correct cases of each area stays at least as high as recorded."""
    found = RATES[area]
    assert found["right"] >= REACHED[area] * found["cases"], found["wrong"]
