"""Message values: their repr and their errors."""

from __future__ import annotations

from yuliu.errors import Overloaded
from yuliu.types import Coverage, Failed, Span
from yuliu.wire.native.messages import SegmentBegun, Start, TextDelta, Timings, failure_of


def test_text_is_not_in_the_repr() -> None:
    """Text cannot reach a log through a printed message."""
    shown = [
        repr(TextDelta("a", "secret")),
        repr(SegmentBegun("a", 1, 0, 6, 0.0, "secret")),
        repr(Timings("a", 1, (("secret", 0.0, 1.0, 0, 6),))),
        repr(Start("a", "secret voice")),
    ]
    assert ["secret" in each for each in shown] == [False, False, False, True]


def test_a_failure_reports_the_error_and_the_end_of_the_stream() -> None:
    """It holds the spoken spans and the delay before a retry."""
    ending = Failed("overloaded", "later", Coverage(spoken=(Span(0, 2),)), audio_s=0.5)
    failure = failure_of(Overloaded("later", retry_after_s=2.0), ends="context", context="a", ending=ending)
    assert (failure.code, failure.retry_after_s, failure.audio_ms) == ("overloaded", 2.0, 500.0)
    assert failure.coverage == ending.coverage
