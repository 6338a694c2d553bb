"""Tests of effects in a whole stream: volume, pitch, pace and levelling."""

from __future__ import annotations

import asyncio
import itertools
import threading
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio import denoise
from yuliu.audio.chain import Effects
from yuliu.audio.compressor import Compression
from yuliu.audio.gain import bend
from yuliu.audio.join import PAUSE_S
from yuliu.engines.api import ALL_PACES
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import InvalidRequest
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.settings import Settings
from yuliu.stream import StreamOptions
from yuliu.synthesizer import Synthesizer
from yuliu.text.markup import MarkupOptions
from yuliu.types import Boundary, Cancelled, Chunk, Finished, SpeakOptions, StreamClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.engines.tone import ToneManner
    from yuliu.stream import Stream
    from yuliu.types import Samples

TEXT = "One two three four, five six seven eight. 你好，世界，今天天气很好。 Then we go on, and on!"
SLOW_AND_KEPT = Settings(num_workers=1, cache_bytes=10_000_000)
SSML = StreamOptions(reader=MarkupOptions(ssml="on"))


def synthesizer(
    *, paces: bool = True, manner: ToneManner = "frames", num_workers: int = 1, cache_bytes: int = 0
) -> Synthesizer:
    return Synthesizer(
        [local_spec("tone", lambda: ToneEngine(paces=ALL_PACES if paces else (1.0, 1.0), manner=manner))],
        {"tone": {"zh": "tone", "en": "tone"}},
        default="tone",
        settings=Settings(num_workers=num_workers, cache_bytes=cache_bytes),
    )


async def say(stream: Stream, deltas: Sequence[str]) -> list[Chunk]:
    async def push() -> None:
        for delta in deltas:
            await stream.push(delta)
        await stream.end()

    async with stream:
        pushing = asyncio.ensure_future(push())
        chunks = [chunk async for chunk in stream]
        await pushing
    assert isinstance(stream.ending, Finished)
    assert stream.ending.audio_s == pytest.approx(sum(len(chunk.samples) for chunk in chunks) / stream.sample_rate)
    assert not stream.ending.coverage.failed
    return chunks


def joined(chunks: Sequence[Chunk]) -> Samples:
    return np.concatenate([chunk.samples for chunk in chunks])


def pitch_hz(samples: Samples) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 8 * len(samples)))
    return float(np.argmax(spectrum)) * 24_000 / (8 * len(samples))


EFFECTS = st.builds(
    Effects,
    volume_db=st.sampled_from([0.0, -6.0, 12.0]),
    pitch_semitones=st.sampled_from([0.0, 1.5, -4.0]),
    level=st.booleans(),
    compression=st.sampled_from([None, Compression()]),
    highpass=st.booleans(),
    limit=st.sampled_from([None, False]),
)
PROSODY = ("volume='+6dB'", "volume='-6dB' rate='80%'", "pitch='+2st'", "pitch='-10%' volume='loud' rate='150%'")


@settings(max_examples=40, deadline=None)
@given(
    EFFECTS,
    st.lists(st.sampled_from(PROSODY), max_size=3),
    st.lists(st.integers(0, 200), max_size=5),
    st.sampled_from([1.0, 0.6, 2.5]),
    st.booleans(),
    st.sampled_from(["frames", "autoregressive", "remote"]),
)
def test_cuts_and_steps_do_not_change_the_sound_with_effects(
    effects: Effects, styles: list[str], cuts: list[int], speed: float, paces: bool, manner: ToneManner
) -> None:
    """This holds for styles that change, deltas cut anywhere, engines of all manners, and one or two workers."""
    text = "Now, then. " + " ".join(f"<prosody {style}>Five six seven, eight.</prosody> Nine." for style in styles)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    deltas = [text[start:end] for start, end in itertools.pairwise(places)]
    options = replace(SSML, speak=SpeakOptions(speed=speed), effects=effects)

    async def both() -> None:
        with (
            synthesizer(paces=paces, manner="frames") as one,
            synthesizer(paces=paces, manner=manner, num_workers=2) as other,
        ):
            whole = await say(one.stream(options=options), [text])
            cut = await say(other.stream(options=options), deltas)
        assert np.array_equal(joined(whole), joined(cut))
        assert [t for c in whole for t in c.timings] == [t for c in cut for t in c.timings]
        assert np.abs(joined(whole)).max() < 1.0

    asyncio.run(both())


