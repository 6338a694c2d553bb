"""Tests of the parts of the time to the first packet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.metrics.report import UNDERRUN_S, StreamMoments, StreamReport
from yuliu.types import StreamClass

TIMES = st.floats(0, 100)
MOMENTS = st.builds(
    StreamMoments,
    **dict.fromkeys(
        ("first_text_s", "admitted_s", "segment_s", "plan_began_s", "planned_s", "made_s", "sent_s"), st.none() | TIMES
    ),
    ended_s=TIMES,
)


def test_each_part_ends_with_its_stage() -> None:
    """The stream was opened with its text, queued and spoken."""
    moments = StreamMoments(
        first_text_s=0.0,
        segment_s=0.001,
        admitted_s=0.2,
        plan_began_s=0.25,
        planned_s=0.29,
        made_s=0.31,
        sent_s=0.312,
        ended_s=1.0,
    )
    assert moments.parts(0.01) == pytest.approx(
        {
            "wait_for_text": 0.001,
            "queue": 0.249,
            "front_end": 0.01,
            "plan": 0.03,
            "first_step": 0.02,
            "transport": 0.002,
        }
    )
    assert moments.ttfp_s() == pytest.approx(0.311)


def test_the_queue_before_the_text_counts_as_queue() -> None:
    """The admission is no wait for text, in either order."""
    moments = StreamMoments(
        admitted_s=0.5, segment_s=2.0, plan_began_s=2.1, planned_s=2.2, made_s=2.3, sent_s=2.3, ended_s=3
    )
    parts = moments.parts()
    assert parts["queue"] == pytest.approx(0.6)
    assert parts["wait_for_text"] == pytest.approx(1.5)
    assert moments.ttfp_s() == pytest.approx(0.8)


def test_cached_audio_has_no_plan() -> None:
    """The time until it was found counts as queue."""
    parts = StreamMoments(admitted_s=0.1, segment_s=0.0, made_s=0.11, sent_s=0.12, ended_s=1.0).parts()
    assert (parts["plan"], parts["first_step"]) == (0.0, 0.0)
    assert parts["queue"] == pytest.approx(0.11)
    assert parts["transport"] == pytest.approx(0.01)


def test_without_audio_there_are_no_parts() -> None:
    """The stream was cancelled before its first audio."""
    moments = StreamMoments(segment_s=0.0, ended_s=0.2)
    assert moments.parts() == {}
    assert moments.ttfp_s() is None


@given(MOMENTS, TIMES)
def test_parts_add_up(moments: StreamMoments, front_end_s: float) -> None:
    """For stages in any order, no part is negative, and the sum is the time of the first packet."""
    parts = moments.parts(front_end_s)
    assert all(part >= 0 for part in parts.values())
    assert sum(parts.values()) == pytest.approx(moments.sent_s or 0.0, abs=1e-9)


@pytest.mark.parametrize(("underrun_s", "heard"), [(0.0, False), (UNDERRUN_S / 2, False), (UNDERRUN_S, True)])
def test_a_short_underrun_is_inaudible(underrun_s: float, heard: bool) -> None:
    """Less than 10 ms in total does not count."""
    report = StreamReport(
        stream_id="a",
        stream_class=StreamClass.BULK,
        voice="tone",
        door="speech",
        outcome="finished",
        began_at_s=0.0,
        moments=StreamMoments(ended_s=1.0),
        underrun_s=underrun_s,
    )
    assert report.had_underrun is heard
