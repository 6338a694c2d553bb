"""Tests of a stream from text deltas to its ending, with the weightless engine."""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import Closed, InvalidRequest, SynthesisFailed
from yuliu.scheduler.policy.state import MAX_UNREAD_S
from yuliu.stream import MAX_PENDING_PARTS, StreamOptions
from yuliu.synthesizer import Synthesizer
from yuliu.types import Cancelled, Chunk, Coverage, Ending, Failed, Finished, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.stream import Stream
    from yuliu.types import Samples

TEXT = "Streaming is fun, isn't it? 语流是说话的流动。 Then we go on, and on!"


def synthesizer(script: ToneScript | None = None, **engine: object) -> Synthesizer:
    engines = {"zh": ToneEngine(script, languages=("zh",)), "en": ToneEngine(script, languages=("en",))}
    specs = [local_spec("zh", lambda: engines["zh"]), local_spec("en", lambda: engines["en"])]
    return Synthesizer(specs, {"both": {"zh": "zh", "en": "en"}, "en": {"en": "en"}}, default="both", num_workers=1)


async def say(stream: Stream, deltas: Sequence[str]) -> list[Chunk]:
    async def push() -> None:
        for delta in deltas:
            await stream.push(delta)
        await stream.end()

    pushing = asyncio.ensure_future(push())
    try:
        return [chunk async for chunk in stream]
    finally:
        pushing.cancel()


def joined(chunks: list[Chunk]) -> Samples:
    return np.concatenate([chunk.samples for chunk in chunks])


def tiles(coverage: Coverage, num_chars: int) -> bool:
    spans = [*coverage.spoken, *(skip.source for skip in coverage.skipped), *coverage.failed]
    return sorted(at for span in spans for at in range(*span)) == list(range(num_chars))


def ended(stream: Stream) -> Ending:
    assert stream.ending is not None
    return stream.ending


async def test_chunks_have_no_gaps() -> None:
    """Each chunk starts at the end of the previous one, and the ending states the total length."""
    with synthesizer() as toy:
        async with toy.stream() as stream:
            chunks = await say(stream, [TEXT])
        at_s = 0.0
        for chunk in chunks:
            assert chunk.start_s == pytest.approx(at_s)
            at_s += len(chunk.samples) / chunk.sample_rate
        assert ended(stream).coverage == Coverage(spoken=(Span(0, len(TEXT)),))
        assert ended(stream).audio_s == pytest.approx(at_s)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, len(TEXT)), max_size=8))
def test_deltas_do_not_change_the_sound(cuts: list[int]) -> None:
    """The samples are the same for any cuts of the text."""
    places = [0, *sorted(cuts), len(TEXT)]
    deltas = [TEXT[a:b] for a, b in itertools.pairwise(places)]

    async def run() -> None:
        with synthesizer() as toy:
            async with toy.stream() as stream, toy.stream() as other:
                assert np.array_equal(joined(await say(stream, deltas)), joined(await say(other, [TEXT])))

    asyncio.run(run())


async def test_concurrent_streams_sound_as_each_alone() -> None:
    """Sixteen streams at once have the samples that each has alone."""
    texts = [f"Text number {'very ' * i} long. 第{i}个。" for i in range(16)]
    with synthesizer() as toy:
        alone = [toy.speak(text).samples for text in texts]

        async def one(text: str) -> Samples:
            async with toy.stream() as stream:
                return joined(await say(stream, [text]))

        together = await asyncio.gather(*(one(text) for text in texts))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


async def test_timings_are_monotonic_within_the_audio_and_point_at_their_source() -> None:
    """Every unit has a position in the text and in the audio."""
    with synthesizer() as toy:
        async with toy.stream() as stream:
            chunks = await say(stream, [TEXT])
    timings = [timing for chunk in chunks for timing in chunk.timings]
    assert [TEXT[slice(*timing.source)] for timing in timings] == [timing.text for timing in timings]
    moments = [moment for timing in timings for moment in (timing.start_s, timing.end_s)]
    assert moments == sorted(moments)
    assert moments[-1] <= ended(stream).audio_s + 1e-9


