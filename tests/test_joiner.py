"""Utterances become one sound, whatever the steps were."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.join import silences
from yuliu.engines.api import PlanOptions, StepRequest, Utterance
from yuliu.engines.tone import ToneEngine
from yuliu.joiner import Joiner, Part
from yuliu.types import MAX_PAUSE_S, Boundary, Chunk, Mark, Segment, Span, SpeakOptions

RATE = 24_000


def segment(text: str, start: int, **changes: object) -> Segment:
    end = start + len(text)
    plain = Segment(text, Span(start, end), tuple(range(start, end)), Boundary.SENTENCE, "en")
    return replace(plain, **changes)  # type: ignore[arg-type]


def planned(engine: ToneEngine, what: Segment) -> Part:
    wanted = silences(what.boundary, 1.0)
    part = Part(what, wanted.pause_s, what.pause_s)
    part.utterance = engine.plan(what, PlanOptions(SpeakOptions(), wanted.lead_s, wanted.tail_s))
    return part


def spoken(joiner: Joiner, segments: list[Segment], steps: list[int]) -> list[Chunk]:
    """All chunks, with steps of these sizes in turn."""
    engine, chunks, number = ToneEngine(), [], 0
    for what in segments:
        part = planned(engine, what)
        while not utterance_of(part).done:
            (result,) = engine.step([StepRequest(utterance_of(part), steps[number % len(steps)])])
            pauses, sound = joiner.join(part, result.samples, result.utterance)
            chunks += [*pauses, *([sound] if sound is not None else [])]
            number += 1
    return chunks


def utterance_of(part: Part) -> Utterance:
    assert part.utterance is not None
    return part.utterance


THREE = [segment("one two", 0), segment("three", 8, pause_s=1.0), segment("four five six", 14)]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_steps_do_not_change_the_sound(steps: list[int]) -> None:
    """Any steps give the samples, and the times of words, of whole utterances."""
    whole, cut = spoken(Joiner(RATE), THREE, [10_000]), spoken(Joiner(RATE), THREE, steps)
    assert np.array_equal(np.concatenate([c.samples for c in whole]), np.concatenate([c.samples for c in cut]))
    assert [t for c in whole for t in c.timings] == [t for c in cut for t in c.timings]


def test_chunks_follow_each_other() -> None:
    """Each begins where the one before ended, and the joiner knows the length of all."""
    joiner, at_s = Joiner(RATE), 0.0
    for chunk in spoken(joiner, THREE, [7]):
        assert chunk.start_s == pytest.approx(at_s)
        at_s += len(chunk.samples) / RATE
    assert joiner.audio_s == pytest.approx(at_s)


def gaps_s(chunks: list[Chunk]) -> list[float]:
    """Silence between the words of one utterance and those of the next."""
    starts = [chunk.timings for chunk in chunks if chunk.timings]
    return [after[0].start_s - before[-1].end_s for before, after in itertools.pairwise(starts)]


def test_pauses_are_the_boundary_s_or_those_asked_for() -> None:
    """The usual pause of a sentence, then the second that was asked for."""
    assert gaps_s(spoken(Joiner(RATE), THREE, [50])) == pytest.approx([0.4, 1.0], abs=0.01)


def test_pauses_asked_for_add_up_to_a_bound() -> None:
    """However many are asked for, silence ends."""
    joiner = Joiner(RATE)
    first = spoken(joiner, THREE[:1], [50])
    for _ in range(5):
        joiner.pass_over(4.0, ())
    assert gaps_s(first + spoken(joiner, THREE[2:], [50])) == pytest.approx([MAX_PAUSE_S], abs=0.01)


def test_marks_have_the_time_of_what_follows_them() -> None:
    """A mark in a segment is at its word; one between segments at the pause; one at the end at the end."""
    joiner = Joiner(RATE)
    chunks = spoken(joiner, [segment("one two", 0, marks=(Mark("in", 4, 0.0),))], [50])
    (mark,) = [mark for chunk in chunks for mark in chunk.marks]
    (timings,) = [chunk.timings for chunk in chunks if chunk.timings]
    assert mark.time_s == timings[1].start_s
    joiner.pass_over(0.5, (Mark("last", 7, 0.0),))
    closing = joiner.end(Span(7, 7))
    assert closing is not None
    assert [mark.name for mark in closing.marks] == ["last"]
    assert len(closing.samples) == pytest.approx(0.5 * RATE, abs=1)
    assert joiner.end(Span(7, 7)) is None
