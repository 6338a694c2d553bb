"""Tests of ``waits_for``: a silent stream waits for text or for audio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manual_stream import ManualScheduler, open_manual_stream, run

from yuliu.segmenter import Chunking
from yuliu.stream import StreamOptions

if TYPE_CHECKING:
    from yuliu.stream import Stream


def turn(stream: Stream) -> str:
    """Return the value of ``waits_for``."""
    return stream.waits_for


def test_a_stream_waits_for_audio_once_text_is_certain() -> None:
    """Text that is not certain yet waits for more text."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(chunking=Chunking("punctuation")))
        assert turn(stream) == "sound"  # to be let in
        await scheduler.admit()
        assert turn(stream) == "text"
        await stream.push("First of all, this. Then")
        assert turn(stream) == "sound"
        first = await scheduler.plan(0)
        assert turn(stream) == "sound"
        await scheduler.render(first)
        assert turn(stream) == "sound"  # which is there
        while stream._ready:
            await anext(stream)
        assert turn(stream) == "text"  # "Then" may go on
        stream.flush()
        assert turn(stream) == "sound"
        stream.cancel()

    run(check())


def test_text_without_audio_waits_for_more_text() -> None:
    """The stream waits for text as soon as the plan shows that there is no audio."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions())
        await scheduler.admit()
        await stream.push("***\n\n...\n\n")
        for number in range(len(scheduler.segments)):
            await scheduler.plan(number)
        assert turn(stream) == "text"
        stream.cancel()

    run(check())
