"""Tests of the joiner: the joined audio does not depend on the steps."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.chain import NO_EFFECTS, Effects
from yuliu.audio.compressor import Compression
from yuliu.audio.join import silences
from yuliu.engines.api import PlanOptions, StepRequest, Utterance
from yuliu.engines.tone import ToneEngine
from yuliu.stream.joiner import Joiner, SegmentPart
from yuliu.types import MAX_PAUSE_S, Boundary, Chunk, Mark, Segment, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.engines.tone import ToneManner
    from yuliu.types import Samples

RATE = 24_000


def segment(text: str, start: int, **changes: object) -> Segment:
    end = start + len(text)
    plain = Segment(text, Span(start, end), tuple(range(start, end)), Boundary.SENTENCE, "en")
    return replace(plain, **changes)  # type: ignore[arg-type]


def planned(engine: ToneEngine, what: Segment, effects: Effects = NO_EFFECTS, pace: float = 1.0) -> SegmentPart:
    wanted = silences(what.boundary, 1.0)
    part = SegmentPart(what, wanted.pause_s, what.pause_s, effects, pace)
    part.utterance = engine.plan(what, PlanOptions(SpeakOptions(), wanted.lead_s, wanted.tail_s))
    return part


def spoken(
    joiner: Joiner,
    segments: list[Segment],
    steps: list[int],
    wanted: Sequence[tuple[Effects, float]] = (),
    manner: ToneManner = "frames",
) -> list[Chunk]:
    """Return all chunks for steps of these sizes in turn, with the effects and the pace of each segment."""
    engine, chunks, number = ToneEngine(manner=manner), [], 0
    for place, what in enumerate(segments):
        part = planned(engine, what, *(wanted[place] if wanted else ()))
        while not utterance_of(part).done:
            (result,) = engine.step([StepRequest(utterance_of(part), steps[number % len(steps)])])
            pauses, sound = joiner.join(part, result.samples, result.utterance)
            chunks += [*pauses, *([sound] if sound is not None else [])]
            number += 1
    return chunks


def utterance_of(part: SegmentPart) -> Utterance:
    assert part.utterance is not None
    return part.utterance


THREE = [segment("one two", 0), segment("three", 8, pause_s=1.0), segment("four five six", 14)]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_steps_do_not_change_the_sound(steps: list[int]) -> None:
    """Any steps give the samples and the times of whole utterances."""
    whole, cut = spoken(Joiner(RATE), THREE, [10_000]), spoken(Joiner(RATE), THREE, steps)
    assert np.array_equal(np.concatenate([c.samples for c in whole]), np.concatenate([c.samples for c in cut]))
    assert [t for c in whole for t in c.timings] == [t for c in cut for t in c.timings]


@given(st.lists(st.integers(0, 200), max_size=12))
def test_the_end_is_faded_completely_for_any_size_of_the_last_step(sizes: list[int]) -> None:
    """This holds for utterances of unknown length too."""
    sound = np.full(1_000, 0.5, np.float32)

    def joined_of(pieces: Sequence[Samples]) -> Samples:
        joiner, part = Joiner(RATE), planned(ToneEngine(manner="autoregressive"), THREE[0])
        going_on = utterance_of(part)
        afters = [*(going_on for _ in pieces[1:]), replace(going_on, done=True, num_frames=1)]
        chunks = [joiner.join(part, piece, after)[1] for piece, after in zip(pieces, afters, strict=True)]
        return np.concatenate([chunk.samples for chunk in chunks if chunk is not None])

    whole = joined_of([sound])
    cut = joined_of(np.split(sound, np.minimum(np.cumsum(sizes, dtype=int), len(sound))))
    assert np.array_equal(whole, cut)
    assert abs(whole[-1]) < 0.01


def test_chunks_follow_each_other() -> None:
    """Each chunk starts at the end of the previous one, and ``audio_s`` is the total length."""
    joiner, at_s = Joiner(RATE), 0.0
    for chunk in spoken(joiner, THREE, [7]):
        assert chunk.start_s == pytest.approx(at_s)
        at_s += len(chunk.samples) / RATE
    assert joiner.audio_s == pytest.approx(at_s)


def test_the_lead_in_is_silence_before_all_audio() -> None:
    """It is a chunk of its own without source, and later times count from its start."""
    joiner = Joiner(RATE)
    silence = joiner.lead_in(0.1)
    assert (silence.lead_in, silence.source, silence.start_s) == (True, Span(0, 0), 0.0)
    assert silence.samples.tolist() == [0.0] * (RATE // 10)
    first, *_ = spoken(joiner, THREE[:1], [50])
    assert first.start_s == pytest.approx(0.1)


def gaps_s(chunks: list[Chunk]) -> list[float]:
    """Return the silence between the words of one utterance and those of the next."""
    starts = [chunk.timings for chunk in chunks if chunk.timings]
    return [after[0].start_s - before[-1].end_s for before, after in itertools.pairwise(starts)]


def test_pauses_follow_the_boundary_or_the_request() -> None:
    """A sentence has its default pause, and a requested pause replaces it."""
    assert gaps_s(spoken(Joiner(RATE), THREE, [50])) == pytest.approx([0.4, 1.0], abs=0.01)


def test_requested_pauses_add_up_to_a_maximum() -> None:
    """Any number of requests makes a silence of limited length."""
    joiner = Joiner(RATE)
    first = spoken(joiner, THREE[:1], [50])
    for _ in range(5):
        joiner.pass_over(4.0, ())
    assert gaps_s(first + spoken(joiner, THREE[2:], [50])) == pytest.approx([MAX_PAUSE_S], abs=0.01)


def test_marks_have_the_time_of_the_text_after_them() -> None:
    """A mark in a segment has the time of its word, and a mark at the end the time of the end."""
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


EFFECTS = st.builds(
    Effects,
    volume_db=st.sampled_from([0.0, -6.0, 9.0]),
    pitch_semitones=st.sampled_from([0.0, -3.0, 2.0]),
    level=st.booleans(),
    compression=st.sampled_from([None, Compression()]),
    highpass=st.booleans(),
    limit=st.sampled_from([None, True, False]),
)
PARTS = st.lists(st.tuples(EFFECTS, st.sampled_from([1.0, 0.7, 1.6, 4.0])), min_size=3, max_size=3)


def joined(chunks: list[Chunk]) -> np.ndarray:
    return np.concatenate([chunk.samples for chunk in chunks])


@settings(deadline=None, max_examples=40)
@given(PARTS, st.lists(st.integers(1, 40), min_size=1, max_size=8), st.sampled_from(["frames", "autoregressive"]))
def test_steps_do_not_change_what_effects_make(
    wanted: list[tuple[Effects, float]], steps: list[int], manner: ToneManner
) -> None:
    """Any steps give the same samples and times, with effects that change from part to part."""
    whole, cut = (spoken(Joiner(RATE), THREE, sizes, wanted, manner) for sizes in ([10_000], steps))
    assert np.array_equal(joined(whole), joined(cut))
    assert [t for c in whole for t in c.timings] == [t for c in cut for t in c.timings]
    assert np.abs(joined(whole)).max() < 1.0


@settings(deadline=None, max_examples=30)
@given(PARTS, st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_a_part_sounds_the_same_after_any_other(wanted: list[tuple[Effects, float]], steps: list[int]) -> None:
    """Only levelling depends on earlier parts."""
    plain = [(replace(effects, level=False), pace) for effects, pace in wanted]
    chunks = spoken(Joiner(RATE), THREE, steps, plain)
    for number, what in enumerate(THREE):
        alone = spoken(Joiner(RATE), [what], [10_000], plain[number : number + 1])
        with_pause = joined([chunk for chunk in chunks if chunk.source == what.source])
        assert np.array_equal(with_pause[-len(joined(alone)) :], joined(alone))


@settings(deadline=None, max_examples=30)
@given(PARTS, st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_times_match_the_audio(wanted: list[tuple[Effects, float]], steps: list[int]) -> None:
    """Lengths are those of the engine divided by the pace, pauses keep their length, and chunks have no gaps."""
    joiner = Joiner(RATE)
    chunks = spoken(joiner, THREE, steps, wanted)
    at_s = 0.0
    for chunk in chunks:
        assert chunk.start_s == pytest.approx(at_s)
        at_s += len(chunk.samples) / RATE
    assert joiner.audio_s == pytest.approx(at_s)
    assert gaps_s(chunks) == pytest.approx([0.4, 1.0], abs=0.011)
    sound_s = sum((0.1 * len(what.text.split()) + 0.02) / pace for what, (_, pace) in zip(THREE, wanted, strict=True))
    silence_s = 0.4 + 1.0 - sum(0.02 / pace for _, pace in wanted[1:])
    assert joiner.audio_s == pytest.approx(sound_s + silence_s, abs=0.001)
    lengths_s = [timing.end_s - timing.start_s for chunk in chunks for timing in chunk.timings]
    paces = [pace for what, (_, pace) in zip(THREE, wanted, strict=True) for _ in what.text.split()]
    assert lengths_s == pytest.approx([0.1 / pace for pace in paces])


def test_a_part_without_effects_is_passed_on_unchanged() -> None:
    """The samples are those of the engine, except for the fades, and nothing is held back."""
    engine = ToneEngine()
    part = planned(engine, THREE[0])
    joiner, at = Joiner(RATE), 0
    while not utterance_of(part).done:
        (result,) = engine.step([StepRequest(utterance_of(part), 5)])
        _, sound = joiner.join(part, result.samples, result.utterance)
        assert sound is not None
        assert len(sound.samples) == len(result.samples)
        if at and not result.utterance.done:
            assert np.shares_memory(sound.samples, result.samples)
        at += 1
    assert at > 2
    assert part.chain is None


def test_a_chain_without_lag_holds_nothing_back() -> None:
    """Each step is returned at once."""
    engine, joiner = ToneEngine(), Joiner(RATE)
    part = planned(engine, THREE[0], Effects(volume_db=-6.0, highpass=True, limit=False))
    (result,) = engine.step([StepRequest(utterance_of(part), 5)])
    _, sound = joiner.join(part, result.samples, result.utterance)
    assert sound is not None
    assert len(sound.samples) == len(result.samples)
    assert part.most_held_s(RATE) == 0


@pytest.mark.parametrize("effects", [Effects(pitch_semitones=2.0), Effects(volume_db=6.0), Effects(level=True)])
@pytest.mark.parametrize("pace", [1.0, 4.0])
def test_no_more_than_the_stated_maximum_is_held_back(effects: Effects, pace: float) -> None:
    """The scheduler relies on this maximum."""
    engine, joiner = ToneEngine(), Joiner(RATE)
    part = planned(engine, segment("word " * 30, 0), effects, pace)
    num_in = num_out = 0
    while not utterance_of(part).done:
        (result,) = engine.step([StepRequest(utterance_of(part), 1)])
        _, sound = joiner.join(part, result.samples, result.utterance)
        num_in += len(result.samples)
        num_out += len(sound.samples) if sound is not None else 0
        assert num_in / pace - num_out <= part.most_held_s(RATE) * RATE + 1
    assert num_out == round(num_in / pace)


def test_levelling_follows_the_whole_stream() -> None:
    """Parts that get softer and softer become more alike, since the gain follows from earlier parts."""
    engine, joiner = ToneEngine(), Joiner(RATE)
    levels = []
    for number in range(8):
        part = planned(engine, segment("word " * 20, 100 * number), Effects(level=True))
        (result,) = engine.step([StepRequest(utterance_of(part), 10_000)])
        softer = result.samples * np.float32(10 ** (-number / 20))
        _, sound = joiner.join(part, softer, result.utterance)
        assert sound is not None
        levels.append(20 * np.log10(np.sqrt(np.mean(np.square(sound.samples[RATE:])))))
    assert np.ptp(levels[1:]) < 4.0
