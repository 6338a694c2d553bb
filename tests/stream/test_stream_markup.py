"""Tests of streams of text with markup: prosody, pauses, voices, marks and coverage."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.chain import Effects
from yuliu.audio.join import PAUSE_S
from yuliu.audio.limiter import CEILING_DB
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.stream import StreamOptions
from yuliu.stream.text_pipeline import NO_VOICE
from yuliu.synthesizer import Synthesizer
from yuliu.text.markup import MarkupOptions
from yuliu.types import Boundary, Cancelled, Chunk, Coverage, Finished, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Timing

PIECES = [
    *(
        "**",
        "*",
        "_",
        "`",
        "```\n",
        "\n",
        "\n\n",
        "# ",
        "- ",
        "1. ",
        "| a | b |\n",
        "|---|\n",
        "[x](http://a.b)",
        "$x^2$",
    ),
    *("&amp;", "<br>", "<b>", "<!-- c -->", "👍", "*sighs*", "[pause 200ms]", "https://a.b/c?d", "[^1]", ":) ", "$5 "),
    *("<break time='100ms'/>", "<prosody rate='fast' volume='loud'>", "</prosody>", "<mark name='m'/>"),
    *("<sub alias='over there'>x</sub>", "<phoneme alphabet='pinyin' ph='hang2'>行a</phoneme>", "<voice name='en'>"),
    *(
        "</voice>",
        "<lang xml:lang='en'>",
        "</lang>",
        "</speak>",
        "<p>",
        "Hello there. ",
        "好的，我们走吧。",
        "word ",
        "字",
        "。",
        ", ",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
SSML_ON = StreamOptions(reader=MarkupOptions(ssml="on", emoji="name"))


def synthesizer() -> Synthesizer:
    specs = [local_spec("zh", ToneEngine), local_spec("en", lambda: ToneEngine(languages=("en",)))]
    return Synthesizer(specs, {"both": {"zh": "zh", "en": "en"}, "en": {"en": "en"}}, default="both")


async def run(
    toy: Synthesizer, deltas: Sequence[str], options: StreamOptions | None = None
) -> tuple[list[Chunk], Finished]:
    async with toy.stream(options=options) as stream:

        async def push() -> None:
            for delta in deltas:
                await stream.push(delta)
            await stream.end()

        pushing = asyncio.ensure_future(push())
        chunks = [chunk async for chunk in stream]
        await pushing
    assert isinstance(stream.ending, Finished)
    return chunks, stream.ending


def spoken(chunks: Sequence[Chunk]) -> list[Timing]:
    return [timing for chunk in chunks for timing in chunk.timings]


def tiles(coverage: Coverage, num_chars: int) -> bool:
    spans = [*coverage.spoken, *(skip.source for skip in coverage.skipped), *coverage.failed]
    return sorted(at for span in spans for at in range(*span)) == list(range(num_chars))


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, cuts=st.lists(st.integers(0, 400), max_size=8), is_document=st.booleans(), on=st.booleans())
def test_any_markup_is_covered_and_cuts_do_not_change_the_sound(
    text: str, cuts: list[int], is_document: bool, on: bool
) -> None:
    """Spoken and skipped spans tile the source, timings are in order, and deltas change neither audio nor coverage."""
    text = "<speak>" * is_document + text
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    deltas = [text[start:end] for start, end in itertools.pairwise(places)]
    options = SSML_ON if on else None

    async def both() -> None:
        with synthesizer() as toy:
            chunks, ending = await run(toy, [text], options)
            others, other_ending = await run(toy, deltas, options)
        assert tiles(ending.coverage, len(text))
        assert not ending.coverage.failed
        assert ending == other_ending
        timings = spoken(chunks)
        assert timings == spoken(others)
        assert [timing.start_s for timing in timings] == sorted(timing.start_s for timing in timings)
        assert [timing.source.start for timing in timings] == sorted(timing.source.start for timing in timings)
        if chunks:
            sound, other = (np.concatenate([chunk.samples for chunk in those]) for those in (chunks, others))
            assert np.array_equal(sound, other)
            assert np.abs(sound).max(initial=0.0) <= 1

    asyncio.run(both())


async def test_timings_point_at_the_source_through_the_markup() -> None:
    """Each word has its place in the pushed text."""
    text = "# A **bold** plan\n\n- [x] see [the docs](https://a.b/c) `now`\n```\nno\n```\nDone."
    with synthesizer() as toy:
        chunks, ending = await run(toy, list(text))
    assert [text[slice(*timing.source)] for timing in spoken(chunks) if timing.text not in ("Code", "omitted")] == [
        *("A", "bold", "plan", "see", "the", "docs", "now", "Done")
    ]
    skipped = {skip.rule: text[slice(*skip.source)] for skip in ending.coverage.skipped}
    assert skipped["code_block"] == "\nno\n```"
    assert skipped["url"] == "](https://a.b/c)"


async def test_markup_is_skipped_even_if_the_rest_is_cancelled() -> None:
    """Markup is skipped by its rule, and the text around it counts as failed."""
    with synthesizer() as toy:
        async with toy.stream() as stream:
            await stream.push("**bold** text")
            ending = stream.cancel()
    assert isinstance(ending, Cancelled)
    assert [skip.source for skip in ending.coverage.skipped] == [Span(0, 2), Span(6, 8)]
    assert tiles(ending.coverage, 13)


def gap_s(chunks: Sequence[Chunk], first: str, second: str) -> float:
    timings = {timing.text: timing for timing in spoken(chunks)}
    return timings[second].start_s - timings[first].end_s


@pytest.mark.parametrize(
    ("between", "pause_s"),
    [
        (". ", PAUSE_S[Boundary.SENTENCE]),
        (". [pause 1.5s]", 1.5),
        ("[pause 1.5s] ", 1.5),
        (".[pause 500ms] [pause 1s]\n\n", 1.5),
        (".\n\n[pause 9s][pause 9s]", 10.0),
        (" [pause 50ms]", 0.05),
        (". … [pause 1s] … ", 1.0),
        (". 안녕 [pause 1s]", 1.0),
    ],
)
async def test_a_requested_pause_replaces_the_default_one(between: str, pause_s: float) -> None:
    """This holds among marks and white space; several pauses add up, to at most ten seconds."""
    with synthesizer() as toy:
        chunks, ending = await run(toy, [f"One two three four{between}Five six seven eight."])
    assert gap_s(chunks, "four", "Five") == pytest.approx(pause_s, abs=0.021)
    assert not ending.coverage.failed


async def test_pauses_at_the_ends_are_kept() -> None:
    """They stand before the first sound, after the last one, and alone."""
    with synthesizer() as toy:
        chunks, ending = await run(toy, ["[pause 1s]Hello.[pause 2s]"])
        alone, _ = await run(toy, ["[pause 1s]"])
    timing = spoken(chunks)[0]
    assert timing.start_s == pytest.approx(1.0, abs=0.021)
    assert ending.audio_s - timing.end_s == pytest.approx(2.0)
    assert sum(len(chunk.samples) for chunk in alone) == alone[0].sample_rate


async def test_prosody_changes_pace_and_volume() -> None:
    """The rate multiplies the speed, the volume is a gain, and both end with their element."""
    text = (
        "<speak>Hello there one.<prosody rate='50%' volume='-6dB'>Hello there two.</prosody>Hello there three.</speak>"
    )
    with synthesizer() as toy:
        chunks, ending = await run(toy, [text], StreamOptions(SpeakOptions(speed=2.0)))
    lengths_s = [timing.end_s - timing.start_s for timing in spoken(chunks)]
    assert lengths_s == pytest.approx([0.05] * 3 + [0.1] * 3 + [0.05] * 3)
    peaks: dict[Span, float] = {}
    for chunk in chunks:
        peaks[chunk.source] = max(peaks.get(chunk.source, 0.0), float(np.abs(chunk.samples).max()))
    loud, soft, again = peaks.values()
    assert soft / loud == pytest.approx(10 ** (-6 / 20), rel=0.02)
    assert again == pytest.approx(loud, rel=0.02)
    assert ending.warnings == ()


async def test_a_style_stays_within_the_limits() -> None:
    """Speed and pitch stay within their ranges, and a limiter prevents clipping."""
    text = "<speak><prosody rate='x-fast' pitch='+24st' volume='+20dB'>Hello.</prosody></speak>"
    options = StreamOptions(SpeakOptions(speed=4.0), effects=Effects(volume_db=12.0, pitch_semitones=3.0))
    with synthesizer() as toy:
        chunks, _ = await run(toy, [text], options)
    samples = np.concatenate([chunk.samples for chunk in chunks])
    assert 0.8 < np.abs(samples).max() <= 10 ** (CEILING_DB / 20)


async def test_markup_switches_to_another_loaded_voice() -> None:
    """A voice that is not loaded gives a warning and the voice of the stream."""
    with synthesizer() as toy:
        text = "<speak><voice name='en'>Hello 好的。</voice> 好的。</speak>"
        chunks, ending = await run(toy, [text])
        assert [timing.text for timing in spoken(chunks)] == ["Hello", "好", "的"]
        assert "language_not_spoken" in {skip.rule for skip in ending.coverage.skipped}
        chunks, ending = await run(toy, [text.replace("'en'", "'nobody'")])
        assert [timing.text for timing in spoken(chunks)] == ["Hello", "好", "的", "好", "的"]
        assert ending.warnings == (NO_VOICE,)


async def test_a_language_can_be_forced() -> None:
    """All of the text goes to the engine of that language."""
    text = "<speak>好的。<lang xml:lang='en-US'>好的 5 apples.</lang></speak>"
    with synthesizer() as toy:
        chunks, _ = await run(toy, [text])
    assert len({chunk.source for chunk in chunks}) == 2


async def test_marks_have_their_times() -> None:
    """A mark has the time of the word after it, or of the end."""
    text = "<speak><mark name='a'/>One two. <mark name='b'/>Three <mark name='c'/>four.<mark name='d'/></speak>"
    with synthesizer() as toy:
        chunks, ending = await run(toy, [text])
    marks = {mark.name: mark for chunk in chunks for mark in chunk.marks}
    starts = {timing.text: timing.start_s for timing in spoken(chunks)}
    assert list(marks) == ["a", "b", "c", "d"]
    assert [marks[name].time_s for name in "abc"] == [starts["One"], starts["Three"], starts["four"]]
    assert marks["d"].time_s == pytest.approx(ending.audio_s)
    assert all(text[: mark.offset].endswith("'/>") for mark in marks.values())


async def test_warnings_reach_the_ending() -> None:
    """Unsupported markup is reported without the text."""
    with synthesizer() as toy:
        _, ending = await run(toy, ["<speak>1 < 2 <prosody pitch='higher'>secret</prosody><voice name='x'>a</voice>"])
    assert len(ending.warnings) == 3
    assert ending.warnings[-1] == NO_VOICE
    assert "secret" not in "".join(ending.warnings)


async def test_a_stall_flushes_pending_markup() -> None:
    """Half a tag is read as text if nothing follows in time."""
    with synthesizer() as toy:
        async with toy.stream(options=StreamOptions(stall_s=0.01)) as stream:
            await stream.push("Let me check [the do")
            chunk = await asyncio.wait_for(anext(stream), 10)
            assert [timing.text for timing in chunk.timings] == ["Let", "me", "check", "the", "do"]
            await stream.end()
