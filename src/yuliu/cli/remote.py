"""The flow of ``yuliu client``: text is pushed by one task while another lets the sound out, until all was heard or
the listener interrupts.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from yuliu.cli.background_thread import BackgroundThread
from yuliu.cli.speaking import ABANDON_S, BLOCK_S
from yuliu.client.latency import ClientMoments, silence_s
from yuliu.errors import YuliuError
from yuliu.playback.device import SoundDevice
from yuliu.playback.jitter_buffer import JitterBuffer
from yuliu.playback.player import Player

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from yuliu.cli.audio_io.sinks import Sink
    from yuliu.client import ClientStream
    from yuliu.types import Chunk, Ending, Heard, Samples
    from yuliu.wire.native.messages import Times

MAX_AHEAD_S = 0.5
"""Sound that may wait to be played before no more is taken."""
TELL_S = 0.05
"""How often is looked whether it has been."""
ANSWER_S = 3.0
"""How long the server may take to say what was heard of a stream that was interrupted."""


@dataclass(slots=True)
class Played:
    """What became of one text. Updated while it goes on."""

    audio_s: float = 0.0
    """Sound given to the output, seconds."""
    ending: Ending | None = None
    times: Times | None = None
    """The server's account of the first sound."""
    moments: ClientMoments | None = None
    """Of the first sound, here; None if none was heard."""
    num_resumed: int = 0
    """How often the stream went on after a drop."""
    said: list[str] = field(default_factory=list, repr=False)
    """What was pushed of the text, if it may be interrupted."""
    interrupted_at_s: float | None = None
    """How much was heard when the listener interrupted, seconds; None if he did not."""
    heard: Heard | None = None
    """What the server makes of that."""


@dataclass(slots=True, kw_only=True)
class PlaybackTarget:
    """Where sound goes: of one text, or of several, one after the other."""

    open_sink: Callable[[int], Sink]
    """Opens the output for a sample rate, Hz, when there is sound; may block."""
    on_change: Callable[[], None] = lambda: None
    """Called after each block of sound; must be quick."""
    interrupted: asyncio.Event | None = None
    """Is set when the listener wants silence; None where nobody can."""
    buffer: JitterBuffer | None = None
    """What was learnt of the network."""


class _FileTarget:
    """Sound goes to a file or pipe."""

    def __init__(self, sink: Sink, thread: BackgroundThread) -> None:
        self._sink, self._thread = sink, thread
        self.began_at_s: float | None = None

    async def take(self, samples: Samples, _: ClientStream) -> None:
        """Write it."""
        if self.began_at_s is None:
            self.began_at_s = time.monotonic()
        await self._thread.run(partial(self._sink.write, samples))

    def finish(self) -> None:
        """All is there."""
        self._sink.finish()

    def stop(self) -> float:
        """What is there is all."""
        self._sink.abandon()
        return 0.0

    @property
    def heard_at_s(self) -> float | None:
        """As soon as it is written."""
        return self.began_at_s


class _DeviceTarget:
    """Sound is played; the server is told how far, and what is far ahead waits."""

    def __init__(self, device: SoundDevice, sample_rate: int, buffer: JitterBuffer) -> None:
        self._player = Player(device, sample_rate, buffer=buffer)

    @property
    def began_at_s(self) -> float | None:
        """When the first sound was given to the device."""
        return self._player.began_at_s

    @property
    def heard_at_s(self) -> float | None:
        """When it was heard."""
        return self._player.heard_at_s

    async def take(self, samples: Samples, stream: ClientStream) -> None:
        """Let it sound in its turn."""
        self._player.put(samples)
        while self._player.level_s > MAX_AHEAD_S:
            await asyncio.sleep(TELL_S)
            self._player.check()
        await stream.played(self._player.position_s)

    def finish(self) -> None:
        """Wait until all was heard."""
        self._player.finish()

    def stop(self) -> float:
        """Be silent; how much was heard, seconds."""
        return self._player.stop()