@pytest.mark.parametrize("kind", ["fail_plans", "fail_steps"])
@pytest.mark.parametrize("error", [SynthesisFailed, RuntimeError])
async def test_a_failure_at_any_call_ends_the_stream_visibly(kind: str, error: type[Exception]) -> None:
    """After a failed plan or step and its repeat, finished audio is returned, then the error; no character is lost."""
    with synthesizer() as toy:
        async with toy.stream() as stream:
            whole = joined(await say(stream, [TEXT]))
    for number in range(20):
        script = ToneScript(**{kind: frozenset(range(number, number + 8))}, error=error)  # type: ignore[arg-type]
        with synthesizer(script) as toy:
            chunks = []
            async with toy.stream() as stream:
                await stream.push(TEXT)
                await stream.end()
                try:
                    async for chunk in stream:
                        chunks.append(chunk)  # noqa: PERF401 - kept when the stream raises
                except SynthesisFailed as failure:
                    assert isinstance(stream.ending, Failed)
                    assert stream.ending.code == failure.code == "synthesis_failed"
                else:
                    assert isinstance(stream.ending, Finished)
                    assert len(joined(chunks)) == len(whole)
                    break
            ending = ended(stream)
            assert tiles(ending.coverage, len(TEXT))
            assert ending.coverage.failed
            if chunks:
                assert np.array_equal(joined(chunks), whole[: len(joined(chunks))])
            assert toy.num_streams == 0
    else:
        pytest.fail("the text never got past its failures")


async def test_cancel_is_final_and_drops_chunks_not_taken() -> None:
    """After cancel there are no chunks, one ending and no work."""
    with synthesizer() as toy:
        async with toy.stream() as stream:
            await stream.push(TEXT * 20)
            first = await anext(stream)
            ending = stream.cancel()
            assert isinstance(ending, Cancelled)
            assert stream.cancel() is ending
            assert [chunk async for chunk in stream] == []
            with pytest.raises(Closed):
                await stream.push("more")
        assert first.samples.size
        assert stream.ending is ending
        assert tiles(ending.coverage, len(TEXT) * 20)
        assert toy.num_streams == 0


async def test_leaving_the_block_early_cancels_the_stream() -> None:
    """This includes leaving it by an exception."""
    with synthesizer() as toy:
        with pytest.raises(ZeroDivisionError):
            async with toy.stream() as stream:
                await stream.push(TEXT)
                raise ZeroDivisionError
        assert isinstance(stream.ending, Cancelled)
        assert toy.num_streams == 0


async def test_text_without_end_is_spoken_after_a_stall() -> None:
    """A sentence that might continue is spoken when nothing follows in time, and the stream continues after it."""
    with synthesizer() as toy:
        async with toy.stream(options=StreamOptions(stall_s=0.01)) as stream:
            await stream.push("Let me check that")
            chunk = await asyncio.wait_for(anext(stream), 10)
            assert chunk.timings
            await stream.push(" for you.")
            await stream.end()
            assert [chunk async for chunk in stream]
        assert ended(stream).coverage.spoken == (Span(0, 26),)


async def test_push_waits_while_too_much_text_is_pending() -> None:
    """A writer far ahead of the reader waits until the reader takes chunks."""
    with synthesizer() as toy:
        async with toy.stream() as stream:

            async def write() -> int:
                for number in range(1000):
                    await stream.push(f"This is sentence number {number} of a long text.\n")
                return 1000

            writing = asyncio.ensure_future(write())
            await anext(stream)
            for _ in range(20):
                await asyncio.sleep(0)
            assert not writing.done()
            assert toy._scheduler.num_jobs <= 2 * MAX_PENDING_PARTS
            async for _ in stream:
                if writing.done():
                    break
            assert await writing == 1000


