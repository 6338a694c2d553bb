"""Data of the suite: whole articles, written cases, and texts as language models wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
WrittenCase = dict[str, Any]
"""A text and its expected reading; docs/design/text-zh.md names the sources."""


def articles() -> dict[str, str]:
    """Return the articles by name; each name begins with the language."""
    return {path.stem: path.read_text("utf-8") for path in sorted((DATA / "articles").glob("*.txt"))}


def written_cases() -> list[WrittenCase]:
    """Return the cases with known readings."""
    return _json_lines("cases.jsonl")


def token_streams() -> list[dict[str, Any]]:
    """Return texts as a language model wrote them, with the time between their deltas."""
    return _json_lines("token_streams.jsonl")


def _json_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
