"""The flow of ``yuliu client``: text is pushed by one task while another lets the sound out, and looks at the clock."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from yuliu.cli.background import BackgroundThread
from yuliu.cli.sinks import Device
from yuliu.cli.speaking import ABANDON_S, BLOCK_S
from yuliu.client.waterfall import Moments, silence_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from yuliu.cli.sinks import Sink
    from yuliu.client import ClientStream
    from yuliu.types import Chunk, Ending
    from yuliu.wire.native.messages import Times


@dataclass(slots=True)
class Played:
    """What became of one text. Updated while it goes on."""

    audio_s: float = 0.0
    """Sound given to the output, seconds."""
    ending: Ending | None = None
    times: Times | None = None
    """The server's account of the first sound."""
    moments: Moments | None = None
    """Of the first sound, here; None if none was heard."""


class _Output:
    """Lets chunks out."""

    def __init__(self, open_sink: Callable[[int], Sink], played: Played, on_change: Callable[[], None]) -> None:
        self._open_sink = open_sink
        self._played = played
        self._on_change = on_change
        self._thread = BackgroundThread("yuliu-sound")
        self._sink: Sink | None = None
        self._given_s: float | None = None

    async def take(self, chunk: Chunk, stream: ClientStream) -> None:
        """Give it to the output, block by block."""
        sink = self._sink or await self._opened(chunk.sample_rate)
        self._look(chunk, stream, sink)
        num_samples = round(BLOCK_S * chunk.sample_rate)
        for at in range(0, len(chunk.samples), num_samples):
            block = chunk.samples[at : at + num_samples]
            await self._thread.run(partial(sink.write, block))
            self._played.audio_s += len(block) / chunk.sample_rate
            self._on_change()
            if isinstance(sink, Device):
                await stream.played(max(0.0, self._played.audio_s - sink.latency_s))

    async def close(self, *, finished: bool) -> None:
        """Let it sound to its end, or fall silent."""
        if self._sink is None:
            return
        if finished:
            await self._thread.run(self._sink.finish)
            return
        with suppress(TimeoutError, OSError):  # what brought us here is what the user must know
            async with asyncio.timeout(ABANDON_S):
                await self._thread.run(self._sink.abandon)

    async def _opened(self, sample_rate: int) -> Sink:
        self._sink = await self._thread.run(partial(self._open_sink, sample_rate))
        return self._sink

    def _look(self, chunk: Chunk, stream: ClientStream, sink: Sink) -> None:
        """When the first sound is given out, and when it is heard."""
        if self._played.moments is not None or stream.entered_at_s is None or stream.first_sound_at_s is None:
            return
        if self._given_s is None:
            self._given_s = time.monotonic()
        quiet_s = silence_s(chunk.samples, chunk.sample_rate)
        if quiet_s is None:
            return
        latency_s = sink.latency_s if isinstance(sink, Device) else 0.0
        self._played.moments = Moments(
            asked_s=stream.entered_at_s,
            received_s=stream.first_sound_at_s,
            given_s=self._given_s,
            heard_s=self._given_s + latency_s + chunk.start_s + quiet_s,
        )


async def play(
    stream: ClientStream,
    pieces: AsyncIterator[str],
    open_sink: Callable[[int], Sink],
    *,
    played: Played,
    on_change: Callable[[], None] = lambda: None,
) -> None:
    """Speak the pieces.

    Args:
        stream: Fresh, of PCM; is entered and left here.
        pieces: Of the text, cut anywhere.
        open_sink: Opens the output for a sample rate, Hz, when there is sound; may block.
        played: Kept up to date.
        on_change: Called after each block of sound; must be quick.

    Raises:
        YuliuError: What the server could not do.
        OSError: The text could not be read, or the sound not be written.
    """
    output = _Output(open_sink, played, on_change)
    finished = False
    try:
        async with stream, asyncio.TaskGroup() as tasks:
            pushing = tasks.create_task(_push(stream, pieces))
            async for chunk in stream:
                await output.take(chunk, stream)
            await pushing
            finished = True
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        played.ending = stream.ending
        played.times = stream.done.times if stream.done else None
        await output.close(finished=finished)


async def _push(stream: ClientStream, pieces: AsyncIterator[str]) -> None:
    async for piece in pieces:
        await stream.push(piece)
    await stream.end()