@pytest.mark.parametrize("speed", [0.25, 0.8, 1.5, 4.0])
async def test_a_voice_of_one_pace_is_stretched(speed: float) -> None:
    """Words, pauses, marks, length and coverage are those of a voice with its own paces, to about a frame."""
    text = "<speak>One two three four. <mark name='m'/>Five six seven eight.</speak>"
    options = StreamOptions(SpeakOptions(speed=speed))
    with synthesizer() as itself, synthesizer(paces=False) as stretched:
        own, ours = [await say(each.stream(options=options), [text]) for each in (itself, stretched)]
    at, stretched_at = [[t.start_s for chunk in chunks for t in chunk.timings] for chunks in (own, ours)]
    # the engine rounds a word to whole frames, and its lead is not shortened
    assert stretched_at == pytest.approx(at, abs=0.04 + 0.02 / speed)
    words = [t for chunk in ours for t in chunk.timings]
    assert words[4].start_s - words[3].end_s == pytest.approx(PAUSE_S[Boundary.SENTENCE] / speed, abs=0.001)
    assert words[0].end_s - words[0].start_s == pytest.approx(0.1 / speed)
    (mark,) = [mark for chunk in ours for mark in chunk.marks]
    assert mark.time_s == words[4].start_s
    assert len(joined(ours)) / 24_000 == pytest.approx(words[-1].end_s, abs=0.001)


async def test_the_rate_of_the_style_multiplies_the_speed() -> None:
    """The product stays within the limits."""
    options = replace(SSML, speak=SpeakOptions(speed=2.0))
    with synthesizer(paces=False) as toy:
        chunks = await say(toy.stream(options=options), ["<prosody rate='400%'>One two.</prosody> Three."])
    lengths_s = [t.end_s - t.start_s for chunk in chunks for t in chunk.timings]
    assert lengths_s == pytest.approx([0.025, 0.025, 0.05])


async def test_a_change_of_pitch_keeps_the_lengths() -> None:
    """The pitches of stream and style add up, and the times of words stay the same."""
    text = "<prosody {}>Word word word word word word.</prosody>"
    higher = replace(SSML, effects=Effects(pitch_semitones=3.0))
    with synthesizer() as toy:
        found = [
            await say(toy.stream(options=options), [text.format(style)])
            for options in (SSML, higher)
            for style in ("volume='-1dB'", "pitch='+2st' ")
        ]
    assert len({len(joined(chunks)) for chunks in found}) == 1
    assert len({tuple(t for chunk in chunks for t in chunk.timings) for chunks in found}) == 1
    base, *others = [pitch_hz(joined(chunks)) for chunks in found]
    assert [12 * np.log2(each / base) for each in others] == pytest.approx([2.0, 3.0, 5.0], abs=0.1)


async def test_a_positive_gain_is_limited_and_a_negative_one_is_a_factor() -> None:
    """The tones have an amplitude of 0.3, so 12 dB more would be 1.2."""
    with synthesizer() as toy:
        plain = await say(toy.stream(), [TEXT])
        louder = await say(toy.stream(options=StreamOptions(effects=Effects(volume_db=12.0))), [TEXT])
        bent = await say(toy.stream(options=StreamOptions(effects=Effects(volume_db=12.0, limit=False))), [TEXT])
        softer = await say(toy.stream(options=StreamOptions(effects=Effects(volume_db=-6.0))), [TEXT])
    factor = np.float32(10 ** (12 / 20))
    assert 0.85 < np.abs(joined(louder)).max() <= 0.8913
    assert np.abs(joined(bent) - bend(joined(plain) * factor)).max() < 0.15  # but for the fades
    assert np.allclose(joined(softer), joined(plain) * np.float32(10 ** (-6 / 20)), atol=1e-6)


async def test_effects_can_change_while_the_stream_is_open() -> None:
    """The change applies to text that is not cut yet."""
    with synthesizer() as toy:
        async with toy.stream() as stream:
            await stream.push("One two three. ")
            stream.flush()
            stream.configure(effects=Effects(volume_db=-20.0))
            await stream.push("Four five six. ")
            await stream.end()
            chunks = [chunk async for chunk in stream]
    peaks: dict[int, float] = {}
    for chunk in chunks:
        peaks[chunk.source.start] = max(peaks.get(chunk.source.start, 0.0), float(np.abs(chunk.samples).max()))
    loud, soft = peaks.values()
    assert soft / loud == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize("num_held", [0.5, 3.0])
async def test_audio_held_back_never_stops_a_stream(num_held: float) -> None:
    """At four times the pace and an octave down more is held back than the lead allows."""
    effects = Effects(pitch_semitones=-12.0, volume_db=3.0)
    terms = Terms(StreamClass.INTERACTIVE, max_lead_s=num_held)
    options = StreamOptions(SpeakOptions(speed=4.0), effects=effects, terms=terms)
    with synthesizer(paces=False) as toy:
        async with asyncio.timeout(20):
            chunks = await say(toy.stream(options=options), ["word " * 60])
    assert len(joined(chunks)) > 24_000


@pytest.mark.parametrize("num_frames", [25, 60, 200])
@pytest.mark.parametrize("semitones", [2.0, -12.0])
@pytest.mark.parametrize("manner", ["autoregressive", "frames"])
async def test_audio_of_a_step_does_not_wait_for_the_next(
    monkeypatch: pytest.MonkeyPatch, num_frames: int, semitones: float, manner: ToneManner
) -> None:
    """No further step is made before the listener has some audio, so none may be held back completely."""
    monkeypatch.setattr("yuliu.engines.tone.BLOCK_FRAMES", num_frames)
    terms = Terms(StreamClass.STANDARD, max_lead_s=0.5)
    options = StreamOptions(effects=Effects(pitch_semitones=semitones), terms=terms)
    with synthesizer(manner=manner) as toy:
        async with asyncio.timeout(20):
            chunks = await say(toy.stream(options=options), ["word " * 30])
    assert len(joined(chunks)) > 48_000


