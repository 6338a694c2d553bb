"""Tests of the position of the listener, against a naive model, and of its memory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.stream.playback import MAX_PLACES, PlaybackTracker, SparseTrack
from yuliu.types import Chunk, Heard, Span, Timing

RATE = 1000


def chunk(start_s: float, length_s: float, timings: list[tuple[float, float, int]]) -> Chunk:
    units = tuple(Timing(Span(end - 1, end), "x", begin_s, end_s) for begin_s, end_s, end in timings)
    return Chunk(np.zeros(round(length_s * RATE), np.float32), RATE, start_s, Span(0, 0), units)


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 20)), min_size=1, max_size=30),
    st.lists(st.integers(0, 2000), min_size=1, max_size=8),
)
def test_heard_text_ends_with_the_last_unit_that_had_begun(parts: list[tuple[int, int]], positions: list[int]) -> None:
    """Played audio excludes the pauses before the position."""
    hearing, at, units, pauses = PlaybackTracker(), 0, [], []
    for number, (sound, pause) in enumerate(parts):
        begins = at + sound // 2
        units.append((begins, number + 1))
        hearing.deliver(chunk(at / 100, sound / 100, [(begins / 100, (at + sound) / 100, number + 1)]), made=True)
        at += sound
        if pause:
            hearing.deliver(chunk(at / 100, pause / 100, []), made=False)
            pauses.append((at + pause, pause))
            at += pause
    assert hearing.delivered_s == pytest.approx(at / 100)
    furthest = 0
    for position in positions:
        furthest = max(furthest, min(position, at))
        made_s = hearing.played(position / 100 + 1e-9)
        over = sum(pause for end, pause in pauses if end <= furthest)
        assert made_s == pytest.approx((furthest - over) / 100, abs=1e-6)
        heard = hearing.heard()
        assert heard is not None
        assert heard.heard_s == pytest.approx(furthest / 100, abs=1e-6)
        assert heard.source_end == max([end for begins, end in units if begins <= furthest], default=0)


def test_nothing_is_known_before_a_position_is_reported() -> None:
    """Audio that was taken may not have been played."""
    hearing = PlaybackTracker()
    hearing.deliver(chunk(0.0, 1.0, [(0.0, 0.5, 3)]), made=True)
    assert hearing.heard() is None
    hearing.played(0.0)
    assert hearing.heard() == Heard(0.0, 3)


@pytest.mark.parametrize("position_s", [-0.1, math.inf, math.nan])
def test_an_invalid_position_is_rejected(position_s: float) -> None:
    """It changes nothing."""
    hearing = PlaybackTracker()
    with pytest.raises(InvalidRequest) as error:
        hearing.played(position_s)
    assert error.value.param == "position_s"
    assert hearing.heard() is None


def test_a_track_is_bounded_and_never_too_high() -> None:
    """Of a hundred thousand places the newest are all kept, and older values are never too high."""
    track = SparseTrack()
    for place in range(100_000):
        track.add(float(place), place + 1)
        assert len(track) <= MAX_PLACES
    assert all(track.at(place) == place + 1 for place in range(99_999, 99_999 - MAX_PLACES // 2, -1))
    assert all(1 <= track.at(place) <= place + 1 for place in range(0, 100_000, 997))


def test_places_before_a_reported_position_are_dropped() -> None:
    """A listener that reports its position needs almost no memory."""
    hearing = PlaybackTracker()
    for place in range(1000):
        hearing.deliver(chunk(float(place), 1.0, [(float(place), place + 0.5, place + 1)]), made=True)
        hearing.played(place + 0.9)
        assert len(hearing._text) == 1
    assert hearing.heard() == Heard(999.9, 1000)


def test_a_value_that_does_not_grow_is_not_recorded() -> None:
    """A track only grows."""
    track = SparseTrack()
    for place, value in ((1.0, 5.0), (2.0, 5.0), (3.0, 4.0)):
        track.add(place, value)
    assert (len(track), track.at(0.5), track.at(3.0)) == (1, 0.0, 5.0)
