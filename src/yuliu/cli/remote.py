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
from yuliu.client.player import Player
from yuliu.client.waterfall import Moments, silence_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from yuliu.cli.sinks import Sink
    from yuliu.client import ClientStream
    from yuliu.types import Chunk, Ending, Samples
    from yuliu.wire.native.messages import Times

MAX_AHEAD_S = 0.5
"""Sound that may wait to be played before no more is taken."""
TELL_S = 0.05
"""How often is looked whether it has been."""


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


class _Written:
    """Sound goes to a file or pipe."""

    def __init__(self, sink: Sink, thread: BackgroundThread) -> None:
        self._sink, self._thread = sink, thread
        self.latency_s = 0.0
        self.began_at_s: float | None = None

    async def take(self, samples: Samples, _: ClientStream) -> None:
        """Write it."""
        if self.began_at_s is None:
            self.began_at_s = time.monotonic()
        await self._thread.run(partial(self._sink.write, samples))

    def finish(self) -> None:
        """All is there."""
        self._sink.finish()

    def stop(self) -> None:
        """What is there is all."""
        self._sink.abandon()


class _Heard:
    """Sound is played; the server is told how far, and what is far ahead waits."""

    def __init__(self, device: Device, sample_rate: int) -> None:
        self._player = Player(device, sample_rate)
        self.latency_s = device.latency_s

    @property
    def began_at_s(self) -> float | None:
        """When the first sound was given to the device."""
        return self._player.began_at_s

    async def take(self, samples: Samples, stream: ClientStream) -> None:
        """Let it sound in its turn."""
        self._player.put(samples)
        while self._player.level_s > MAX_AHEAD_S:  # noqa: ASYNC110 - it falls on a thread
            await asyncio.sleep(TELL_S)
        await stream.played(self._player.position_s)

    def finish(self) -> None:
        """Wait until all was heard."""
        self._player.finish()

    def stop(self) -> None:
        """Be silent."""
        self._player.stop()


class _Output:
    """Lets chunks out."""

    def __init__(self, open_sink: Callable[[int], Sink], played: Played, on_change: Callable[[], None]) -> None:
        self._open_sink = open_sink
        self._played = played
        self._on_change = on_change
        self._thread = BackgroundThread("yuliu-sound")
        self._to: _Written | _Heard | None = None
        self._quiet_s: float | None = None  # until the first audible sample

    async def take(self, chunk: Chunk, stream: ClientStream) -> None:
        """Give it to the output, block by block."""
        to = self._to = self._to or await self._opened(chunk.sample_rate)
        if self._quiet_s is None and (quiet_s := silence_s(chunk.samples, chunk.sample_rate)) is not None:
            self._quiet_s = chunk.start_s + quiet_s
        num_samples = round(BLOCK_S * chunk.sample_rate)
        for at in range(0, len(chunk.samples), num_samples):
            block = chunk.samples[at : at + num_samples]
            await to.take(block, stream)
            self._played.audio_s += len(block) / chunk.sample_rate
            self._on_change()

    async def close(self, stream: ClientStream, *, finished: bool) -> None:
        """Let it sound to its end, or fall silent."""
        if self._to is None:
            return
        if finished:
            await self._thread.run(self._to.finish)
            self._look(self._to, stream)
            return
        with suppress(TimeoutError, OSError):  # what brought us here is what the user must know
            async with asyncio.timeout(ABANDON_S):
                await self._thread.run(self._to.stop)

    async def _opened(self, sample_rate: int) -> _Written | _Heard:
        sink = await self._thread.run(partial(self._open_sink, sample_rate))
        return _Heard(sink, sample_rate) if isinstance(sink, Device) else _Written(sink, self._thread)

    def _look(self, to: _Written | _Heard, stream: ClientStream) -> None:
        """When the first sound was given out, and when it was heard."""
        asked_s, received_s, given_s = stream.entered_at_s, stream.first_sound_at_s, to.began_at_s
        if self._quiet_s is None or asked_s is None or received_s is None or given_s is None:
            return
        heard_s = given_s + to.latency_s + self._quiet_s
        self._played.moments = Moments(asked_s=asked_s, received_s=received_s, given_s=given_s, heard_s=heard_s)


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
        await output.close(stream, finished=finished)


async def _push(stream: ClientStream, pieces: AsyncIterator[str]) -> None:
    async for piece in pieces:
        await stream.push(piece)
    await stream.end()