async def test_a_waiting_writer_is_not_stalled() -> None:
    """While push waits for a slow reader, earlier text is not flushed in the middle of a sentence."""
    with synthesizer() as toy:
        async with toy.stream(options=StreamOptions(stall_s=0.01)) as stream:

            async def write() -> None:
                for _ in range(60):
                    await stream.push("This is one whole sentence that will not be cut, ")
                    await stream.push("since nobody stalls.\n")
                await stream.end()

            writing = asyncio.ensure_future(write())
            sources = set()
            async for chunk in stream:
                sources.add(chunk.source)
                await asyncio.sleep(0.002)
            await writing
    text = "This is one whole sentence that will not be cut, since nobody stalls.\n" * 60
    later = [text[span.start : span.end].rstrip() for span in sources if span.start > 500]
    assert later
    assert {segment[-1] for segment in later} == {"."}


async def test_text_before_a_cancelled_push_is_spoken_after_a_stall() -> None:
    """A writer that gives up waiting has stalled."""
    with synthesizer() as toy:
        async with toy.stream(options=StreamOptions(stall_s=0.01)) as stream:
            await stream.push("This is a sentence.\n" * 40 + "And the last words")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(stream.push(" that never come"), 0.005)
            said: set[str] = set()
            async for chunk in stream:
                said |= {timing.text for timing in chunk.timings}
                if "words" in said:
                    break
        assert "come" not in said


async def test_unread_audio_is_bounded() -> None:
    """The engine stops for a reader that takes nothing."""
    engine = ToneEngine()
    with Synthesizer(
        [local_spec("tone", lambda: engine)], {"tone": {"en": "tone"}}, default="tone", num_workers=1
    ) as toy:
        async with toy.stream() as stream, toy.stream() as other:
            await stream.push("word " * 500 + ".")
            await say(other, ["Somebody else speaks meanwhile, at length, and is served."])
            made_s = sum(len(ready.chunk.samples) for ready in stream._ready) / stream.sample_rate
            assert 0 < made_s < MAX_UNREAD_S + 2


@pytest.mark.parametrize("text", ["", " \n\t ", "。。。", "…!?", "🙂"])
async def test_text_without_words_finishes_without_audio(text: str) -> None:
    """It is not an error: all of it is skipped by a rule."""
    with synthesizer() as toy:
        async with toy.stream() as stream:
            assert await say(stream, [text]) == []
        assert isinstance(stream.ending, Finished)
        assert not stream.ending.coverage.spoken
        assert tiles(stream.ending.coverage, len(text))


async def test_text_in_an_unsupported_language_is_skipped() -> None:
    """An English voice speaks the English text and skips the rest by its rule."""
    text = "Good morning. 大家早上好。 Goodbye."
    with synthesizer() as toy:
        async with toy.stream(voice="en") as stream:
            assert await say(stream, [text])
    skipped = ended(stream).coverage.skipped
    assert {skip.rule for skip in skipped} == {"language_not_spoken"}
    assert "大家早上好" in "".join(text[slice(*skip.source)] for skip in skipped)
    assert tiles(ended(stream).coverage, len(text))


@pytest.mark.parametrize("speed", [0.0, -1.0, 0.2, 4.1, float("nan"), float("inf")])
def test_a_speed_out_of_range_is_rejected_before_opening(speed: float) -> None:
    """The message states the range."""
    with pytest.raises(InvalidRequest, match=r"0\.25 to 4") as error:
        StreamOptions(SpeakOptions(speed=speed))
    assert error.value.param == "speed"


async def test_closing_the_synthesizer_fails_its_streams() -> None:
    """No stream waits forever on a closed synthesizer."""
    toy = synthesizer()
    async with toy.stream() as stream:
        await stream.push("This will never end")
        await asyncio.to_thread(toy.close)
        with pytest.raises(Closed):
            _ = [chunk async for chunk in stream]
    assert isinstance(stream.ending, Failed)
    assert stream.ending.code == "closed"
    assert stream.ending.coverage.failed == (Span(0, 19),)


async def test_an_abandoned_stream_does_not_affect_the_worker() -> None:
    """The worker continues for others after a stream's loop is closed."""
    with synthesizer() as toy:

        async def abandon() -> Stream:
            stream = toy.stream()
            await stream.push("word " * 300)
            return stream

        holder: list[Stream] = []
        thread = threading.Thread(target=lambda: holder.append(asyncio.run(abandon())))
        thread.start()
        await asyncio.to_thread(thread.join)
        async with toy.stream() as stream:
            assert await say(stream, ["Still here."])
