"""All streams of one server, so that clients find theirs again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from yuliu.errors import Overloaded
from yuliu.server.capacity import RETRY_AFTER_S
from yuliu.wire.native.replay_buffer import ReplayBuffer, Tally, forget_oldest

if TYPE_CHECKING:
    from yuliu.server.native.limits import NativeLimits
    from yuliu.server.native.resumable import ResumableStream
    from yuliu.wire.native.messages import Start


class StreamRegistry:
    """All streams of one server, by the id that clients resume with.

    A stream whose client is gone, or that is over, is kept for as long as its client asked for.

    Args:
        limits: How much is kept.
    """

    def __init__(self, limits: NativeLimits) -> None:
        self.tally = Tally()
        """What all of them keep."""
        self._limits = limits
        self._streams: dict[str, ResumableStream] = {}
        self._alarms: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, stream: ResumableStream) -> None:
        """A new one."""
        self._streams[stream.stream_id] = stream
        self._tasks.add(stream.task)
        stream.task.add_done_callback(self._tasks.discard)

    def window(self, start: Start) -> ReplayBuffer:
        """Where a new stream keeps what was sent. One that is not waited for keeps nothing."""
        max_bytes = self._limits.kept_bytes if start.resume_s > 0 else 0
        return ReplayBuffer(max_bytes, self._limits.kept_s, self.tally)

    def find(self, stream_id: str) -> ResumableStream | None:
        """One that can be resumed."""
        return self._streams.get(stream_id)

    def resume(self, stream: ResumableStream, offset: int, seq: int) -> None:
        """Its client is there again, and has so much.

        Raises:
            NotKept: What it has not is not kept.
            Overloaded: Too much is being sent again, to whoever.
        """
        if 2 * self.tally.num_again > self._limits.kept_total_bytes:
            raise Overloaded("too much sound is being sent again; try again", retry_after_s=RETRY_AFTER_S)
        stream.window.rewind(offset, seq)
        self.hold(stream)

    def trim(self) -> None:
        """Keep no more than may be kept; called when more is."""
        most = self._limits.kept_total_bytes
        if self.tally.num_kept + self.tally.num_again <= most:
            return
        low = most - most // 8  # so that this is done now and then only
        forget_oldest([self._streams[each].window for each in self._alarms], self.tally, low)
        forget_oldest([each.window for each in self._streams.values()], self.tally, most)

    def keep(self, stream: ResumableStream) -> None:
        """Its client is gone, or it is over: forget it after a while, and end it then."""
        if stream.stream_id not in self._streams:
            return
        self.hold(stream)
        stream.window.put_back()
        if stream.start.resume_s <= 0:
            self.drop(stream)
            return
        loop = asyncio.get_running_loop()
        self._alarms[stream.stream_id] = loop.call_later(stream.start.resume_s, self.drop, stream)

    def hold(self, stream: ResumableStream) -> None:
        """Its client is there again."""
        if (alarm := self._alarms.pop(stream.stream_id, None)) is not None:
            alarm.cancel()

    def drop(self, stream: ResumableStream) -> None:
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
