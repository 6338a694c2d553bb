"""One listener: a connection of its own, one request, and what came of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from yuliu.bench.load.answer import Answer
from yuliu.bench.playback import Playback, play

if TYPE_CHECKING:
    from yuliu.bench.load.texts import Ask
    from yuliu.bench.playback import Arrival

DEFAULT_RATE = 24_000
"""Hz, of a server that does not say."""
BYTES_PER_SAMPLE = 2
CONNECT_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request."""

    ask: Ask
    sent_at_s: float
    """By :func:`time.perf_counter`."""
    ended_at_s: float
    """When its end arrived, or its connection was lost; by the same clock."""
    status: int
    """HTTP status; 0 if there was no answer."""
    arrivals: tuple[Arrival, ...]
    whole: bool
    """Whether its end arrived."""
    cut: bool
    """Whether it was the bench that ended it."""
    sample_rate: int
    retry_after_s: float | None = None
    digest: str | None = None
    """Of the sound, where it was kept."""
    request_id: str | None = None

    @property
    def completed(self) -> bool:
        """Whether all of the sound arrived."""
        return self.whole and self.status == 200 and bool(self.arrivals)

    @property
    def rejected(self) -> bool:
        """Whether it was refused for want of capacity."""
        return self.status == 429

    @property
    def failed(self) -> bool:
        """Whether it ended in any other way, but for being cut while its sound was arriving."""
        return not (self.completed or self.rejected or (self.cut and self.arrivals))

    @property
    def ttfp_s(self) -> float | None:
        """From sending the request to the first byte of sound."""
        return self.arrivals[0].at_s if self.arrivals else None

    @property
    def bytes_per_s(self) -> float:
        """Of its sound."""
        return self.sample_rate * BYTES_PER_SAMPLE

    @property
    def audio_s(self) -> float:
        """Sound that arrived."""
        return sum(arrival.num_bytes for arrival in self.arrivals) / self.bytes_per_s

    @property
    def playback(self) -> Playback:
        """How a player fared; one that stood still when the bench cut it had stood still until then."""
        played = play(self.arrivals, self.bytes_per_s)
        ended_at_s = self.ended_at_s - self.sent_at_s
        if self.whole or not self.arrivals or ended_at_s <= played.ends_at_s:
            return played
        return Playback(ended_at_s, (*played.stalls, (ended_at_s, ended_at_s - played.ends_at_s)))


class Listener(asyncio.Protocol):
    """Sends a request when connected and reads the answer as fast as it comes.

    Args:
        ask: What is asked for.
        keep: Keep the sound, for its digest.
    """

    def __init__(self, ask: Ask, *, keep: bool = False) -> None:
        self.ask = ask
        self.answer: Answer = Answer(keep=keep)
        """What has arrived."""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Resolved when the connection is over."""
        self.first_sound: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Resolved at the first sound, or when there will be none."""
        self._keep = keep
        self._transport: asyncio.Transport | None = None
        self._sent_at_s = time.perf_counter()
        self._ended_at_s: float | None = None
        self._cut = False

    async def connect(self, port: int) -> None:
        """Connect to a loopback port; it is over where there is no connection to be had."""
        try:
            async with asyncio.timeout(CONNECT_WITHIN_S):
                await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)
        except (OSError, TimeoutError) as error:
            self.connection_lost(error)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        self._transport = cast("asyncio.Transport", transport)
        if self._cut:
            transport.close()
            return
        request = request_bytes(self.ask)
        self._sent_at_s = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Read on; nothing is asked for after the answer."""
        now = time.perf_counter()
        try:
            self.answer.feed(data, now - self._sent_at_s)
        except (ValueError, KeyError, IndexError):  # no answer of a server: its connection is of no use
            self._end(now)
            return
        if self.answer.arrivals and not self.first_sound.done():
            self.first_sound.set_result(None)
        if self.answer.whole:
            self._end(now)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        if self._ended_at_s is None:
            self._ended_at_s = time.perf_counter()
        for future in (self.first_sound, self.done):
            if not future.done():
                future.set_result(None)

    def cut(self) -> None:
        """Leave, as a listener does who has heard enough."""
        if self._ended_at_s is None:
            self._cut = True
            self._end(time.perf_counter())

    @property
    def ended_at_s(self) -> float:
        """When it ended; now, if it has not. By :func:`time.perf_counter`."""
        return time.perf_counter() if self._ended_at_s is None else self._ended_at_s

    @property
    def outcome(self) -> Outcome:
        """What came of it."""
        headers = self.answer.headers
        retry_after = headers.get("retry-after")
        return Outcome(
            ask=self.ask,
            sent_at_s=self._sent_at_s,
            ended_at_s=self.ended_at_s,
            status=self.answer.status,
            arrivals=tuple(self.answer.arrivals),
            whole=self.answer.whole,
            cut=self._cut,
            sample_rate=int(headers.get("x-sample-rate", DEFAULT_RATE)),
            retry_after_s=float(retry_after) if retry_after and retry_after.isdigit() else None,
            digest=hashlib.sha256(self.answer.sound).hexdigest() if self._keep else None,
            request_id=headers.get("x-request-id"),
        )

    def _end(self, now: float) -> None:
        self._ended_at_s = now
        if self._transport is not None:
            self._transport.abort()


def request_bytes(ask: Ask) -> bytes:
    """The request as it goes over the wire: headerless samples are asked for, so that the first byte is sound."""
    fields = {"model": "yuliu", "input": ask.text, "voice": ask.voice, "response_format": "pcm"}
    header = ""
    if ask.stream_class is not None:
        fields["class"] = ask.stream_class
        header = f"X-Yuliu-Class: {ask.stream_class}\r\n"
    body = json.dumps(fields, ensure_ascii=False).encode()
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{header}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
