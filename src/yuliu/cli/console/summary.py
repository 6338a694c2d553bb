"""Summary of a spoken text: its duration, and the characters that were not spoken."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from yuliu.cli.console.terminal import count, duration, is_terminal

if TYPE_CHECKING:
    from yuliu.cli.audio_io.speech_options import SpeechOptions
    from yuliu.types import Coverage

SILENT_RULES = {"whitespace", "punctuation"}
"""Rules for characters that are never spoken, and so are not reported."""


def print_summary(options: SpeechOptions, audio_s: float, coverage: Coverage | None, *, pace: str = "") -> None:
    """Report the audio written to a file, and the characters that were not spoken.

    Args:
        options: Options of the command.
        audio_s: Duration of the audio, seconds.
        coverage: Coverage of the text, if known.
        pace: Added to the duration.
    """
    if options.quiet:
        return
    if options.is_written and is_terminal(sys.stderr):
        click.echo(f"{options.output}: {duration(audio_s)} of audio{pace}", err=True)
    if coverage and (unspoken := skipped(coverage)):
        click.echo(f"yuliu: not spoken: {unspoken}", err=True)


def nothing_was_spoken(coverage: Coverage | None) -> str:
    """Return the reason why there is no audio."""
    unspoken = skipped(coverage) if coverage else ""
    reason = f"the text was skipped: {unspoken}" if unspoken else "the text has nothing that the voice can speak"
    return f"nothing was spoken: {reason}"


def skipped(coverage: Coverage) -> str:
    """Return ``15 characters (12 language_not_spoken, 3 symbol)``, or an empty string."""
    by_rule: Counter[str] = Counter()
    for skip in coverage.skipped:
        if skip.rule not in SILENT_RULES:
            by_rule[skip.rule] += skip.source.end - skip.source.start
    if not by_rule:
        return ""
    rules = ", ".join(f"{number:,} {rule}" for rule, number in by_rule.most_common())
    return f"{count(by_rule.total(), 'character')} ({rules})"
