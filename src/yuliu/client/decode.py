"""Chunks and endings of the library from the server's messages about one stream. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.pcm import FULL_SCALE
from yuliu.errors import InvalidRequest
from yuliu.types import Cancelled, Chunk, Coverage, Failed, Finished, Heard, Span
from yuliu.wire.native.messages import Marks, SegmentBegun, Started, Timings

if TYPE_CHECKING:
    from yuliu.types import Mark, Samples, Timing
    from yuliu.wire.native.messages import CancelAck, Done, Failure, Resumed, Stalled

BYTES_PER_SAMPLE = 2


@dataclass(frozen=True, slots=True)
class EncodedSound:
    """Encoded audio of a stream."""

    offset: int
    """Position of the first byte in the audio of the stream."""
    data: bytes = field(repr=False)


if TYPE_CHECKING:
    Event = Started | SegmentBegun | Timings | Marks | Stalled | Resumed | Done | EncodedSound
    """Event of a stream."""


class ChunkDecoder:
    """Makes chunks from the events of a PCM stream."""

    def __init__(self) -> None:
        self._started: Started | None = None
        self._source = Span(0, 0)
        self._timings: tuple[Timing, ...] = ()
        self._marks: tuple[Mark, ...] = ()
        self._rest = b""
        self._num_samples = 0

    def receive(self, event: Event) -> Chunk | None:
        """Return the chunk that an event completes, if any.

        Raises:
            InvalidRequest: The audio is not PCM.
        """
        match event:
            case Started():
                if event.format != "pcm":
                    reason = f"chunks exist for pcm only, not for {event.format}; read the stream's events instead"
                    raise InvalidRequest(reason, param="format")
                self._started = event
            case SegmentBegun(source=source):
                self._source = source
            case Timings(timings=timings):
                self._timings += timings
            case Marks(marks=marks):
                self._marks += marks
            case EncodedSound(data=data):
                return self._chunk(data)
        return None

    def finish(self) -> Chunk | None:
        """Return the marks after the last audio, on a chunk without samples."""
        return self._made(np.zeros(0, np.float32)) if self._marks and self._started else None

    def _chunk(self, data: bytes) -> Chunk | None:
        if self._started is None:
            raise InvalidRequest("audio arrived before 'started'")
        data = self._rest + data
        size = BYTES_PER_SAMPLE * self._started.channels
        num_bytes = len(data) - len(data) % size
        self._rest = data[num_bytes:]
        return self._made(samples_of(data[:num_bytes], self._started.channels)) if num_bytes else None

    def _made(self, samples: Samples) -> Chunk:
        assert self._started is not None  # noqa: S101 - checked by the callers
        rate = self._started.sample_rate
        chunk = Chunk(samples, rate, self._num_samples / rate, self._source, self._timings, self._marks)
        self._num_samples += len(samples)
        self._timings, self._marks = (), ()
        return chunk


def samples_of(data: bytes, num_channels: int = 1) -> Samples:
    """Return the samples of 16-bit little-endian PCM; of several channels the first, since all are the same."""
    pcm = np.frombuffer(data, "<i2").reshape(-1, num_channels)[:, 0]
    samples: Samples = pcm.astype(np.float32) / np.float32(FULL_SCALE)
    return samples


def finished_of(message: Done) -> Finished:
    """Return the ending of a finished stream."""
    return Finished(message.coverage, message.audio_ms / 1000, message.warnings, degraded=message.degraded)


def failed_of(message: Failure) -> Failed:
    """Return the ending of a stream that failed; without coverage, nothing was spoken."""
    coverage = message.coverage or Coverage()
    return Failed(message.code, message.message, coverage, (message.audio_ms or 0.0) / 1000)


def cancelled_of(message: CancelAck) -> Cancelled:
    """Return the ending of a cancelled stream, with what was heard if the position was known."""
    heard = None
    if message.heard_ms is not None and message.heard_source_end is not None:
        heard = Heard(message.heard_ms / 1000, message.heard_source_end)
    return Cancelled(message.coverage, message.audio_ms / 1000, message.delivered_ms / 1000, heard)
