"""A real server on a real socket, in a thread; a test can hold back the steps of its engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.metrics.metrics import Metrics
from yuliu.server.app import create_app
from yuliu.server.config import AppConfig
from yuliu.server.limits import Limits
from yuliu.server.routes import ROUTES
from yuliu.server.run import listening_socket, make_server
from yuliu.synthesizer import Synthesizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.server.transport.tls import Certificate
    from yuliu.types import Lang

PATIENCE_S = 20.0
"""Timeout that only a failing test meets."""


class Gate:
    """Gate at which a scripted engine waits; initially open.

    Used as the engine's ``sleep``, with one second for each frame in the script, it also counts the frames.
    """

    def __init__(self) -> None:
        self._permits = threading.Semaphore(0)
        self._open = threading.Event()
        self._open.set()
        self.num_frames = 0

    def __call__(self, num_frames: float) -> None:
        if num_frames:
            self.num_frames += round(num_frames)
            while not self._open.is_set() and not self._permits.acquire(timeout=0.01):
                pass

    def close(self) -> None:
        """Hold back further steps."""
        self._open.clear()

    def pass_one(self) -> None:
        """Let one step pass."""
        self._permits.release()

    def open(self) -> None:
        """Let all steps pass."""
        self._open.set()


@dataclass
class Running:
    """A server and everything that a test inspects."""

    synthesizer: Synthesizer
    engine: ToneEngine
    gate: Gate
    server: Started
    client: httpx.Client
    sockets: list[socket.socket] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def speech(self, **fields: Any) -> httpx.Response:
        """Return the whole response to a speech request; the default format is WAV."""
        body = json.dumps({"response_format": "wav", **fields})  # httpx's encoder would refuse lone surrogates
        return self.client.post("/v1/audio/speech", content=body, headers={"Content-Type": "application/json"})

    def connect(self, *, receive_bytes: int | None = None) -> socket.socket:
        """Open a raw connection, optionally with a small receive buffer."""
        raw = socket.socket()
        self.sockets.append(raw)
        if receive_bytes is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        raw.settimeout(PATIENCE_S)
        raw.connect(("127.0.0.1", self.port))
        return raw

    def send_speech(self, raw: socket.socket, **fields: Any) -> None:
        """Send a speech request over a raw connection."""
        raw.sendall(speech_bytes(**fields))

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Let the server's event loop run until a condition holds."""
        for _ in range(5_000):
            if condition():
                return
            assert self.client.get("/health").status_code == 200
        raise AssertionError("it never happened")


def speech_bytes(**fields: Any) -> bytes:
    """Return the bytes of a speech request; the default format is WAV."""
    body = json.dumps({"response_format": "wav", **fields}).encode()
    head = "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def read_answer(raw: socket.socket) -> bytes:
    """Read one chunked response to its end."""
    received = b""
    while not received.endswith(b"\r\n0\r\n\r\n"):
        data = raw.recv(65_536)
        assert data, "the answer was cut off"
        received += data
    return received


def short_answer(raw: socket.socket) -> bytes:
    """Read one response with a content length; it is shorter if the server closes before."""
    received = b""
    while True:
        head, found, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head.lower())
        if found and len(body) >= (int(length[1]) if length else 0):
            return received
        data = raw.recv(65_536)
        if not data:
            return received
        received += data


def receive_all(raw: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    received = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while data := raw.recv(65_536):
            received += data
    return bytes(received)


def unchunked(response: bytes) -> bytes:
    """Return the body of a response in chunked transfer coding."""
    rest = response.partition(b"\r\n\r\n")[2]
    body = bytearray()
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if int(size, 16) == 0:
            return bytes(body)
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]


def tone_synthesizer(engine: ToneEngine, metrics: Metrics | None = None, *, num_workers: int = 1) -> Synthesizer:
    """Return a synthesizer with one voice, ``tone``."""
    tone: dict[Lang, str] = {"zh": "tone", "en": "tone"}
    return Synthesizer(
        [local_spec("tone", lambda: engine)], {"tone": tone}, default="tone", num_workers=num_workers, metrics=metrics
    )


@contextlib.contextmanager
def running_server(
    limits: Limits | None = None,
    *,
    engine: ToneEngine | None = None,
    socket_stall_s: float = 60.0,
    app: dict[str, Any] | None = None,
    num_workers: int = 1,
    **script: Any,
) -> Iterator[Running]:
    """Run a server with a scripted engine, or with an engine of the test."""
    gate = Gate()
    engine = engine or ToneEngine(ToneScript(step_s_per_frame=1.0, **script), sleep=gate)
    metrics = Metrics()
    synthesizer = tone_synthesizer(engine, metrics, num_workers=num_workers)
    with (
        started(lambda: synthesizer, limits, socket_stall_s=socket_stall_s, metrics=metrics, **app or {}) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE_S) as client,
    ):
        running = Running(synthesizer, engine, gate, server, client)
        running.wait_until(lambda: client.get("/ready").status_code == 200)
        try:
            yield running
        finally:
            gate.open()
            for raw in running.sockets:
                raw.close()


@contextlib.contextmanager
def serving(
    load: Callable[[], Synthesizer], limits: Limits | None = None, *, socket_stall_s: float = 60.0, **app: Any
) -> Iterator[int]:
    """Run a server on a free port; yield the port."""
    with started(load, limits, socket_stall_s=socket_stall_s, **app) as server:
        yield server.port


@dataclass
class Started:
    """A server with an event loop that a test can inspect."""

    port: int
    loops: list[asyncio.AbstractEventLoop]
    stop: Callable[[], None]
    """Begin to shut down, as on SIGTERM."""

    @property
    def num_tasks(self) -> int:
        """Number of tasks on the server's event loop, including two or three of the server itself."""
        return len(asyncio.all_tasks(self.loops[0]))


@contextlib.contextmanager
def started(
    load: Callable[[], Synthesizer],
    limits: Limits | None = None,
    *,
    socket_stall_s: float = 60.0,
    certificate: Certificate | None = None,
    **app: Any,
) -> Iterator[Started]:
    """Run a server on a free port."""
    limits = limits or Limits()
    listener = listening_socket("127.0.0.1", 0, expose=False, stall_s=socket_stall_s)
    routes = app.pop("routes", ROUTES)
    server = make_server(create_app(load, AppConfig(limits=limits, **app), routes=routes), limits, certificate)
    running = Started(listener.getsockname()[1], [], lambda: setattr(server, "should_exit", True))

    async def serve() -> None:
        running.loops.append(asyncio.get_running_loop())
        await server.serve(sockets=[listener])

    def run() -> None:
        with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, name="server")
    thread.start()
    try:
        yield running
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
