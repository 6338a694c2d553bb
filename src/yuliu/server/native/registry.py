"""All streams of one server, so that clients find theirs again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.server.native.kept import KeptStream


class Streams:
    """All streams of one server, by the id that clients resume with.

    A stream whose client is gone, or that is over, is kept for as long as its client asked for.
    """

    def __init__(self) -> None:
        self._streams: dict[str, KeptStream] = {}
        self._alarms: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, stream: KeptStream) -> None:
        """A new one."""
        self._streams[stream.stream_id] = stream
        self._tasks.add(stream.task)
        stream.task.add_done_callback(self._tasks.discard)

    def find(self, stream_id: str) -> KeptStream | None:
        """One that can be resumed."""
        return self._streams.get(stream_id)

    def keep(self, stream: KeptStream) -> None:
        """Its client is gone, or it is over: forget it after a while, and end it then."""
        if stream.stream_id not in self._streams:
            return
        self.hold(stream)
        if stream.start.resume_s <= 0:
            self.drop(stream)
            return
        loop = asyncio.get_running_loop()
        self._alarms[stream.stream_id] = loop.call_later(stream.start.resume_s, self.drop, stream)

    def hold(self, stream: KeptStream) -> None:
        """Its client is there again."""
        if (alarm := self._alarms.pop(stream.stream_id, None)) is not None:
            alarm.cancel()

    def drop(self, stream: KeptStream) -> None:
        """Forget it; if it is not over, end it."""
        self.hold(stream)
        self._streams.pop(stream.stream_id, None)
        if not stream.task.done():
            stream.cancel()
        stream.window.clear()

    async def close(self) -> None:
        """End all of them."""
        for stream in list(self._streams.values()):
            self.drop(stream)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))
