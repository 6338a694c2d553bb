"""Output of speech: writes the audio of a text to a sink, or plays it on the sound device."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self

from yuliu.cli.audio_io.device import open_device
from yuliu.cli.background_thread import BackgroundThread
from yuliu.client.latency import silence_s
from yuliu.errors import YuliuError
from yuliu.playback.jitter_buffer import JitterBuffer
from yuliu.playback.player import Player

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from yuliu.cli.audio_io.sinks import AudioSink
    from yuliu.playback.device import SoundDevice
    from yuliu.types import Chunk, Samples

BLOCK_S = 0.2
"""Length of the blocks of audio, so that a Ctrl-C takes effect after at most one of them, seconds."""
ABANDON_S = 1.0
"""Maximum wait for an output to close after an early end, if its last write does not return, seconds."""
MAX_AHEAD_S = 0.5
"""Audio in the player above which no more is taken, seconds."""
POLL_S = 0.05
"""Interval of the checks whether the player has caught up, seconds."""


class AudioWriter(Protocol):
    """Destination of audio that an event loop can write to."""

    @property
    def began_at_s(self) -> float | None:
        """Time of the first write, seconds of ``time.monotonic``; None before that."""
        ...

    @property
    def heard_at_s(self) -> float | None:
        """Time at which the first audio was heard, seconds of ``time.monotonic``; None before that."""
        ...

    async def write(self, samples: Samples) -> None:
        """Write samples; wait until there is room for more."""
        ...

    async def finish(self) -> None:
        """Deliver the written audio to its end, and close."""
        ...

    async def stop(self) -> float:
        """Close immediately, and return the duration of the audio that was heard, seconds."""
        ...


class SinkWriter:
    """Writes to a file or pipe, all calls of which are made on one thread.

    Args:
        sink: Open sink.
        thread: Thread for its calls.
    """

    def __init__(self, sink: AudioSink, thread: BackgroundThread) -> None:
        self._sink, self._thread = sink, thread
        self.began_at_s: float | None = None
        """Time of the first write, seconds of ``time.monotonic``."""

    @classmethod
    async def open(cls, open_sink: Callable[[int], AudioSink], sample_rate: int) -> Self:
        """Open a sink on its thread."""
        thread = BackgroundThread("yuliu-audio")
        return cls(await thread.run(partial(open_sink, sample_rate)), thread)

    @property
    def heard_at_s(self) -> float | None:
        """Same as ``began_at_s``: written audio counts as heard."""
        return self.began_at_s

    async def write(self, samples: Samples) -> None:
        """Write samples."""
        if self.began_at_s is None:
            self.began_at_s = time.monotonic()
        await self._thread.run(partial(self._sink.write, samples))

    async def finish(self) -> None:
        """Finish the sink."""
        await self._thread.run(self._sink.finish)

    async def stop(self) -> float:
        """Abandon the sink; nothing counts as heard."""
        await self._thread.run(self._sink.abandon)
        return 0.0


class PlayerWriter:
    """Plays audio, and reports the position.

    Args:
        player: New player.
        report: Called with the playback position after each write, seconds.
    """

    def __init__(self, player: Player, report: Callable[[float], Awaitable[None]]) -> None:
        self._player, self._report = player, report

    @property
    def began_at_s(self) -> float | None:
        """Time of the first write to the device, seconds of ``time.monotonic``."""
        return self._player.began_at_s

    @property
    def heard_at_s(self) -> float | None:
        """Time at which the first audio was heard, seconds of ``time.monotonic``."""
        return self._player.heard_at_s

    async def write(self, samples: Samples) -> None:
        """Play samples; wait while the player is far ahead."""
        self._player.put(samples)
        while self._player.level_s > MAX_AHEAD_S:
            await asyncio.sleep(POLL_S)
            self._player.check()
        await self._report(self._player.position_s)

    async def finish(self) -> None:
        """Wait until all audio has been heard."""
        await BackgroundThread("yuliu-finish").run(self._player.finish)

    async def stop(self) -> float:
        """Fall silent immediately, and return the position in seconds."""
        return await BackgroundThread("yuliu-stop").run(self._player.stop)


class DevicePlayback:
    """Playback on the sound device of several texts in turn, with one jitter buffer.

    Args:
        open_device: Opens the device for a sample rate, Hz.
    """

    def __init__(self, open_device: Callable[[int], SoundDevice] = open_device) -> None:
        self._open_device = open_device
        self._buffer: JitterBuffer | None = None

    async def open(self, report: Callable[[float], Awaitable[None]], sample_rate: int) -> PlayerWriter:
        """Open the device for the next text."""
        device = await BackgroundThread("yuliu-device").run(partial(self._open_device, sample_rate))
        if self._buffer is None:
            self._buffer = JitterBuffer(sample_rate)
        self._buffer.restart()
        return PlayerWriter(Player(device, sample_rate, buffer=self._buffer), report)


class SpeechOutput:
    """Output of one text, opened at its first chunk. Enter it with ``async with``: an early exit silences it.

    Args:
        open_writer: Opens the destination for a sample rate, Hz.
        on_change: Called after each block of audio; must be quick.
    """

    def __init__(
        self, open_writer: Callable[[int], Awaitable[AudioWriter]], *, on_change: Callable[[], None] = lambda: None
    ) -> None:
        self.num_chars: int = 0
        """Characters of text whose audio has been written."""
        self.audio_s: float = 0.0
        """Audio written, seconds."""
        self.silence_s: float | None = None
        """Silence before the first audible sample, seconds; None while there is none."""
        self.writer: AudioWriter | None = None
        """Destination, once it is open."""
        self._open_writer = open_writer
        self._on_change = on_change
        self._is_closed = False

    async def __aenter__(self) -> Self:
        """Return the output."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Silence the output unless it was finished; its own errors would hide the one that led here."""
        if not self._is_closed:
            with suppress(TimeoutError, OSError, YuliuError):
                async with asyncio.timeout(ABANDON_S):
                    await self.stop()

    async def open(self, sample_rate: int) -> AudioWriter:
        """Open the destination ahead of the first chunk."""
        if self.writer is None:
            self.writer = await self._open_writer(sample_rate)
        return self.writer

    async def write(self, chunk: Chunk) -> None:
        """Write a chunk, block by block."""
        writer = await self.open(chunk.sample_rate)
        if self.silence_s is None and (quiet_s := silence_s(chunk.samples, chunk.sample_rate)) is not None:
            self.silence_s = chunk.start_s + quiet_s
        num_samples = round(BLOCK_S * chunk.sample_rate)
        for at in range(0, len(chunk.samples), num_samples):
            block = chunk.samples[at : at + num_samples]
            await writer.write(block)
            self.audio_s += len(block) / chunk.sample_rate
            self._on_change()
        self.num_chars = chunk.source.end

    async def finish(self) -> None:
        """Deliver the audio to its end."""
        if self.writer is not None:
            await self.writer.finish()
        self._is_closed = True

    async def stop(self) -> float:
        """Fall silent immediately, and return the duration of the audio that was heard, seconds."""
        self._is_closed = True
        return 0.0 if self.writer is None else await self.writer.stop()
