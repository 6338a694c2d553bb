"""The table of other projects' faults names existing tests."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "design" / "others-faults.md").read_text(encoding="utf-8")
NUM_FAULTS = 94


def test_every_named_test_exists() -> None:
    """A row names the file, which is unique, and the test."""
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE))
    files = {path.name: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}
    assert [each for each in sorted(named) if f"def {each[1]}(" not in files.get(each[0], "")] == []
    assert len(named) > 60


def test_every_surveyed_fault_has_a_row() -> None:
    """Each row names a test, or the reason for having none."""
    rows = re.findall(r"^\| (\d[\d, ]*)", PAGE, re.MULTILINE)
    told = {int(number) for row in rows for number in re.findall(r"\d+", row)}
    assert set(range(1, NUM_FAULTS + 1)) - told == set()
