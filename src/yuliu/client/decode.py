"""From what the server says of one stream to chunks, as the library gives them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.pcm import FULL_SCALE
from yuliu.errors import InvalidRequest
from yuliu.types import Chunk, Span
from yuliu.wire.native.messages import Marks, SegmentBegun, Started, Timings

if TYPE_CHECKING:
    from yuliu.types import Mark, Samples, Timing
    from yuliu.wire.native.messages import Done, Resumed, Stalled

BYTES_PER_SAMPLE = 2


@dataclass(frozen=True, slots=True)
class EncodedSound:
    """Sound of a stream, as encoded."""

    offset: int
    """Place of its first byte in the sound of the stream."""
    data: bytes = field(repr=False)


if TYPE_CHECKING:
    Event = Started | SegmentBegun | Timings | Marks | Stalled | Resumed | Done | EncodedSound
    """What is told of a stream while it goes on."""


class ChunkDecoder:
    """Makes chunks of PCM."""

    def __init__(self) -> None:
        self._started: Started | None = None
        self._source = Span(0, 0)
        self._timings: tuple[Timing, ...] = ()
        self._marks: tuple[Mark, ...] = ()
        self._rest = b""
        self._num_samples = 0

    def receive(self, event: Event) -> Chunk | None:
        """The chunk that an event completes, if it does.

        Raises:
            InvalidRequest: The sound is not PCM.
        """
        match event:
            case Started():
                if event.format != "pcm":
                    reason = f"chunks are made of pcm only, not of {event.format}; take the stream's events instead"
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
        """Marks behind the last sound, on a chunk without samples."""
        return self._made(np.zeros(0, np.float32)) if self._marks and self._started else None

    def _chunk(self, data: bytes) -> Chunk | None:
        if self._started is None:
            raise InvalidRequest("sound came before 'started'")
        data = self._rest + data
        size = BYTES_PER_SAMPLE * self._started.channels
        num_bytes = len(data) - len(data) % size
        self._rest = data[num_bytes:]
        return self._made(samples_of(data[:num_bytes], self._started.channels)) if num_bytes else None

    def _made(self, samples: Samples) -> Chunk:
        assert self._started is not None  # noqa: S101 - looked at before
        rate = self._started.sample_rate
        chunk = Chunk(samples, rate, self._num_samples / rate, self._source, self._timings, self._marks)
        self._num_samples += len(samples)
        self._timings, self._marks = (), ()
        return chunk


def samples_of(data: bytes, num_channels: int = 1) -> Samples:
    """The samples of 16-bit little-endian PCM; of several channels the first, since all are the same."""
    pcm = np.frombuffer(data, "<i2").reshape(-1, num_channels)[:, 0]
    samples: Samples = pcm.astype(np.float32) / np.float32(FULL_SCALE)
    return samples
