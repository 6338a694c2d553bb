"""How far sound is behind a text that is being written, on made-up clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.bench.doors.following import Begun, Followed, SoundPiece, Step, Written, certain_moments, follow
from yuliu.explanation import Explainer, TimedDelta
from yuliu.types import Span

RATE = 100.0
"""Bytes a second."""
PIECES = ("aaaa", "bbbb", "cccc")
WRITTEN = Written((0.0, 1.0, 2.0), 2.5, 0.5)
EXPECTED = [(Span(0, 4), 1.0), (Span(4, 12), 2.5)]


def followed(begun: list[Begun], sound: list[SoundPiece]) -> Followed:
    return follow(PIECES, WRITTEN, EXPECTED, begun, sound, bytes_per_s=RATE)


def steps(*moments: tuple[float, float]) -> Followed:
    return Followed(tuple(Step(*each) for each in moments), 0, 0.0, 0.0)


def test_a_wait_is_from_the_last_needed_character_to_the_first_sound() -> None:
    """Of each segment; its languages are one."""
    begun = [Begun(Span(0, 4), 1.25), Begun(Span(4, 6), 2.75), Begun(Span(6, 12), 9.0)]
    assert [step.wait_s for step in followed(begun, []).steps] == [0.25, 0.25]


def test_two_segments_that_are_certain_at_once_are_two() -> None:
    """As at the end of a text."""
    both = [(Span(0, 4), 2.5), (Span(4, 12), 2.5)]
    begun = [Begun(Span(0, 4), 3.0), Begun(Span(4, 12), 4.0)]
    found = follow(PIECES, WRITTEN, both, begun, [], bytes_per_s=RATE)
    assert [step.wait_s for step in found.steps] == [0.5, 1.5]
    assert found.num_behind == 1


def test_sound_that_has_begun_before_the_next_segment_is_certain_is_one_behind() -> None:
    """No more than one: that which was just written."""
    assert steps((1.0, 1.5), (2.0, 2.5), (3.0, 3.5)).num_behind == 1
    assert steps().num_behind == 0


def test_each_segment_that_waits_meanwhile_is_one_more() -> None:
    """Told for the worst moment."""
    assert steps((1.0, 2.1), (2.0, 2.2), (3.0, 3.1)).num_behind == 2
    assert steps((1.0, 3.1), (2.0, 3.2), (3.0, 3.3), (4.0, 4.1)).num_behind == 3


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), max_size=8))
def test_behind_is_counted_as_one_would_by_hand(drawn: list[tuple[float, float]]) -> None:
    """At each moment at which something becomes certain: what was certain before and does not sound."""
    moments = [(certain_s, certain_s + wait_s) for certain_s, wait_s in drawn]
    most = 0
    for now, _ in moments:
        waiting = [1 for certain_s, begun_s in moments if certain_s < now and not begun_s <= now]
        most = max(most, 1 + len(waiting))
    assert steps(*moments).num_behind == most


def test_silence_that_began_when_the_text_was_there_is_an_underrun() -> None:
    """The segment was certain at 1.0, the player ran dry at 2.25, and heard on at 3.0."""
    begun = [Begun(Span(0, 4), 1.25)]
    found = followed(begun, [SoundPiece(1.25, 100, 1), SoundPiece(3.0, 50, 1)])
    assert (found.underrun_s, found.silence_s) == (0.75, 0.75)


def test_silence_for_want_of_text_is_none() -> None:
    """Dry at 1.75, text at 2.5, sound at 2.75: only what it took after the text was there is told, beside."""
    begun = [Begun(Span(0, 4), 1.25), Begun(Span(4, 12), 2.75)]
    found = followed(begun, [SoundPiece(1.25, 50, 1), SoundPiece(2.75, 50, 2)])
    assert (found.underrun_s, found.silence_s) == (0.0, 0.25)


def test_a_pause_that_comes_late_is_the_next_segments() -> None:
    """It is made with that one's sound, so it waits for that one's text."""
    begun = [Begun(Span(0, 4), 1.25), Begun(Span(4, 12), 2.75)]
    sound = [SoundPiece(1.25, 50, 1), SoundPiece(2.75, 10, 2), SoundPiece(2.75, 50, 2)]
    assert followed(begun, sound).underrun_s == 0.0


def test_what_was_not_cut_as_expected_is_judged_by_its_end() -> None:
    """The earlier moment, so nothing looks better for it; and it is counted."""
    found = followed([Begun(Span(0, 8), 1.5), Begun(Span(8, 12), 2.25)], [])
    assert found.num_unforeseen == 2
    assert [step.wait_s for step in found.steps] == [0.5, 0.25]


def test_when_a_segment_is_certain_is_told_by_what_made_it_so() -> None:
    """The piece behind it, a pause of the writer, the end."""
    texts = ["One two three four five. ", "Six seven", " eight nine. ", "Ten."]
    arrivals = [TimedDelta(text, at_s) for text, at_s in zip(texts, (0.0, 0.1, 2.0, 2.1), strict=True)]
    explanation = Explainer().follow(arrivals)
    written = Written((10.0, 11.0, 12.0, 13.0), 14.0, 0.5)
    found = certain_moments(explanation, written)
    by = [segment.emitted.by for segment in explanation.segments if segment.emitted]
    assert set(by) == {"text", "stall", "end"}
    for (_, at_s), segment in zip(found, explanation.segments, strict=True):
        assert segment.emitted is not None
        sent_s = written.pieces_s[segment.emitted.delta]
        assert at_s == pytest.approx({"text": sent_s, "stall": sent_s + 0.5, "end": 14.0}[segment.emitted.by])
