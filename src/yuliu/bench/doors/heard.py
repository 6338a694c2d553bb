"""What came of one request through any door: encoded sound, and when which of it came. Pure."""

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
from yuliu.bench.playback import Arrival

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from yuliu.audio.formats import Encoding, FormatName
    from yuliu.types import Samples

_SAMPLES: dict[FormatName, int] = {"pcm": 2, "mulaw": 1, "alaw": 1}
"""Bytes of a sample, of formats that are samples and nothing else."""
_RAW: dict[FormatName, str] = {"aac": "aac", "mp3": "mp3"}
"""How FFmpeg is told what the formats without a container are."""
_DATA = b"data: "


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer, whole."""

    encoding: Encoding
    sound: bytes = field(repr=False)
    """As encoded, the container's head included."""
    arrivals: tuple[Arrival, ...]
    """Of these bytes."""
    num_head_bytes: int
    """Of the container's head, which is not sound."""

    @property
    def first_s(self) -> float:
        """From the request to the first byte of sound, seconds.

        Raises:
            RuntimeError: There was no sound.
        """
        return self._moment(lambda _: True)

    @property
    def decodable_s(self) -> float:
        """From the request until a decoder that has all bytes so far gives a first sample, seconds.

        Raises:
            RuntimeError: There was none.
        """
        return self._moment(lambda sound: gives_sound(sound, self.encoding))

    def _moment(self, is_enough: Callable[[bytes], bool]) -> float:
        for at_s, sound in self._beginnings():
            if is_enough(sound):
                return at_s
        raise RuntimeError("the answer holds no sound")

    def _beginnings(self) -> Iterator[tuple[float, bytes]]:
        """All bytes at each moment at which there was sound among them."""
        num_bytes = 0
        for arrival in self.arrivals:
            num_bytes += arrival.num_bytes
            if num_bytes > self.num_head_bytes:
                yield arrival.at_s, self.sound[:num_bytes]


def heard(encoding: Encoding, source_rate: int, pieces: Iterable[tuple[float, bytes]]) -> Heard:
    """An answer from its pieces, each with the moment it came, seconds since the request was sent."""
    pieces = list(pieces)
    arrivals = tuple(Arrival(at_s, len(data)) for at_s, data in pieces if data)
    return Heard(encoding, b"".join(data for _, data in pieces), arrivals, head_num_bytes(encoding, source_rate))


def sound_of_events(pieces: Iterable[tuple[float, bytes]]) -> Iterator[tuple[float, bytes]]:
    """The sound in a stream of events, each piece with the moment at which its event was whole.

    Raises:
        RuntimeError: One of them is an error.
    """
    rest = b""
    for at_s, data in pieces:
        *events, rest = (rest + data).split(b"\n\n")
        for event in events:
            told = json.loads(event.removeprefix(_DATA))
            if told["type"] == "error":
                raise RuntimeError(f"the server failed: {told['error']['code']}")
            if told["type"] == "speech.audio.delta":
                yield at_s, base64.b64decode(told["audio"])


@cache
def head_num_bytes(encoding: Encoding, source_rate: int) -> int:
    """Length of a container's head: with what all answers begin, whatever is spoken."""
    silence = np.zeros(source_rate, np.float32)
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, source_rate).astype(np.float32)
    bodies = zip(_encoded(silence, encoding, source_rate), _encoded(noise, encoding, source_rate), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], bodies))


def _encoded(samples: Samples, encoding: Encoding, source_rate: int) -> bytes:
    with Encoder(encoding, source_rate) as encoder:
        return encoder.write(samples) + encoder.finish()


def gives_sound(sound: bytes, encoding: Encoding) -> bool:
    """Whether FFmpeg makes a sample of the beginning of an answer, and of nothing else."""
    if (size := _SAMPLES.get(encoding.name)) is not None:
        return len(sound) >= size * encoding.num_channels
    try:
        with av.open(BytesIO(sound), "r", format=_RAW.get(encoding.name)) as container:
            return bool(container.streams.audio) and any(frame.samples for frame in container.decode(audio=0))
    except av.FFmpegError:
        return False
