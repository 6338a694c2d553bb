"""Flow of ``say`` and ``client``: one task pushes the text while another outputs the audio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from yuliu.errors import YuliuError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from yuliu.cli.audio_io.speech_output import SpeechOutput
    from yuliu.types import Chunk, Ending


class SpeechStream(Protocol):
    """Stream of the library, or of a client of a server."""

    @property
    def ending(self) -> Ending | None:
        """Terminal event, once the stream has ended."""
        ...

    async def push(self, text: str, /) -> None:
        """Push more text, cut anywhere."""
        ...

    async def end(self) -> None:
        """End the text."""
        ...

    def __aiter__(self) -> AsyncIterator[Chunk]:
        """Iterate over the audio."""
        ...


async def speak(stream: SpeechStream, pieces: AsyncIterator[str], output: SpeechOutput) -> None:
    """Speak a text until the output has delivered all audio.

    Args:
        stream: Open stream.
        pieces: Pieces of the text, cut anywhere.
        output: Open output.

    Raises:
        YuliuError: An engine, the server or the sound device failed.
        OSError: The text could not be read, or the audio could not be written.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            pushing = tasks.create_task(_push(stream, pieces))
            async for chunk in stream:
                await output.write(chunk)
            await pushing
    except ExceptionGroup as group:
        raise group.exceptions[-1] from None  # that of the reader, if it has one
    await output.finish()


async def _push(stream: SpeechStream, pieces: AsyncIterator[str]) -> None:
    """Push all pieces. An error that has ended the stream is left to the reader to raise."""
    try:
        async for piece in pieces:
            await stream.push(piece)
        await stream.end()
    except YuliuError:
        if stream.ending is None:
            raise
