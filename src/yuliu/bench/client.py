"""The HTTP client of the bench: one request on a connection of its own, and the time at which each byte came back.

It reads responses with ``httptools`` on the lightest event loop there is, because it shares the machine with the
server that it measures.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httptools

from yuliu.bench.playback import ChunkArrival, SimulatedPlayback, simulate_playback

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Mapping

T = TypeVar("T")
HTTP_OK = 200
TOO_MANY_REQUESTS = 429
DEFAULT_SAMPLE_RATE = 24_000
"""Sample rate assumed of a server that sends no ``X-Sample-Rate``, Hz."""
BYTES_PER_SAMPLE = 2
CONNECT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A POST request."""

    path: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return the bytes that go over the wire."""
        fields = {"Host": "localhost", **self.headers, "Content-Length": str(len(self.body))}
        lines = [f"POST {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def json_request(path: str, fields: Mapping[str, object], headers: Mapping[str, str] | None = None) -> HttpRequest:
    """Return a request with a JSON body."""
    body = json.dumps(fields, ensure_ascii=False).encode()
    return HttpRequest(path, body, {"Content-Type": "application/json", **(headers or {})})


@dataclass(frozen=True, slots=True)
class HttpResult:
    """The outcome of a request. Figures in seconds of audio assume 16-bit mono PCM."""

    sent_at_s: float
    """Time at which the request was sent, by :func:`time.perf_counter`."""
    ended_at_s: float
    """Time at which the response ended or the connection was lost, by the same clock."""
    status: int
    """HTTP status; 0 without a response."""
    headers: Mapping[str, str] = field(repr=False)
    """Response headers by lower-case name."""
    arrivals: tuple[ChunkArrival, ...]
    """Body of a successful response as it arrived; the bodies of refusals are not counted."""
    whole: bool
    """True if the response arrived to its end."""
    cut: bool
    """True if the bench itself ended the exchange."""
    body: bytes | None = field(default=None, repr=False)
    """The body, if it was kept."""

    @property
    def completed(self) -> bool:
        """True if all of the audio arrived."""
        return self.whole and self.status == HTTP_OK and bool(self.arrivals)

    @property
    def rejected(self) -> bool:
        """True if the server refused the request for lack of capacity."""
        return self.status == TOO_MANY_REQUESTS

    @property
    def failed(self) -> bool:
        """True if it ended in any other way; an exchange that the bench cut while audio arrived has not failed."""
        return not (self.completed or self.rejected or (self.cut and self.arrivals))

    @property
    def ttfp_s(self) -> float | None:
        """Time from sending the request to the first byte of the body; None without one."""
        return self.arrivals[0].at_s if self.arrivals else None

    @property
    def sample_rate(self) -> int:
        """Sample rate that the server announced, Hz."""
        return int(self.headers.get("x-sample-rate", DEFAULT_SAMPLE_RATE))

    @property
    def retry_after_s(self) -> float | None:
        """Delay after which the server invites a retry; None if it names none."""
        value = self.headers.get("retry-after", "")
        return float(value) if value.isdigit() else None

    @property
    def request_id(self) -> str | None:
        """Request id that the server assigned."""
        return self.headers.get("x-request-id")

    @property
    def digest(self) -> str | None:
        """SHA-256 of the body; None if the body was not kept."""
        return None if self.body is None else hashlib.sha256(self.body).hexdigest()

    @property
    def bytes_per_s(self) -> float:
        """Bytes in a second of the audio."""
        return self.sample_rate * BYTES_PER_SAMPLE

    @property
    def audio_s(self) -> float:
        """Length of the audio that arrived."""
        return sum(arrival.num_bytes for arrival in self.arrivals) / self.bytes_per_s

    @property
    def playback(self) -> SimulatedPlayback:
        """Playback of the audio; a player that was silent when the exchange was cut counts as silent until then."""
        played = simulate_playback(self.arrivals, self.bytes_per_s)
        ended_at_s = self.ended_at_s - self.sent_at_s
        if self.whole or not self.arrivals or ended_at_s <= played.ends_at_s:
            return played
        return SimulatedPlayback(ended_at_s, (*played.stalls, (ended_at_s, ended_at_s - played.ends_at_s)))

    def pieces(self) -> Iterator[tuple[float, bytes]]:
        """Yield the kept body in the pieces in which it arrived, each with its time since the request."""
        if self.body is None:
            raise ValueError("the body was not kept")
        start = 0
        for arrival in self.arrivals:
            yield arrival.at_s, self.body[start : start + arrival.num_bytes]
            start += arrival.num_bytes


class ResponseReader:
    """Incremental reader of one HTTP response. It does no I/O and reads no clock.

    Args:
        keep: Keep the body, not only the times and sizes of its pieces.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self.headers: dict[str, str] = {}
        """Headers by lower-case name."""
        self.arrivals: list[ChunkArrival] = []
        """Pieces of the body of a successful response, one for each call of :meth:`feed` that brought any."""
        self.whole: bool = False
        """True if the end of the response has arrived."""
        self.body: bytearray = bytearray()
        """The body so far, if it is kept."""
        self._keep = keep
        self._num_fed = 0
        self._parser = httptools.HttpResponseParser(self)

    @property
    def status(self) -> int:
        """HTTP status; 0 until the status line has arrived."""
        return self._parser.get_status_code()

    def feed(self, data: bytes, at_s: float) -> None:
        """Take bytes that arrived ``at_s`` seconds after the request was sent.

        Raises:
            httptools.HttpParserError: The bytes are not an HTTP response.
        """
        self._num_fed = 0
        self._parser.feed_data(data)
        if self._num_fed and self.status == HTTP_OK:
            self.arrivals.append(ChunkArrival(at_s, self._num_fed))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header; called by the parser."""
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, data: bytes) -> None:
        """Count or keep a part of the body; called by the parser."""
        self._num_fed += len(data)
        if self._keep:
            self.body += data

    def on_message_complete(self) -> None:
        """Note the end of the response; called by the parser."""
        self.whole = True


class HttpExchange(asyncio.Protocol):
    """Sends one request once connected and reads the response as fast as it arrives.

    Args:
        request: The request.
        keep: Keep the body of the response.
    """

    def __init__(self, request: HttpRequest, *, keep: bool = False) -> None:
        loop = asyncio.get_running_loop()
        self.response: ResponseReader = ResponseReader(keep=keep)
        """The response so far."""
        self.done: asyncio.Future[None] = loop.create_future()
        """Resolved when the connection is closed."""
        self.first_byte: asyncio.Future[None] = loop.create_future()
        """Resolved by the first byte of audio, or when there will be none."""
        self._data = request.encode()
        self._keep = keep
        self._transport: asyncio.Transport | None = None
        self._sent_at_s = time.perf_counter()
        self._ended_at_s: float | None = None
        self._cut = False

    async def connect(self, port: int) -> None:
        """Connect to a loopback port; if that fails, the exchange is done."""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)
        except (OSError, TimeoutError) as error:
            self.connection_lost(error)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        self._transport = cast("asyncio.Transport", transport)
        if self._cut:
            transport.close()
            return
        self._sent_at_s = time.perf_counter()
        self._transport.write(self._data)

    def data_received(self, data: bytes) -> None:
        """Read the response; the connection is closed after one."""
        now = time.perf_counter()
        try:
            self.response.feed(data, now - self._sent_at_s)
        except httptools.HttpParserError:  # not an HTTP response: the connection is unusable
            self._end(now)
            return
        if self.response.arrivals and not self.first_byte.done():
            self.first_byte.set_result(None)
        if self.response.whole:
            self._end(now)

    def connection_lost(self, exc: Exception | None) -> None:
        """Resolve both futures."""
        if self._ended_at_s is None:
            self._ended_at_s = time.perf_counter()
        for future in (self.first_byte, self.done):
            if not future.done():
                future.set_result(None)

    def cut(self) -> None:
        """Drop the connection, as a client does that needs no more audio."""
        if self._ended_at_s is None:
            self._cut = True
            self._end(time.perf_counter())

    @property
    def result(self) -> HttpResult:
        """Outcome so far."""
        return HttpResult(
            sent_at_s=self._sent_at_s,
            ended_at_s=time.perf_counter() if self._ended_at_s is None else self._ended_at_s,
            status=self.response.status,
            headers=self.response.headers,
            arrivals=tuple(self.response.arrivals),
            whole=self.response.whole,
            cut=self._cut,
            body=bytes(self.response.body) if self._keep else None,
        )

    def _end(self, now: float) -> None:
        self._ended_at_s = now
        if self._transport is not None:
            self._transport.abort()


def fetch(port: int, request: HttpRequest, *, timeout_s: float) -> HttpResult:
    """Send a request to a loopback port and return the whole response. Connecting is not timed.

    Raises:
        RuntimeError: The response is not a whole body of audio.
        TimeoutError: It took longer than ``timeout_s``.
    """
    result = run(_fetch(port, request, timeout_s))
    if result.status != HTTP_OK:
        message = (result.body or b"")[:500].decode(errors="replace")
        raise RuntimeError(f"the server answered {result.status}: {message}")
    if not result.completed:
        raise RuntimeError("the connection was lost before the end of the response")
    return result


async def _fetch(port: int, request: HttpRequest, timeout_s: float) -> HttpResult:
    exchange = HttpExchange(request, keep=True)
    async with asyncio.timeout(timeout_s):
        await exchange.connect(port)
        await exchange.done
    return exchange.result


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run on the lightest event loop there is: the load generator shares the cores with the server."""
    try:
        from uvloop import new_event_loop
    except ImportError:  # not available on Windows
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
