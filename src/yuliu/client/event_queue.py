"""Queue of the events of one stream, between its connection and its reader."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from yuliu.client.decode import EncodedSound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from yuliu.client.decode import Event
    from yuliu.errors import YuliuError

MAX_UNREAD_BYTES = 4 * 1024 * 1024
"""Maximum unread audio of a stream before reading of its connection pauses: 87 s at 24 kHz."""


class EventQueue:
    """Events in order, for one reader. It takes any number of events; their sender may wait for :meth:`room`."""

    def __init__(self) -> None:
        self.error: YuliuError | None = None
        """Error that the reader gets after the last event."""
        self._events: deque[Event] = deque()
        self._num_unread_bytes = 0
        self._is_closed = False
        self._changed, self._has_room = asyncio.Event(), asyncio.Event()

    def put(self, event: Event) -> None:
        """Add an event; ignore it if the queue is closed."""
        if self._is_closed:
            return
        self._events.append(event)
        if isinstance(event, EncodedSound):
            self._num_unread_bytes += len(event.data)
        self._changed.set()

    def close(self, error: YuliuError | None = None) -> None:
        """End the events, with an error if there is one; waiting events can still be read."""
        self._is_closed = True
        self.error = self.error or error
        self._changed.set()
        self._has_room.set()

    def discard(self) -> None:
        """Drop the waiting events, and end."""
        self._events.clear()
        self._num_unread_bytes = 0
        self.close()

    async def room(self) -> None:
        """Wait until the reader has caught up."""
        while self._num_unread_bytes > MAX_UNREAD_BYTES and not self._is_closed:
            self._has_room.clear()
            await self._has_room.wait()

    async def events(self) -> AsyncIterator[Event]:
        """Iterate over the events until the end.

        Raises:
            YuliuError: The error with which the queue was closed.
        """
        while True:
            while self._events:
                yield self._next()
            if self.error is not None:
                raise self.error
            if self._is_closed:
                return
            self._changed.clear()
            await self._changed.wait()

    def _next(self) -> Event:
        event = self._events.popleft()
        if isinstance(event, EncodedSound):
            self._num_unread_bytes -= len(event.data)
            self._has_room.set()
        return event
