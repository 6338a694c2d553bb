"""Whom a listener waits for who has nothing to hear: the writer or the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manual_stream import ManualScheduler, open_manual_stream, run

from yuliu.segmenter import Chunking
from yuliu.stream import StreamOptions

if TYPE_CHECKING:
    from yuliu.stream import Stream


def turn(stream: Stream) -> str:
    """Whose it is."""
    return stream.waits_for


def test_says_whose_turn_it_is() -> None:
    """Text that is not certain yet is no work for the machine."""

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


def test_text_without_sound_is_no_work() -> None:
    """Nothing is waited for but more text, once it is known that it has none."""

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
