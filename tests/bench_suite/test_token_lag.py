"""Lag of the audio behind a text that is being written, on made-up clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.endpoints.token_lag import (
    AudioPiece,
    PartStart,
    SegmentTimes,
    SendTimes,
    TokenLag,
    completion_times,
    token_lag,
)
from yuliu.explanation import Explainer, TimedDelta
from yuliu.types import Span

RATE = 100.0
"""Bytes in a second."""
TOKENS = ("aaaa", "bbbb", "cccc")
SENT = SendTimes((0.0, 1.0, 2.0), 2.5, 0.5)
EXPECTED = [(Span(0, 4), 1.0), (Span(4, 12), 2.5)]


def lag(starts: list[PartStart], audio: list[AudioPiece]) -> TokenLag:
    return token_lag(TOKENS, SENT, EXPECTED, starts, audio, bytes_per_s=RATE)


def lag_of(*moments: tuple[float, float]) -> TokenLag:
    return TokenLag(tuple(SegmentTimes(*each) for each in moments), 0, 0.0, 0.0)


def test_a_wait_is_from_the_last_needed_character_to_the_first_audio() -> None:
    """The languages of a segment count as one."""
    starts = [PartStart(Span(0, 4), 1.25), PartStart(Span(4, 6), 2.75), PartStart(Span(6, 12), 9.0)]
    assert [segment.wait_s for segment in lag(starts, []).segments] == [0.25, 0.25]


def test_two_segments_that_are_complete_at_once_are_two() -> None:
    """This happens at the end of a text."""
    both = [(Span(0, 4), 2.5), (Span(4, 12), 2.5)]
    starts = [PartStart(Span(0, 4), 3.0), PartStart(Span(4, 12), 4.0)]
    found = token_lag(TOKENS, SENT, both, starts, [], bytes_per_s=RATE)
    assert [segment.wait_s for segment in found.segments] == [0.5, 1.5]
    assert found.num_behind == 1


def test_audio_that_starts_before_the_next_segment_is_complete_is_one_behind() -> None:
    """The segment that was just written is the one."""
    assert lag_of((1.0, 1.5), (2.0, 2.5), (3.0, 3.5)).num_behind == 1
    assert lag_of().num_behind == 0


def test_each_segment_that_waits_meanwhile_is_one_more() -> None:
    """The worst moment counts."""
    assert lag_of((1.0, 2.1), (2.0, 2.2), (3.0, 3.1)).num_behind == 2
    assert lag_of((1.0, 3.1), (2.0, 3.2), (3.0, 3.3), (4.0, 4.1)).num_behind == 3


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), max_size=8))
def test_behind_agrees_with_a_naive_count(drawn: list[tuple[float, float]]) -> None:
    """At each completion, count the earlier complete segments that have not started."""
    moments = [(complete_s, complete_s + wait_s) for complete_s, wait_s in drawn]
    behind = 0
    for now, _ in moments:
        waiting = [1 for complete_s, start_s in moments if complete_s < now and not start_s <= now]
        behind = max(behind, 1 + len(waiting))
    assert lag_of(*moments).num_behind == behind


def test_silence_that_began_after_the_text_was_there_is_an_underrun() -> None:
    """The segment was complete at 1.0, the player ran dry at 2.25 and resumed at 3.0."""
    starts = [PartStart(Span(0, 4), 1.25)]
    found = lag(starts, [AudioPiece(1.25, 100, 1), AudioPiece(3.0, 50, 1)])
    assert (found.underrun_s, found.silence_s) == (0.75, 0.75)


def test_silence_for_lack_of_text_is_not_an_underrun() -> None:
    """Dry at 1.75, text at 2.5, audio at 2.75: the time after the text was there is reported separately."""
    starts = [PartStart(Span(0, 4), 1.25), PartStart(Span(4, 12), 2.75)]
    found = lag(starts, [AudioPiece(1.25, 50, 1), AudioPiece(2.75, 50, 2)])
    assert (found.underrun_s, found.silence_s) == (0.0, 0.25)


def test_a_late_pause_belongs_to_the_next_segment() -> None:
    """It is made with that segment's audio, so it waits for that segment's text."""
    starts = [PartStart(Span(0, 4), 1.25), PartStart(Span(4, 12), 2.75)]
    audio = [AudioPiece(1.25, 50, 1), AudioPiece(2.75, 10, 2), AudioPiece(2.75, 50, 2)]
    assert lag(starts, audio).underrun_s == 0.0


def test_an_unexpected_cut_counts_from_the_end_of_its_text() -> None:
    """That is the earlier time, so nothing looks better for it; the cut is counted, too."""
    found = lag([PartStart(Span(0, 8), 1.5), PartStart(Span(8, 12), 2.25)], [])
    assert found.num_unexpected == 2
    assert [segment.wait_s for segment in found.segments] == [0.5, 0.25]


def test_completion_times_depend_on_what_completed_the_segment() -> None:
    """That is the next token, a pause of the writer, or the end of the text."""
    texts = ["One two three four five. ", "Six seven", " eight nine. ", "Ten."]
    arrivals = [TimedDelta(text, at_s) for text, at_s in zip(texts, (0.0, 0.1, 2.0, 2.1), strict=True)]
    explanation = Explainer().follow(arrivals)
    sent = SendTimes((10.0, 11.0, 12.0, 13.0), 14.0, 0.5)
    found = completion_times(explanation, sent)
    by = [segment.emitted.by for segment in explanation.segments if segment.emitted]
    assert set(by) == {"text", "stall", "end"}
    for (_, at_s), segment in zip(found, explanation.segments, strict=True):
        assert segment.emitted is not None
        sent_s = sent.tokens_s[segment.emitted.delta]
        assert at_s == pytest.approx({"text": sent_s, "stall": sent_s + 0.5, "end": 14.0}[segment.emitted.by])
