"""Text on its way into a stream, in pieces: the event loop has other connections to serve."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.stream import Stream

PIECE_NUM_CHARS = 512
"""So much text is read at a time: about 5 ms of work, in which no other connection is served."""


async def push_text(stream: Stream, text: str) -> None:
    """Push a text, however long, letting others have their turn between its pieces: reading takes time.

    Raises:
        Closed: The stream takes no more.
    """
    for at in range(0, len(text), PIECE_NUM_CHARS):
        await stream.push(text[at : at + PIECE_NUM_CHARS])
        await asyncio.sleep(0)
