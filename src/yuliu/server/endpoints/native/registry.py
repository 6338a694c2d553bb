"""All streams of one server, so that clients can resume theirs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from yuliu.delivery.capacity import RETRY_AFTER_S
from yuliu.errors import Overloaded
from yuliu.wire.native.replay_buffer import ReplayBuffer, Tally, forget_oldest

if TYPE_CHECKING:
    from yuliu.server.endpoints.native.resumable import ResumableStream
    from yuliu.server.limits import NativeLimits
    from yuliu.wire.native.messages import Start


class StreamRegistry:
    """All streams of one server, by the id that clients resume with.

    A stream that is over, or whose client is gone, is kept for as long as its client asked for.

    Args:
        limits: How much is kept, and for how long.
    """

    def __init__(self, limits: NativeLimits) -> None:
        self.tally = Tally()
        """Bytes that all streams keep."""
        self._limits = limits
        self._streams: dict[str, ResumableStream] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, stream: ResumableStream) -> None:
        """Add a new stream."""
        self._streams[stream.stream_id] = stream
        self._tasks.add(stream.task)
        stream.task.add_done_callback(self._tasks.discard)

    def replay_buffer(self, start: Start) -> ReplayBuffer:
        """Return the buffer of a new stream. A stream that cannot be resumed keeps nothing that was sent."""
        max_bytes = self._limits.kept_bytes if start.resume_s > 0 else 0
        return ReplayBuffer(max_bytes, self._limits.kept_s, self.tally)

    def find(self, stream_id: str) -> ResumableStream | None:
        """Return the stream with this id, if it can be resumed."""
        return self._streams.get(stream_id)

    def resume(self, stream: ResumableStream, offset: int, seq: int) -> None:
        """Send a stream again from what its client has received.

        Raises:
            NotKept: Some of what the client has not received is not kept any more.
            Overloaded: Too much audio is being sent again, to all clients together.
        """
        if 2 * self.tally.num_again > self._limits.kept_total_bytes:
            raise Overloaded("too much sound is being sent again; try again", retry_after_s=RETRY_AFTER_S)
        stream.buffer.rewind(offset, seq)
        self._stop_timer(stream)

    def trim(self) -> None:
        """Forget the oldest audio beyond the limit over all streams; call this when more is kept."""
        max_bytes = self._limits.kept_total_bytes
        if self.tally.num_kept + self.tally.num_again <= max_bytes:
            return
        low = max_bytes - max_bytes // 8  # so that this is done only now and then
        forget_oldest([self._streams[each].buffer for each in self._timers], self.tally, low)
        forget_oldest([each.buffer for each in self._streams.values()], self.tally, max_bytes)

    def keep(self, stream: ResumableStream) -> None:
        """Keep a stream that is over, or whose client is gone, for a while; then forget it."""
        if stream.stream_id not in self._streams:
            return
        self._stop_timer(stream)
        stream.buffer.put_back()
        if stream.start.resume_s <= 0:
            self.drop(stream)
            return
        loop = asyncio.get_running_loop()
        self._timers[stream.stream_id] = loop.call_later(stream.start.resume_s, self.drop, stream)

    def drop(self, stream: ResumableStream) -> None:
        """Forget a stream; if it is not over, cancel it."""
        self._stop_timer(stream)
        self._streams.pop(stream.stream_id, None)
        if not stream.task.done():
            stream.cancel()
        stream.buffer.clear()

    async def close(self) -> None:
        """Cancel all streams, and wait for them."""
        for stream in list(self._streams.values()):
            self.drop(stream)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    def _stop_timer(self, stream: ResumableStream) -> None:
        if (timer := self._timers.pop(stream.stream_id, None)) is not None:
            timer.cancel()