@pytest.mark.parametrize("speed", [1.0, 2.0])
async def test_the_scheduler_counts_the_audio_that_is_handed_out(speed: float) -> None:
    """Held-back audio counts once it is returned, in seconds of the listener, and the totals agree."""
    options = StreamOptions(SpeakOptions(speed=speed), effects=Effects(pitch_semitones=-2.0))
    with synthesizer(paces=False) as toy:
        async with toy.stream(options=options) as stream:
            await stream.push("word " * 40)
            stream.flush()
            num_parts, book = len(stream._parts), toy._scheduler._policy._streams[stream._stream_id]
            async for chunk in stream:
                assert len(chunk.samples)
                if not stream._parts and not stream._ready:
                    break
            assert book.made_s == pytest.approx((40 * 0.1 + num_parts * 0.02) / speed, abs=0.001)
            assert book.taken_s == pytest.approx(book.made_s, abs=0.001)
            stream.played(1.0)
            assert isinstance(stream.cancel(), Cancelled)


async def test_cached_audio_serves_any_volume_and_pitch() -> None:
    """Effects follow the cache: a repeated text is not rendered again and sounds the same."""
    options = [StreamOptions(effects=effects) for effects in (Effects(), Effects(volume_db=9.0, pitch_semitones=2.0))]
    with synthesizer(cache_bytes=10_000_000) as toy:
        await say(toy.stream(options=options[0]), ["One two three four."])
        stream = toy.stream(options=options[1])
        kept = await say(stream, ["One two three four."])
        assert stream.timeline.num_cached_segments == 1
    with synthesizer() as toy:
        fresh = await say(toy.stream(options=options[1]), ["One two three four."])
    assert np.array_equal(joined(kept), joined(fresh))


async def test_changing_returned_samples_affects_no_other_stream() -> None:
    """A reader may change its samples in place while the rest is being made."""
    taken = threading.Semaphore(2)  # for the plan, and the first step

    def wait_for_reader(_: float) -> None:
        taken.acquire(timeout=0.5)

    slow = partial(ToneEngine, ToneScript(step_s_per_frame=1.0), sleep=wait_for_reader)
    with Synthesizer(
        [local_spec("tone", slow)], {"tone": {"en": "tone"}}, default="tone", settings=SLOW_AND_KEPT
    ) as toy:
        spoken: list[Samples] = []
        async with toy.stream() as stream:
            await stream.push("One two three four five six seven eight.")
            await stream.end()
            async for chunk in stream:
                spoken.append(chunk.samples.copy())
                chunk.samples[:] = 9.0
                taken.release()
        again = toy.stream()
        kept = await say(again, ["One two three four five six seven eight."])
    assert len(spoken) > 2  # the first and the last are faded, and copies for it
    assert again.timeline.num_cached_segments == 1
    assert np.array_equal(joined(kept), np.concatenate(spoken))


@pytest.mark.skipif(find_spec("pyrnnoise") is None, reason="needs the extra denoise")
async def test_noise_suppression_does_not_depend_on_the_steps() -> None:
    """An engine that makes blocks gives the same samples, and the length stays the same."""
    options = StreamOptions(effects=Effects(denoise=True, volume_db=3.0))
    with synthesizer() as one, synthesizer(manner="remote") as other:
        plain = joined(await say(one.stream(), [TEXT]))
        whole = joined(await say(one.stream(options=options), [TEXT]))
        cut = joined(await say(other.stream(options=options), [*TEXT]))
    assert np.array_equal(whole, cut)
    assert len(whole) == len(plain)
    assert not np.array_equal(whole, plain)


@pytest.fixture
def without_rnnoise(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide the installed library."""
    monkeypatch.setattr(denoise, "_PATH", None)
    denoise._library.cache_clear()
    yield
    denoise._library.cache_clear()


@pytest.mark.usefixtures("without_rnnoise")
async def test_unavailable_noise_suppression_is_rejected_at_once() -> None:
    """The error is raised when options are made or changed, before anything is spoken."""
    with pytest.raises(InvalidRequest, match=r"yuliu\[denoise\]") as refused:
        StreamOptions(effects=Effects(denoise=True))
    assert refused.value.param == "effects.denoise"
    with synthesizer() as toy:
        async with toy.stream() as stream:
            with pytest.raises(InvalidRequest):
                stream.configure(effects=Effects(denoise=True))
            assert await say_rest(stream)


async def say_rest(stream: Stream) -> list[Chunk]:
    await stream.push("One.")
    await stream.end()
    return [chunk async for chunk in stream]