class _Output:
    """Lets the chunks of one text out."""

    def __init__(self, outlet: PlaybackTarget, played: Played) -> None:
        self._outlet = outlet
        self._played = played
        self._thread = BackgroundThread("yuliu-sound")
        self._to: _FileTarget | _DeviceTarget | None = None
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
            self._outlet.on_change()

    async def finish(self, stream: ClientStream) -> None:
        """Let it sound to its end."""
        if self._to is not None:
            await self._thread.run(self._to.finish)
            self._look(self._to, stream)

    async def stop(self) -> float:
        """Fall silent at once; how much was heard, seconds."""
        return 0.0 if self._to is None else await BackgroundThread("yuliu-stop").run(self._to.stop)

    async def abandon(self) -> None:
        """Fall silent, whatever has happened: what brought us here is what the user must know."""
        with suppress(TimeoutError, OSError, YuliuError):
            async with asyncio.timeout(ABANDON_S):
                await self.stop()

    async def _opened(self, sample_rate: int) -> _FileTarget | _DeviceTarget:
        sink = await self._thread.run(partial(self._outlet.open_sink, sample_rate))
        if not isinstance(sink, SoundDevice):
            return _FileTarget(sink, self._thread)
        if self._outlet.buffer is None:
            self._outlet.buffer = JitterBuffer(sample_rate)
        self._outlet.buffer.restart()
        return _DeviceTarget(sink, sample_rate, self._outlet.buffer)

    def _look(self, to: _FileTarget | _DeviceTarget, stream: ClientStream) -> None:
        """When the first sound was given out, and when it was heard."""
        asked_s, received_s, given_s = stream.entered_at_s, stream.first_sound_at_s, to.began_at_s
        heard_s = to.heard_at_s
        if self._quiet_s is None or asked_s is None or received_s is None or given_s is None or heard_s is None:
            return
        heard_s += self._quiet_s
        self._played.moments = ClientMoments(asked_s=asked_s, received_s=received_s, given_s=given_s, heard_s=heard_s)


async def play(stream: ClientStream, pieces: AsyncIterator[str], outlet: PlaybackTarget, *, played: Played) -> None:
    """Speak the pieces, until they have been heard or the listener interrupts.

    Args:
        stream: Fresh, of PCM; is entered and left here.
        pieces: Of the text, cut anywhere.
        outlet: Where the sound goes.
        played: Kept up to date.

    Raises:
        YuliuError: What the server, or the sound device, could not do.
        OSError: The text could not be read, or the sound not be written.
    """
    output = _Output(outlet, played)
    over = False
    try:
        async with stream:
            if outlet.interrupted is None:
                await _speak(stream, pieces, output)
            elif not await _before(outlet.interrupted, _speak(stream, _kept(pieces, played.said), output)):
                await _interrupt(stream, output, played)
            over = True
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        played.ending, played.num_resumed = stream.ending, stream.num_resumed
        played.times = stream.done.times if stream.done else None
        if not over:
            await output.abandon()


async def _speak(stream: ClientStream, pieces: AsyncIterator[str], output: _Output) -> None:
    async with asyncio.TaskGroup() as tasks:
        pushing = tasks.create_task(_push(stream, pieces))
        async for chunk in stream:
            await output.take(chunk, stream)
        await pushing
    await output.finish(stream)


async def _push(stream: ClientStream, pieces: AsyncIterator[str]) -> None:
    async for piece in pieces:
        await stream.push(piece)
    await stream.end()


async def _kept(pieces: AsyncIterator[str], said: list[str]) -> AsyncIterator[str]:
    async for piece in pieces:
        said.append(piece)
        yield piece


async def _before(interrupted: asyncio.Event, speaking: Coroutine[None, None, None]) -> bool:
    """Whether it came to its end before the event did; else it is cancelled."""
    tasks = [asyncio.create_task(speaking), asyncio.create_task(interrupted.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if tasks[0].cancelled():
        return False
    tasks[0].result()
    return True


async def _interrupt(stream: ClientStream, output: _Output, played: Played) -> None:
    """Silence first; then the server is told how far it came, and says what that was."""
    played.interrupted_at_s = await output.stop()
    with suppress(TimeoutError):
        async with asyncio.timeout(ANSWER_S):
            played.heard = (await stream.cancel(played.interrupted_at_s)).heard
