"""Encoded responses of any endpoint, and the arrival of their first byte and first sample of audio. Pure."""

from __future__ import annotations

import base64
import itertools
import json
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

import av
import numpy as np

from yuliu.audio.encode import Encoder
from yuliu.bench.playback import ChunkArrival

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from yuliu.audio.formats import Encoding, FormatName
    from yuliu.types import Samples

_BYTES_PER_SAMPLE: dict[FormatName, int] = {"pcm": 2, "mulaw": 1, "alaw": 1}
"""Size of a sample of the formats that consist of samples alone."""
_FFMPEG_NAMES: dict[FormatName, str] = {"aac": "aac", "mp3": "mp3"}
"""FFmpeg's names of the formats without a container."""
_DATA = b"data: "
TimedPieces = list[tuple[float, bytes]]
"""Pieces of a response, each with its arrival in seconds since the request."""


@dataclass(frozen=True, slots=True)
class EncodedResponse:
    """One whole response."""

    encoding: Encoding
    audio: bytes = field(repr=False)
    """The encoded bytes, including the container's header."""
    arrivals: tuple[ChunkArrival, ...]
    """Arrivals of these bytes."""
    num_header_bytes: int
    """Length of the container's header, which is not audio."""

    @property
    def first_byte_s(self) -> float:
        """Time from the request to the first byte of audio.

        Raises:
            RuntimeError: The response holds no audio.
        """
        return self._first_time(lambda _: True)

    @property
    def decodable_s(self) -> float:
        """Time from the request until a decoder with all bytes so far returns a first sample.

        Raises:
            RuntimeError: The response holds no audio.
        """
        return self._first_time(lambda audio: is_decodable(audio, self.encoding))

    def _first_time(self, is_enough: Callable[[bytes], bool]) -> float:
        for at_s, audio in self._prefixes():
            if is_enough(audio):
                return at_s
        raise RuntimeError("the response holds no audio")

    def _prefixes(self) -> Iterator[tuple[float, bytes]]:
        """Yield all bytes so far at each time at which there was audio among them."""
        num_bytes = 0
        for arrival in self.arrivals:
            num_bytes += arrival.num_bytes
            if num_bytes > self.num_header_bytes:
                yield arrival.at_s, self.audio[:num_bytes]


def encoded_response(encoding: Encoding, source_rate: int, pieces: Iterable[tuple[float, bytes]]) -> EncodedResponse:
    """Return a response from its pieces, each with its arrival in seconds since the request."""
    pieces = list(pieces)
    arrivals = tuple(ChunkArrival(at_s, len(data)) for at_s, data in pieces if data)
    audio = b"".join(data for _, data in pieces)
    return EncodedResponse(encoding, audio, arrivals, header_num_bytes(encoding, source_rate))


def audio_of_events(pieces: Iterable[tuple[float, bytes]]) -> Iterator[tuple[float, bytes]]:
    """Yield the audio in a stream of server-sent events, each piece with the time at which its event was complete.

    Raises:
        RuntimeError: One of the events is an error.
    """
    rest = b""
    for at_s, data in pieces:
        *events, rest = (rest + data).split(b"\n\n")
        for event in events:
            fields = json.loads(event.removeprefix(_DATA))
            if fields["type"] == "error":
                raise RuntimeError(f"the server failed: {fields['error']['code']}")
            if fields["type"] == "speech.audio.delta":
                yield at_s, base64.b64decode(fields["audio"])


@cache
def header_num_bytes(encoding: Encoding, source_rate: int) -> int:
    """Return the length of a container's header: the common prefix of the responses for silence and for noise."""
    silence = np.zeros(source_rate, np.float32)
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, source_rate).astype(np.float32)
    bodies = zip(_encoded(silence, encoding, source_rate), _encoded(noise, encoding, source_rate), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], bodies))


def _encoded(samples: Samples, encoding: Encoding, source_rate: int) -> bytes:
    with Encoder(encoding, source_rate) as encoder:
        return encoder.write(samples) + encoder.finish()


def is_decodable(audio: bytes, encoding: Encoding) -> bool:
    """Return whether FFmpeg decodes a sample from the beginning of a response alone."""
    if (size := _BYTES_PER_SAMPLE.get(encoding.name)) is not None:
        return len(audio) >= size * encoding.num_channels
    try:
        with av.open(BytesIO(audio), "r", format=_FFMPEG_NAMES.get(encoding.name)) as container:
            return bool(container.streams.audio) and any(frame.samples for frame in container.decode(audio=0))
    except av.FFmpegError:
        return False
