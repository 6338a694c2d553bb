"""What people are told of the characters that were not spoken."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from yuliu.cli.console.terminal import count

if TYPE_CHECKING:
    from yuliu.types import Coverage

UNREMARKABLE_RULES = {"whitespace", "punctuation"}
"""Rules that leave out what nobody says aloud: not worth a word."""


def nothing_was_spoken(coverage: Coverage | None) -> str:
    """Why there is no sound."""
    unsaid = left_out(coverage) if coverage else ""
    reason = f"was left out: {unsaid}" if unsaid else "is empty, or holds nothing that the voice can say"
    return f"nothing was spoken: the text {reason}"


def left_out(coverage: Coverage) -> str:
    """``15 characters (12 language_not_spoken, 3 symbol)``; empty if nothing worth a word was left out."""
    by_rule: Counter[str] = Counter()
    for skip in coverage.skipped:
        if skip.rule not in UNREMARKABLE_RULES:
            by_rule[skip.rule] += skip.source.end - skip.source.start
    if not by_rule:
        return ""
    rules = ", ".join(f"{number:,} {rule}" for rule, number in by_rule.most_common())
    return f"{count(by_rule.total(), 'character')} ({rules})"
