"""Tests of the timeline: times by table, underruns against a naive player, reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.stream.timeline import Caller, ReportFacts, Timeline, TimelineRecorder, report_of
from yuliu.types import Cancelled, Coverage, Failed, Finished, StreamClass

if TYPE_CHECKING:
    from yuliu.types import Ending


def test_a_timeline_keeps_the_first_times() -> None:
    """Later segments and audio do not change them."""
    trace = TimelineRecorder(100.0)
    trace.text(100.5)
    trace.admitted(101.0)
    trace.text(101.5)
    for at_s in (102.0, 110.0):
        trace.segment(at_s)
        trace.planned(at_s + 1.0, 0.4, 0.1)
        trace.made(at_s + 2.0, 0.25)
        trace.taken(at_s + 2.5, 1.0, there_at_s=at_s + 2.5, text_at_s=at_s)
        trace.segment_made(cached=at_s > 105, num_retries=1)
    trace.ended(120.0)
    assert trace.line == Timeline(
        opened_at_s=100.0,
        first_text_at_s=100.5,
        admitted_at_s=101.0,
        first_segment_at_s=102.0,
        plan_began_at_s=102.6,
        planned_at_s=103.0,
        step_began_at_s=103.75,
        made_at_s=104.0,
        taken_at_s=104.5,
        last_taken_at_s=112.5,
        ended_at_s=120.0,
        front_end_s=0.1,
        underrun_s=2.5,  # the player ran dry at 105.5, but the text came at 110
        longest_gap_s=8.0,
        num_segments=2,
        num_cached_segments=1,
        num_retries=2,
    )


def test_the_time_to_the_first_packet_has_parts() -> None:
    """The parts add up to the time since the opening, and the wait for text is one of them."""
    line = Timeline(
        opened_at_s=50.0,
        admitted_at_s=50.25,
        first_text_at_s=50.5,
        first_segment_at_s=51.0,
        plan_began_at_s=51.5,
        planned_at_s=51.75,
        made_at_s=52.0,
        taken_at_s=52.125,
        front_end_s=0.125,
    )
    assert line.parts == {
        "wait_for_text": 0.75,
        "queue": 0.75,
        "front_end": 0.125,
        "plan": 0.125,
        "first_step": 0.25,
        "transport": 0.125,
    }
    assert line.ttfp_s == 1.375
    assert Timeline(opened_at_s=50.0).ttfp_s is None
    assert Timeline(opened_at_s=50.0).moments.ended_s == 0.0


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(0, 30), st.booleans()), min_size=1, max_size=20
    )
)
def test_underruns_are_those_of_a_player(chunks: list[tuple[int, int, int, bool]]) -> None:
    """A simulated player is silent when it has no audio while there is text to speak."""
    playing: list[tuple[int, int, int]] = []
    trace, at, text_at = TimelineRecorder(0.0), 0, 0
    for gap, length, text_lag, sound in chunks:
        at += gap
        text_at = max(text_at, at - text_lag)
        trace.taken(at, length, there_at_s=at, text_at_s=text_at, sound=sound)
        if playing or sound:
            playing.append((at, length, text_at))
    silent = left = 0
    for now in range(at + 1):
        for begin, length, _ in playing:
            if begin == now:
                left += length
        awaited = [text_at for begin, _, text_at in playing[1:] if begin > now]
        if left:
            left -= 1
        elif playing and playing[0][0] <= now and awaited and awaited[0] <= now:
            silent += 1
    assert trace.line.underrun_s == pytest.approx(silent)


def test_a_chunk_that_waited_for_its_reader_is_no_underrun() -> None:
    """A reader that takes chunks as it plays them causes its own delay."""
    trace = TimelineRecorder(0.0)
    for number in range(10):
        trace.taken(number * 1.01, 1.0, there_at_s=0.0, text_at_s=0.0)
    assert trace.line.underrun_s == 0.0
    assert trace.line.longest_gap_s == pytest.approx(1.01)


FACTS = ReportFacts(
    stream_class=StreamClass.BULK, voice="tone", began_at_s=7.0, delivered_s=1.5, num_characters=9, num_bytes=100
)


@pytest.mark.parametrize(
    ("admitted_at_s", "ending", "outcome", "code"),
    [
        (101.0, Finished(Coverage(), 1.5, degraded=True), "finished", ""),
        (101.0, Cancelled(degraded=True), "cancelled", ""),
        (101.0, Failed("timeout", "too late", degraded=True), "failed", "timeout"),
        (101.0, Failed("overloaded", "too many", degraded=True), "failed", "overloaded"),
        (None, Failed("overloaded", "too many", degraded=True), "rejected", "overloaded"),
        (None, Failed("closed", "gone", degraded=True), "failed", "closed"),
    ],
)
def test_a_report_combines_timeline_ending_and_facts(
    admitted_at_s: float | None, ending: Ending, outcome: str, code: str
) -> None:
    """Only a stream that was never admitted is rejected."""
    caller = Caller("speech", "id-7", "00-trace")
    timeline = Timeline(opened_at_s=100.0, admitted_at_s=admitted_at_s, ended_at_s=103.0, num_segments=2, num_retries=1)
    report = report_of(timeline, ending, caller, FACTS)
    assert (report.outcome, report.code, report.degraded) == (outcome, code, True)
    assert (report.stream_id, report.door, report.trace_parent) == ("id-7", "speech", "00-trace")
    assert (report.voice, report.stream_class, report.began_at_s) == ("tone", StreamClass.BULK, 7.0)
    assert (report.audio_s, report.num_characters, report.num_bytes) == (1.5, 9, 100)
    assert (report.num_segments, report.num_retries, report.moments) == (2, 1, timeline.moments)
