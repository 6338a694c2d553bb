"""The table of others' faults names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "design" / "others-faults.md").read_text(encoding="utf-8")
NUM_FAULTS = 94


def test_every_test_named_exists() -> None:
    """By the name of its file, which is unique, and its own."""
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE))
    files = {path.name: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}
    assert [each for each in sorted(named) if f"def {each[1]}(" not in files.get(each[0], "")] == []
    assert len(named) > 60


def test_every_fault_of_the_survey_has_its_line() -> None:
    """With a test, or with the reason why there is none."""
    rows = re.findall(r"^\| (\d[\d, ]*)", PAGE, re.MULTILINE)
    told = {int(number) for row in rows for number in re.findall(r"\d+", row)}
    assert set(range(1, NUM_FAULTS + 1)) - told == set()
