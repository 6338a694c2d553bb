"""The flow of ``yuliu say``: text is pushed by one task while another takes the chunks and lets them sound."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from yuliu.cli.background_thread import BackgroundThread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from yuliu.cli.audio_io.sinks import Sink
    from yuliu.stream import Stream
    from yuliu.types import Chunk, Ending, Samples

BLOCK_S = 0.2
"""Sound is handed on in blocks of this length, so that playing stops so soon after a Ctrl-C."""
ABANDON_S = 1.0
"""How long an interrupted program waits for a file or device to close, if its last write does not return."""


@dataclass(slots=True)
class SpeechSummary:
    """How far it is. Updated while it goes on, and right also when it ends early."""

    num_chars: int = 0
    """Source characters of which all sound was delivered."""
    audio_s: float = 0.0
    """Sound delivered, seconds."""
    ending: Ending | None = None
    """How the stream ended, once it has."""


async def speak(
    stream: Stream, pieces: AsyncIterator[str], sink: Sink, *, spoken: SpeechSummary, on_change: Callable[[], None]
) -> None:
    """Speak the pieces into the sink.

    Args:
        stream: Fresh; is entered and left here.
        pieces: Of the text, cut anywhere.
        sink: Is finished at the end, or abandoned if that is not reached.
        spoken: Kept up to date.
        on_change: Called after each block of sound; must be quick.

    Raises:
        SynthesisFailed: An engine failed.
        OSError: The text could not be read, or the sound not be written.
    """
    sounding = BackgroundThread("yuliu-sound")
    finished = False
    async with stream:
        pushing = asyncio.create_task(_push(stream, pieces))
        try:
            async for chunk in stream:
                for block in _blocks(chunk, stream.sample_rate):
                    await sounding.run(partial(sink.write, block))
                    spoken.audio_s += len(block) / stream.sample_rate
                    on_change()
                spoken.num_chars = chunk.source.end
            await pushing
            await sounding.run(sink.finish)
            finished = True
        finally:
            await _cancelled(pushing)
            if not finished:
                with suppress(TimeoutError, OSError):  # what brought us here is what the user must know
                    async with asyncio.timeout(ABANDON_S):
                        await sounding.run(sink.abandon)
            spoken.ending = stream.cancel()


async def _push(stream: Stream, pieces: AsyncIterator[str]) -> None:
    """Push all pieces; if they cannot be read, let the reader of the stream stop too."""
    try:
        async for piece in pieces:
            await stream.push(piece)
        await stream.end()
    except (OSError, ValueError):
        stream.cancel()
        raise


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # seen: either raised already, or a consequence of what is being raised


def _blocks(chunk: Chunk, sample_rate: int) -> Iterator[Samples]:
    num_samples = round(BLOCK_S * sample_rate)
    for at in range(0, len(chunk.samples), num_samples):
        yield chunk.samples[at : at + num_samples]
