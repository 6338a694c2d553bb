"""One request to a speech endpoint, timed as a listener feels it."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from yuliu.audio.wav import HEADER_NUM_BYTES
from yuliu.bench.playback import Arrival, play

AUDIBLE = 10 ** (-46 / 20)
"""First sample above this is the first sound: -46 dBFS."""
TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Take:
    """What came of one request; times count from when the request was sent."""

    sample_rate: int
    pcm: bytes = field(repr=False)
    """s16le, mono."""
    arrivals: tuple[Arrival, ...]
    last_byte_s: float

    @property
    def audio_s(self) -> float:
        """Length of the sound."""
        return len(self.pcm) / 2 / self.sample_rate

    @property
    def ttfp_s(self) -> float:
        """Until the first byte of sound (a container's header is not sound)."""
        return self.arrivals[0].at_s

    @property
    def ttfs_s(self) -> float:
        """Until a player that starts at the first byte plays the first audible sample."""
        loud = np.abs(np.frombuffer(self.pcm, "<i2")) > AUDIBLE * 32768
        return self.ttfp_s + (int(loud.argmax()) / self.sample_rate if loud.any() else self.audio_s)

    @property
    def underrun_s(self) -> float:
        """How long such a player would have stood still."""
        return play(self.arrivals, 2 * self.sample_rate).underrun_s


def take(port: int, text: str, voice: str) -> Take:
    """Ask the server on a loopback port to speak, as WAV, on a connection of its own.

    Raises:
        RuntimeError: It answered with something else than sound.
    """
    body = json.dumps({"model": "yuliu", "input": text, "voice": voice, "response_format": "wav"}).encode()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)) as connection:
        connection.connect()
        began = time.perf_counter()
        connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
        with connection.getresponse() as response:
            return _listen(response, began)


def _listen(response: http.client.HTTPResponse, began: float) -> Take:
    if response.status != http.client.OK:
        raise RuntimeError(f"the server answered {response.status}: {response.read(500).decode(errors='replace')}")
    received, arrivals = bytearray(), []
    while data := response.read1(1 << 16):
        at_s = time.perf_counter() - began
        sound_before = max(0, len(received) - HEADER_NUM_BYTES)
        received += data
        if num_bytes := max(0, len(received) - HEADER_NUM_BYTES) - sound_before:
            arrivals.append(Arrival(at_s, num_bytes))
    last_byte_s = time.perf_counter() - began
    rate = int(response.headers["X-Sample-Rate"])
    return Take(rate, bytes(received[HEADER_NUM_BYTES:]), tuple(arrivals), last_byte_s)
