"""Transport to an ASGI application in the same process, for tests and for programs that embed the server."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from yuliu.client.errors import ConnectionLost, error_of
from yuliu.client.network import PATH
from yuliu.client.transport import ClosedByServer, Dropped
from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Message = MutableMapping[str, Any]
    App = Callable[
        [MutableMapping[str, Any], Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
        Awaitable[None],
    ]

READY_S = 60.0
"""Maximum wait for an application that is still loading its voices, seconds."""
POLL_S = 0.02
UNSENT_FRAMES = 4
"""Capacity of the queue from the application; when it is full, the application waits."""
_ASGI = {"version": "3.0", "spec_version": "2.4"}


class AsgiTransport:
    """Transport to an ASGI application, such as one from :func:`yuliu.server.app.create_app`.

    The application's lifespan runs while the transport is open.

    Args:
        app: The application.
        ready_s: Maximum wait for its voices, seconds.
    """

    def __init__(self, app: App, *, ready_s: float = READY_S) -> None:
        self._app = app
        self._ready_s = ready_s
        self._lifespan: _Lifespan | None = None

    async def connect(self) -> AsgiSocket:
        """Return a new connection once the application accepts one."""
        if self._lifespan is None:
            self._lifespan = _Lifespan(self._app)
            await self._lifespan.start()
        async with asyncio.timeout(self._ready_s) as limit:
            while True:
                try:
                    return await self._open()
                except VoiceNotReady:
                    if (limit.when() or 0.0) - asyncio.get_running_loop().time() < 2 * POLL_S:
                        raise
                    await asyncio.sleep(POLL_S)

    async def _open(self) -> AsgiSocket:
        socket = AsgiSocket(self._app)
        await socket.open()
        return socket

    async def close(self) -> None:
        """Shut the application down."""
        lifespan, self._lifespan = self._lifespan, None
        if lifespan is not None:
            await lifespan.stop()


class _Lifespan:
    """Lifespan of an ASGI application."""

    def __init__(self, app: App) -> None:
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": _ASGI, "state": {}}
        self._task = asyncio.ensure_future(app(scope, self._to_app.get, self._from_app.put))

    async def start(self) -> None:
        await self._to_app.put({"type": "lifespan.startup"})
        message = await self._from_app.get()
        if message["type"] != "lifespan.startup.complete":
            raise ConnectionLost("the application failed to start; see its log")

    async def stop(self) -> None:
        await self._to_app.put({"type": "lifespan.shutdown"})
        await self._task


class AsgiSocket:
    """In-process WebSocket, made of two queues."""

    def __init__(self, app: App) -> None:
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue(UNSENT_FRAMES)
        self._gone = asyncio.Event()
        scope = {
            "type": "websocket",
            "asgi": _ASGI,
            "http_version": "1.1",
            "scheme": "ws",
            "path": PATH,
            "raw_path": PATH.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 80),
            "subprotocols": [],
            "state": {},
            "extensions": {"websocket.http.response": {}},
        }
        self._task = asyncio.ensure_future(app(scope, self._to_app.get, self._put))

    async def open(self) -> None:
        """Perform the handshake.

        Raises:
            YuliuError: The application refused the connection.
        """
        await self._to_app.put({"type": "websocket.connect"})
        message = await self._from_app.get()
        if message["type"] == "websocket.accept":
            return
        body = (await self._from_app.get()).get("body", b"") if "status" in message else b""
        await self._task
        try:
            error = json.loads(body)["error"]
        except (ValueError, KeyError):
            raise ConnectionLost("the application refused the connection") from None
        raise error_of(error["code"], error["message"], param=error.get("param"))

    async def send(self, text: str) -> None:
        """Send a text frame."""
        if self._gone.is_set():
            raise Dropped
        await self._to_app.put({"type": "websocket.receive", "text": text})

    async def receive(self) -> str | bytes:
        """Return the next frame."""
        message = await self._next()
        if message["type"] == "websocket.close":
            self._gone.set()
            raise ClosedByServer(message.get("code") or 1000, message.get("reason") or "")
        text = message.get("text")
        frame: str | bytes = message["bytes"] if text is None else text
        return frame

    async def close(self) -> None:
        """Close with code 1000."""
        await self._leave({"type": "websocket.disconnect", "code": 1000, "reason": ""})

    async def drop(self) -> None:
        """Drop the connection without a close frame."""
        await self._leave({"type": "websocket.disconnect", "code": 1006})

    async def _leave(self, message: Message) -> None:
        self._gone.set()
        await self._to_app.put(message)
        await asyncio.wait([self._task])

    async def _put(self, message: Message) -> None:
        """Take a message from the application; raise ``OSError`` there once the connection is gone."""
        await self._either(self._from_app.put(message), error=OSError)

    async def _next(self) -> Message:
        message: Message = await self._either(self._from_app.get(), error=Dropped)
        return message

    async def _either(self, work: Any, *, error: type[Exception]) -> Any:  # noqa: ANN401 - the result of the work
        """Run ``work``, or raise ``error`` as soon as the connection is gone."""
        if self._gone.is_set():
            work.close()
            raise error
        tasks = [asyncio.ensure_future(work), asyncio.ensure_future(self._gone.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done():
                raise error
            return tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()
