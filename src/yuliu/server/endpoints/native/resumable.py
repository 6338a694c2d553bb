"""A delivery that outlives its connection: events go into a replay buffer, which the attached connection sends.

The delivery runs in a task of its own and takes audio only when all before was sent, so a client that does not read, or
is gone, stops its own stream and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol

from yuliu.delivery import (
    AudioEncoded,
    DeliveryFailed,
    DeliveryFinished,
    DeliveryStarted,
    MarksReached,
    PlaybackResumed,
    SegmentStarted,
)
from yuliu.errors import YuliuError
from yuliu.logger import event_logger
from yuliu.server.endpoints.native.orders import change_of
from yuliu.types import Cancelled
from yuliu.wire.native import messages as said

if TYPE_CHECKING:
    from yuliu.access import Principal
    from yuliu.delivery import Delivery, DeliveryEvent, PlaybackStalled
    from yuliu.stream import Timeline
    from yuliu.wire.native.messages import ForText
    from yuliu.wire.native.replay_buffer import ReplayBuffer

_log = event_logger(__name__)


class Connection(Protocol):
    """The connection that a stream is attached to."""

    def wake(self) -> None:
        """Send what is in the replay buffer."""
        ...

    def lost(self, stream: ResumableStream) -> None:
        """Send the stream no longer: another connection has resumed it."""
        ...


class _Fault(YuliuError):
    """A fault of the server that no error class describes."""

    code = "internal_error"


class ResumableStream:
    """One stream of the native protocol.

    Args:
        start: What the client asked for.
        delivery: An opened delivery, which the stream runs and closes.
        buffer: Keeps what is to be sent, and what was.
    """

    def __init__(self, start: said.Start, delivery: Delivery, buffer: ReplayBuffer) -> None:
        self.start = start
        self.delivery = delivery
        self.buffer = buffer
        self._connection: Connection | None = None
        self._sent, self._is_stopped = asyncio.Event(), False
        self._first_sound = FirstSound() if start.times else None
        self.task = asyncio.create_task(delivery.run(self))
        self.task.add_done_callback(self._over)

    @property
    def stream_id(self) -> str:
        """Id that the client resumes with."""
        return self.delivery.caller.stream_id

    @property
    def principal(self) -> Principal:
        """The client that the stream belongs to."""
        return self.delivery.principal

    # What the connection calls.

    def attach(self, connection: Connection) -> None:
        """Send over this connection from now on."""
        before, self._connection = self._connection, connection
        if before is not None:
            before.lost(self)
        self.delivery.writer_back()

    def detach(self, connection: Connection) -> None:
        """Send over this connection no longer."""
        if self._connection is connection:
            self._connection = None
            self.delivery.writer_lost()

    def take(self, message: ForText) -> None:
        """Act on a message about the text.

        Raises:
            InvalidRequest: A setting cannot be changed so; nothing is changed.
        """
        match message:
            case said.TextDelta(text=text):
                self.delivery.write(text)
            case said.Flush():
                self.delivery.flush()
            case said.Config():
                self.delivery.change(change_of(message))
            case said.End():
                self.delivery.end_text()

    def played(self, position_ms: float) -> None:
        """Note the playback position."""
        position_s = min(position_ms, self.buffer.sent_ms) / 1000
        self.delivery.played(position_s, left_s=self.buffer.sent_ms / 1000 - position_s)

    def cancel(self, position_ms: float | None = None) -> said.CancelAck:
        """Stop at once; nothing more is sent."""
        self.buffer.drop_unsent()
        position_s = None if position_ms is None else min(position_ms, self.buffer.sent_ms) / 1000
        ending, heard = self.delivery.cancel(position_s), self.delivery.heard()
        return said.CancelAck(
            seq=self.buffer.num_messages,
            spoken=ending.coverage.spoken,
            skipped=said.skipped_rows(ending.coverage),
            failed=ending.coverage.failed,
            audio_ms=1000 * ending.audio_s,
            delivered_ms=self.buffer.sent_ms,
            num_bytes=self.buffer.num_sent_bytes,
            heard_ms=None if heard is None else 1000 * heard.heard_s,
            heard_source_end=None if heard is None else heard.source_end,
        )

    def all_sent(self) -> None:
        """Go on: everything in the replay buffer was sent."""
        self._sent.set()

    # As the sink of its delivery.

    async def send(self, event: DeliveryEvent) -> None:
        """Put an event into the replay buffer; wait until audio was sent."""
        if isinstance(event, AudioEncoded):
            await self._add(event)
        else:
            for message in self._messages(event):
                self._tell(message)

    def stalled(self, event: PlaybackStalled) -> bool:
        """Report an underrun, if there is a connection that has sent everything."""
        if self._connection is None or self.buffer.has_unsent:
            return False
        self._tell(said.Stalled(audio_ms=self.buffer.sent_ms, waits_for=event.waits_for))
        return True

    def stop(self) -> None:
        """Wait no longer for the client."""
        self._is_stopped = True
        self._sent.set()

    async def _add(self, audio: AudioEncoded) -> None:
        if self._first_sound is not None and audio.data and self.delivery.stream is not None:
            self._first_sound.encoded(self.delivery.stream.timeline)
        self.buffer.add_sound(audio.data, 1000 * audio.until_s)
        self._wake()
        while self.buffer.has_unsent and not self._is_stopped and audio.ending is None:
            self._sent.clear()
            await self._sent.wait()

    def _messages(self, event: DeliveryEvent) -> list[said.Told]:
        match event:
            case DeliveryStarted():
                return [self._started(event)]
            case SegmentStarted(timings=timings):
                start, end = event.source
                begun = said.SegmentBegun(start=start, end=end, at_ms=1000 * event.start_s, spoken=event.spoken)
                is_timed = timings and self.start.timings
                return [begun, said.Timings(rows=said.timing_rows(timings))] if is_timed else [begun]
            case MarksReached(marks=marks):
                return [said.Marks(rows=said.mark_rows(marks))]
            case PlaybackResumed(start_s=start_s):
                return [said.Resumed(audio_ms=1000 * start_s)]
            case DeliveryFinished():
                return [self._done(event)]
            case DeliveryFailed(error=error, ending=ending):
                return [said.failure_of(error, ends="context", ending=ending)]
        return []

    def _started(self, event: DeliveryStarted) -> said.Started:
        return said.Started(
            stream=self.stream_id,
            voice=event.voice,
            format=event.encoding.name,
            media_type=event.encoding.media_type,
            sample_rate=event.encoding.sample_rate,
            channels=event.encoding.num_channels,
            mode="throughput" if event.degraded else "normal",
            resume_s=self.start.resume_s,
        )

    def _done(self, event: DeliveryFinished) -> said.Done:
        coverage = event.ending.coverage
        return said.Done(
            spoken=coverage.spoken,
            skipped=said.skipped_rows(coverage),
            failed=coverage.failed,
            audio_ms=1000 * event.ending.audio_s,
            num_bytes=self.buffer.num_bytes,
            num_characters=event.num_characters,
            degraded=event.ending.degraded,
            warnings=event.ending.warnings,
            times=self._first_sound.times if self._first_sound else None,
        )

    def _tell(self, message: said.Told) -> None:
        self.buffer.tell(message)
        self._wake()

    def _wake(self) -> None:
        if self._connection is not None:
            self._connection.wake()

    def _over(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("stream_failed", id=self.stream_id, exc_info=error)
            fault = _Fault("the server failed; its log says where, under the id of the stream")
            self.delivery.fail(fault)
            self._tell(said.failure_of(fault, ends="context", ending=self.delivery.ending or Cancelled()))
        self.delivery.record.num_bytes = self.buffer.num_sent_bytes
        self.delivery.close()


class FirstSound:
    """Parts of the time to the first sound of a stream, for a client that asks for them."""

    def __init__(self) -> None:
        self.times: said.Times | None = None
        """Known once there was sound."""

    def encoded(self, timeline: Timeline) -> None:
        """Note that bytes are ready to be sent; those of a header, or of a lead-in, do not count."""
        if self.times is not None or timeline.taken_at_s is None:
            return
        now = time.monotonic()
        parts = {f"{part}_ms": 1000 * part_s for part, part_s in timeline.parts.items()}
        self.times = said.Times(
            opened_ms=1000 * timeline.opened_at_s,
            encoded_ms=1000 * now,
            encode_ms=1000 * (now - timeline.taken_at_s),
            **parts,
        )
