"""Event loop lag: how late a periodic task wakes, in this process or in a server like that of ``yuliu serve``.

Run as a program, it serves on ``--port``; ``GET /held`` returns the lag since the last such request.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from yuliu.metrics.metrics import Metrics
from yuliu.server.app import create_app
from yuliu.server.config import AppConfig
from yuliu.server.limits import Limits
from yuliu.server.run import listening_socket, make_server
from yuliu.synthesizer import open as open_voices

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from yuliu.synthesizer import Synthesizer

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

TICK_S = 0.002
"""Interval of the task: a loop that is blocked for less may not be noticed."""
PATH = "/held"


class LoopLagMonitor:
    """Records how much later than due a task wakes."""

    def __init__(self) -> None:
        self._late_s: list[float] = []

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            due_s = time.perf_counter() + TICK_S
            await asyncio.sleep(TICK_S)
            self._late_s.append(time.perf_counter() - due_s)

    def take(self) -> dict[str, float]:
        """Return the number of ticks since the last call and their lag, milliseconds."""
        late_s, self._late_s = sorted(self._late_s), []
        if not late_s:
            return {"ticks": 0, "p50_ms": 0.0, "p99_ms": 0.0, "max_ms": 0.0}
        p50_s, p99_s = (late_s[round(share * (len(late_s) - 1))] for share in (0.5, 0.99))
        return {"ticks": len(late_s), "p50_ms": 1e3 * p50_s, "p99_ms": 1e3 * p99_s, "max_ms": 1e3 * late_s[-1]}


class MonitoredApp:
    """An ASGI application that monitors its event loop for as long as it runs.

    Args:
        app: The application.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._monitor = LoopLagMonitor()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer the request for the lag, and pass all others on."""
        if scope["type"] == "lifespan":
            monitoring = asyncio.create_task(self._monitor.run())
            try:
                await self._app(scope, receive, send)
            finally:
                monitoring.cancel()
        elif scope["type"] == "http" and scope["path"] == PATH:
            body = json.dumps(self._monitor.take()).encode()
            head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": 200, "headers": head})
            await send({"type": "http.response.body", "body": body})
        else:
            await self._app(scope, receive, send)


def serve(load: Callable[[Metrics], Synthesizer], port: int) -> None:
    """Serve on a loopback port until told to stop."""
    limits, metrics = Limits(), Metrics()
    listener = listening_socket("127.0.0.1", port, expose=False, stall_s=limits.stall_s)
    app = create_app(lambda: load(metrics), AppConfig(limits=limits, metrics=metrics))
    make_server(MonitoredApp(app), limits).run(sockets=[listener])


def main(load: Callable[[Metrics], Synthesizer]) -> None:
    """Serve on the port given by ``--port N``."""
    serve(load, int(sys.argv[sys.argv.index("--port") + 1]))


if __name__ == "__main__":
    main(lambda metrics: open_voices(adaptive=True, metrics=metrics))
