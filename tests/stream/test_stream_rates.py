"""Tests of voices with different sample rates in one stream: each is resampled once, and nothing else changes."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.chain import Effects
from yuliu.audio.encode import Encoder
from yuliu.audio.formats import choose_encoding
from yuliu.audio.gain import bend
from yuliu.audio.join import fade_edges, silences
from yuliu.audio.pcm import to_s16le
from yuliu.audio.resample import Resampler
from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.errors import InvalidRequest
from yuliu.scheduler.settings import Settings
from yuliu.stream import StreamOptions, VoiceRoute
from yuliu.stream.joiner import Joiner, SegmentPart
from yuliu.stream.routes import routes_of, stream_rate
from yuliu.synthesizer import Synthesizer
from yuliu.text.markup.options import MarkupOptions
from yuliu.types import Boundary, Chunk, Finished, Segment, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.engines.tone import ToneManner
    from yuliu.types import Lang, Samples

RATES = (22_050, 24_000, 32_000, 48_000)
SEGMENTS = (
    Segment("one two", Span(0, 7), tuple(range(7)), Boundary.SENTENCE, "en"),
    Segment("three", Span(8, 13), tuple(range(8, 13)), Boundary.CLAUSE, "en"),
    Segment("four five six", Span(14, 27), tuple(range(14, 27)), Boundary.SENTENCE, "en"),
)


def joined(
    stream_rate: int,
    rates: Sequence[int],
    steps: Sequence[int],
    effects: Sequence[Effects] = (),
    manner: ToneManner = "frames",
) -> list[Chunk]:
    """Return the chunks of three parts whose engines have these rates, in steps of these sizes in turn."""
    joiner, sizes, chunks = Joiner(stream_rate), itertools.cycle(steps), []
    for number, (segment, rate) in enumerate(zip(SEGMENTS, rates, strict=True)):
        engine = ToneEngine(manner=manner, sample_rate=rate)
        wanted = silences(segment.boundary, 1.0)
        utterance = engine.plan(segment, PlanOptions(SpeakOptions(), wanted.lead_s, wanted.tail_s))
        part = SegmentPart(segment, wanted.pause_s, None, engine_rate=rate)
        part.effects = effects[number] if effects else part.effects
        part.utterance = utterance
        while not utterance.done:
            (result,) = engine.step([StepRequest(utterance, next(sizes))])
            utterance = result.utterance
            pauses, sound = joiner.join(part, result.samples, utterance)
            chunks += [*pauses, *([] if sound is None else [sound])]
    return chunks


def samples_of(chunks: Sequence[Chunk]) -> Samples:
    return np.concatenate([chunk.samples for chunk in chunks])


MIXED = st.lists(st.sampled_from(RATES), min_size=3, max_size=3)
STEPS = st.lists(st.integers(1, 40), min_size=1, max_size=8)
EFFECTS = st.builds(
    Effects,
    volume_db=st.sampled_from([0.0, 9.0]),
    pitch_semitones=st.sampled_from([0.0, 2.0]),
    level=st.booleans(),
    limit=st.sampled_from([None, True, False]),
)


@settings(max_examples=60)
@given(st.sampled_from((8_000, 16_000, *RATES)), MIXED, STEPS, st.sampled_from(["frames", "autoregressive", "remote"]))
def test_steps_do_not_change_the_sound(
    stream_rate: int, rates: list[int], steps: list[int], manner: ToneManner
) -> None:
    """Any steps give the samples and the times of whole utterances, for any mix of rates."""
    whole, cut = (joined(stream_rate, rates, sizes, manner=manner) for sizes in ([10_000], steps))
    assert np.array_equal(samples_of(whole), samples_of(cut))
    assert [t for c in whole for t in c.timings] == [t for c in cut for t in c.timings]
    assert {chunk.sample_rate for chunk in cut} == {stream_rate}
    assert np.abs(samples_of(whole)).max() <= 1.0


@settings(max_examples=40)
@given(st.sampled_from(RATES), MIXED, STEPS, st.lists(EFFECTS, min_size=3, max_size=3))
def test_steps_do_not_change_what_effects_make(
    stream_rate: int, rates: list[int], steps: list[int], effects: list[Effects]
) -> None:
    """Effects, levelling included, work at the rate of the stream, after the resampling."""
    whole, cut = (joined(stream_rate, rates, sizes, effects) for sizes in ([10_000], steps))
    assert np.array_equal(samples_of(whole), samples_of(cut))


@settings(max_examples=40)
@given(st.sampled_from(RATES), MIXED, STEPS)
def test_times_match_the_audio(stream_rate: int, rates: list[int], steps: list[int]) -> None:
    """A word sounds from its start to its end at any rate, and chunks follow each other."""
    chunks, at_s = joined(stream_rate, rates, steps), 0.0
    samples = samples_of(chunks)
    for chunk in chunks:
        assert chunk.start_s == pytest.approx(at_s)
        at_s += len(chunk.samples) / stream_rate
    for timing in (timing for chunk in chunks for timing in chunk.timings):
        begin, end = (round(at * stream_rate) for at in (timing.start_s + 0.01, timing.end_s - 0.01))
        assert np.abs(samples[begin:end]).max() == pytest.approx(0.3, abs=0.01)
    gaps = [(a.timings[-1], b.timings[0]) for a, b in itertools.pairwise([c for c in chunks if c.timings])]
    for (before, after), pause_s in zip(gaps, (0.4, 0.18), strict=True):
        between = samples[round((before.end_s + 0.01) * stream_rate) : round((after.start_s - 0.01) * stream_rate)]
        assert np.abs(between).max(initial=0.0) < 1e-3
        assert after.start_s - before.end_s == pytest.approx(pause_s, abs=0.02)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("stream_rate", [8_000, *RATES])
def test_a_part_is_resampled_once_from_the_rate_of_its_engine(rate: int, stream_rate: int) -> None:
    """The audio is bit for bit that of one resampler for the whole utterance, except for the fades."""
    engine, wanted = ToneEngine(sample_rate=rate), silences(Boundary.SENTENCE, 1.0)
    utterance = engine.plan(SEGMENTS[0], PlanOptions(SpeakOptions(), wanted.lead_s, wanted.tail_s))
    (result,) = engine.step([StepRequest(utterance, 10_000)])
    resampler = Resampler(rate, stream_rate)
    expected = bend(np.concatenate((resampler.push(result.samples), resampler.flush())))
    first = [chunk for chunk in joined(stream_rate, (rate,) * 3, [7]) if chunk.source == SEGMENTS[0].source]
    assert np.array_equal(samples_of(first), fade_edges(expected, stream_rate, first=True, last=True))


@pytest.mark.parametrize("rate", [22_050, 24_000, 22_051])
def test_no_more_than_the_stated_maximum_is_held_back(rate: int) -> None:
    """The scheduler relies on this maximum."""
    stream_rate, engine = 32_000, ToneEngine(sample_rate=rate)
    segment = Segment("word " * 30, Span(0, 150), tuple(range(150)), Boundary.SENTENCE, "en")
    utterance = engine.plan(segment, PlanOptions(SpeakOptions(), 0.0, 0.0))
    joiner, part, in_s, out_s = Joiner(stream_rate), SegmentPart(segment, 0.4, None, engine_rate=rate), 0.0, 0.0
    while not utterance.done:
        (result,) = engine.step([StepRequest(utterance, 1)])
        utterance = result.utterance
        _, sound = joiner.join(part, result.samples, utterance)
        in_s += len(result.samples) / rate
        out_s += 0.0 if sound is None else len(sound.samples) / stream_rate
        assert in_s - out_s <= part.most_held_s(stream_rate) + 1 / stream_rate
    assert out_s == pytest.approx(in_s, abs=1 / stream_rate)


def test_a_part_at_the_rate_of_the_stream_is_not_resampled() -> None:
    """Its samples are those of the engine, and nothing is held back."""
    same, unset = SegmentPart(SEGMENTS[0], 0.4, None, engine_rate=24_000), SegmentPart(SEGMENTS[0], 0.4, None)
    assert same.most_held_s(24_000) == unset.most_held_s(24_000) == 0.0
    engine = ToneEngine()
    utterance = engine.plan(SEGMENTS[0], PlanOptions(SpeakOptions(), 0.0, 0.0))
    (result,) = engine.step([StepRequest(utterance, 5)])
    for part in (same, unset):
        joiner = Joiner(24_000)
        joiner.join(part, result.samples, result.utterance)
        (later,) = engine.step([StepRequest(result.utterance, 5)])
        _, sound = joiner.join(part, later.samples, later.utterance)
        assert sound is not None
        assert np.shares_memory(sound.samples, later.samples)


@pytest.fixture
def mixed() -> Iterator[Synthesizer]:
    """Return a synthesizer with a Mandarin engine at 24 kHz and an English one at 22.05 kHz, together and alone."""
    engines = [
        local_spec("zh24", partial(ToneEngine, languages=("zh",))),
        local_spec("en22", partial(ToneEngine, languages=("en",), sample_rate=22_050)),
    ]
    voices: dict[str, dict[Lang, str]] = {
        "both": {"zh": "zh24", "en": "en22"},
        "zh24": {"zh": "zh24"},
        "en22": {"en": "en22"},
    }
    with Synthesizer(engines, voices, default="both", settings=Settings(cache_bytes=1 << 22)) as synthesizer:
        yield synthesizer


TEXT = "你好，hello there. 今天 is a good day, 对吗？"


async def chunks_of(
    synthesizer: Synthesizer,
    text: str,
    cuts: Sequence[int] = (),
    options: StreamOptions | None = None,
    voice: str = "both",
) -> list[Chunk]:
    """Return the chunks of a stream whose text is cut at these places."""
    async with synthesizer.stream(voice=voice, options=options) as stream:
        for begin, end in itertools.pairwise((0, *sorted(cuts), len(text))):
            await stream.push(text[begin:end])
        await stream.end()
        chunks = [chunk async for chunk in stream]
    assert isinstance(stream.ending, Finished)
    assert not stream.ending.coverage.failed
    return chunks


def test_cuts_of_the_text_do_not_change_the_sound(mixed: Synthesizer) -> None:
    """Languages with two rates share a stream, and streamed equals whole, bit for bit."""
    whole = samples_of(asyncio.run(chunks_of(mixed, TEXT)))

    @settings(max_examples=20)
    @given(st.lists(st.integers(0, len(TEXT)), max_size=6))
    def check(cuts: list[int]) -> None:
        assert np.array_equal(samples_of(asyncio.run(chunks_of(mixed, TEXT, cuts))), whole)

    check()


def test_sound_from_the_cache_is_the_same(mixed: Synthesizer) -> None:
    """Audio is cached at the rate of its engine, so one entry serves streams of any rate."""
    fresh = samples_of(asyncio.run(chunks_of(mixed, TEXT)))
    assert mixed._scheduler.cache_counts().num_bytes > 0
    assert np.array_equal(samples_of(asyncio.run(chunks_of(mixed, TEXT))), fresh)
    low = StreamOptions(sample_rate=16_000)
    from_cache = samples_of(asyncio.run(chunks_of(mixed, TEXT, options=low)))
    assert len(from_cache) / 16_000 == pytest.approx(len(fresh) / 24_000, abs=0.001)


def test_pinned_phrases_are_served_at_the_rate_of_the_stream(mixed: Synthesizer) -> None:
    """A pinned phrase sounds the same as a freshly rendered one."""
    fresh = samples_of(asyncio.run(chunks_of(mixed, "hello there.")))
    mixed.pin(["hello there."])
    assert np.array_equal(samples_of(asyncio.run(chunks_of(mixed, "hello there."))), fresh)
    assert mixed.pinned == {"both": ("hello there.",)}


def test_lead_in_pauses_and_marks_count_in_the_rate_of_the_stream(mixed: Synthesizer) -> None:
    """This includes pauses and marks between parts of different rates."""
    ssml = '<speak>你好<mark name="a"/><break time="500ms"/><voice name="en22">hello</voice><mark name="b"/></speak>'
    options = StreamOptions(lead_in_ms=100)
    chunks = asyncio.run(chunks_of(mixed, ssml, options=options, voice="zh24"))
    assert {chunk.sample_rate for chunk in chunks} == {24_000}
    assert chunks[0].lead_in
    assert len(chunks[0].samples) == 2_400
    marks = {mark.name: mark.time_s for chunk in chunks for mark in chunk.marks}
    hello = next(timing for chunk in chunks for timing in chunk.timings if timing.text == "hello")
    before = next(timing for chunk in chunks for timing in chunk.timings if timing.text == "好")
    assert hello.start_s - before.end_s == pytest.approx(0.5, abs=0.02)
    assert before.end_s <= (marks["a"] or 0.0) <= hello.start_s
    assert marks["b"] == pytest.approx(hello.end_s, abs=0.01)


def test_each_voice_has_a_rate_of_its_own(mixed: Synthesizer) -> None:
    """A composite has the highest rate of its engines, unless it declares another."""
    assert {voice: mixed.rate(voice) for voice in mixed.voices} == {"both": 24_000, "zh24": 24_000, "en22": 22_050}
    assert mixed.sample_rate == 24_000
    assert mixed.speak("hello", voice="en22").sample_rate == 22_050
    declared = routes_of({"both": {"zh": "zh24", "en": "en22"}}, mixed._scheduler.capabilities, {"both": 16_000})
    assert declared["both"].sample_rate == 16_000


def test_a_voice_sounds_the_same_beside_voices_of_other_rates(mixed: Synthesizer) -> None:
    """Its own streams are not resampled."""
    with Synthesizer(
        [local_spec("en", partial(ToneEngine, sample_rate=22_050))], {"en": {"en": "en"}}, default="en"
    ) as alone:
        expected = alone.speak("hello there, and good day.").samples
    assert np.array_equal(mixed.speak("hello there, and good day.", voice="en22").samples, expected)


def test_sound_goes_straight_from_the_engine_to_the_output(mixed: Synthesizer) -> None:
    """If rates differ, the stream has the rate of the output, and the encoder resamples nothing."""
    encoding = choose_encoding("pcm", mixed.rate("both"), sample_rate=16_000)
    options = StreamOptions()
    rate = mixed.stream_rate("both", options, encoding.sample_rate)
    assert rate == 16_000
    audio = mixed.speak(TEXT, options=replace(options, sample_rate=rate))
    with Encoder(encoding, audio.sample_rate) as encoder:
        assert encoder.write(audio.samples) + encoder.finish() == to_s16le(audio.samples)


SSML_OFF = StreamOptions(reader=MarkupOptions(ssml="off"))


def route(voice: str, *engines: tuple[str, int], rate: int | None = None) -> VoiceRoute:
    rates = dict(engines)
    return VoiceRoute(dict.fromkeys(("en",), engines[0][0]), rate or engines[0][1], voice, engine_rates=rates)


def test_a_rate_shared_by_all_voices_is_the_rate_of_the_stream() -> None:
    """Then the encoder resamples, as with a single voice."""
    one, two, other = route("a", ("a", 24_000)), route("b", ("b", 24_000)), route("c", ("c", 22_050))
    assert stream_rate(one, [one, two], StreamOptions(), 8_000) == 24_000
    assert stream_rate(one, [one, two, other], StreamOptions(), 8_000) == 8_000
    assert stream_rate(one, [one, two, other], SSML_OFF, 8_000) == 24_000
    assert stream_rate(route("d", ("d", 22_050), rate=24_000), [], SSML_OFF, 8_000) == 8_000


@pytest.mark.parametrize("rates", [(24_000, 96_000), (4_000, 24_000)])
def test_rates_that_cannot_be_resampled_are_rejected(rates: tuple[int, int]) -> None:
    """The error states the range; a single voice may have any rate."""
    engines = [local_spec(f"e{rate}", partial(ToneEngine, sample_rate=rate)) for rate in rates]
    with pytest.raises(InvalidRequest, match="8000 to 48000 Hz"):
        Synthesizer(engines, {spec.name: {"en": spec.name} for spec in engines}, default="e24000")
    with Synthesizer(
        [local_spec("high", partial(ToneEngine, sample_rate=96_000))], {"a": {"en": "high"}}, default="a"
    ) as synthesizer:
        assert synthesizer.speak("hello").sample_rate == 96_000


@pytest.mark.parametrize("sample_rate", [7_999, 48_001])
def test_a_stream_rate_out_of_range_is_rejected(sample_rate: int) -> None:
    """The error names the option."""
    with pytest.raises(InvalidRequest, match="sample_rate must be from 8000 to 48000 Hz") as caught:
        StreamOptions(sample_rate=sample_rate)
    assert caught.value.param == "sample_rate"
