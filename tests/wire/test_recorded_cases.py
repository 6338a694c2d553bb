"""Recorded requests and messages are still read as they were when they were recorded."""

from __future__ import annotations

import pytest
from recorded_cases import CASES, READERS, outcome


@pytest.mark.parametrize("kind", READERS)
def test_recorded_documents_have_the_recorded_outcome(kind: str) -> None:
    """Acceptance, code and field stay the same from version to version."""
    cases = [(text, expected) for each, text, expected in CASES if each == kind]
    assert len(cases) >= 30
    assert {text: outcome(kind, text) for text, _ in cases} == dict(cases)
