"""From the chunks of a stream to events for a sink: segments, encoded audio, and underruns of the listener."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from yuliu.delivery.events import (
    AudioEncoded,
    MarksReached,
    PlaybackResumed,
    PlaybackStalled,
    SegmentStarted,
)
from yuliu.delivery.underrun import UnderrunTimer
from yuliu.errors import NothingToSpeak
from yuliu.text.scripts import is_wide
from yuliu.types import Finished, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.delivery.access_log import AccessRecord
    from yuliu.delivery.encoder_pool import StreamEncoder, WholeEncoder
    from yuliu.delivery.events import DeliveryEvent
    from yuliu.delivery.order import Order
    from yuliu.stream import Stream
    from yuliu.types import Chunk, Timing


class Sink(Protocol):
    """Destination of a delivery's events."""

    async def send(self, event: DeliveryEvent) -> None:
        """Take an event; wait while the client takes no more audio.

        Raises:
            YuliuError: The protocol cannot send the event; the delivery fails.
        """
        ...

    def stalled(self, event: PlaybackStalled) -> bool:
        """Take an underrun, at a time when :meth:`send` is not at work. Return whether the client is told."""
        ...

    def stop(self) -> None:
        """Wait no longer in :meth:`send`: the delivery was cancelled, or has failed."""
        ...


class Production:
    """The audio of one stream in the making.

    Args:
        order: What was ordered.
        stream: Gives the chunks.
        encoder: Encodes them.
        sink: Gets the events.
        record: Notes what is sent.
    """

    def __init__(
        self, order: Order, stream: Stream, encoder: StreamEncoder | WholeEncoder, sink: Sink, record: AccessRecord
    ) -> None:
        self.has_sound: bool = False
        """True once there was more than a lead-in."""
        self._order, self._stream, self._encoder, self._sink, self._record = order, stream, encoder, sink, record
        self._underruns = UnderrunTimer(asyncio.get_running_loop(), self._stalled) if order.progress else None
        self._is_stalled = self._is_stopped = False
        self._source = Span(0, 0)
        self._unsent_s = 0.0

    async def run(self) -> None:
        """Send all events from the first chunk to the end of the container.

        Raises:
            YuliuError: The stream, the encoder or the sink failed.
        """
        async for chunk in self._stream:
            if self._underruns is not None:
                self._underruns.stop()
            await self._announce(chunk)
            await self._encode(chunk)
            if self._is_stopped:
                return
            if self._underruns is not None:
                self._underruns.sent(len(chunk.samples) / chunk.sample_rate)
        ending = self._stream.ending
        if isinstance(ending, Finished) and not self._is_stopped:
            await self._complete(ending)

    def left(self, length_s: float) -> None:
        """Note the length of the audio that the listener still has to play."""
        if self._underruns is not None:
            self._underruns.left(length_s)

    def stop(self) -> None:
        """Send nothing more, and watch for no underruns."""
        self._is_stopped = True
        self._sink.stop()
        if self._underruns is not None:
            self._underruns.stop()

    async def _announce(self, chunk: Chunk) -> None:
        """Send the events that belong before the audio of a chunk."""
        self.has_sound |= len(chunk.samples) > 0 and not chunk.lead_in
        if not self._order.progress:
            return
        if self._is_stalled:
            self._is_stalled = False
            await self._sink.send(PlaybackResumed(chunk.start_s))
        is_sound = bool(chunk.timings) or (len(chunk.samples) > 0 and bool(chunk.samples.any()))
        if is_sound and chunk.source != self._source:
            self._source = chunk.source
            spoken = spoken_words(chunk.timings)
            await self._sink.send(SegmentStarted(chunk.source, chunk.start_s, spoken, chunk.timings))
        if chunk.marks:
            await self._sink.send(MarksReached(chunk.marks))

    async def _encode(self, chunk: Chunk) -> None:
        num_samples = 0
        for piece in self._encoder.pieces(chunk.samples):
            data = await self._encoder.write(piece)
            if self._is_stopped:
                return
            num_samples += len(piece)
            self._unsent_s += len(piece) / chunk.sample_rate
            until_s = chunk.start_s + num_samples / chunk.sample_rate
            if num_samples == len(chunk.samples) and self._stream.ending is not None:
                until_s = self._stream.ending.audio_s
            await self._send(AudioEncoded(data, until_s))

    async def _complete(self, ending: Finished) -> None:
        """Send what the encoder holds back, and the end of its container."""
        if self._order.must_sound and not self.has_sound:
            field = self._order.text_field
            raise NothingToSpeak(f"the {field or 'text'} holds nothing that the voice can say", param=field)
        if ending.audio_s:  # a container without audio would be taken for an answer
            data = await self._encoder.finish()
            if not self._is_stopped:
                await self._send(AudioEncoded(data, ending.audio_s, ending))

    async def _send(self, audio: AudioEncoded) -> None:
        self._stream.num_bytes += len(audio.data)
        if audio.data:
            self._record.sending(len(audio.data), self._unsent_s, is_sound=self.has_sound)
            self._unsent_s = 0.0
        await self._sink.send(audio)

    def _stalled(self) -> None:
        if self._stream.ending is None and not (self._is_stalled or self._is_stopped):
            self._is_stalled = self._sink.stalled(PlaybackStalled(self._stream.waits_for))


def spoken_words(timings: Iterable[Timing]) -> str:
    """Return the words of timings, with spaces where their scripts have them: Chinese characters have none."""
    spoken = ""
    for timing in timings:
        if spoken and timing.text and not (is_wide(spoken[-1]) or is_wide(timing.text[0])):
            spoken += " "
        spoken += timing.text
    return spoken
