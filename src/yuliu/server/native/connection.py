"""uvicorn's WebSocket connection, bounded in what waits to be sent, and told when the server is to stop.

uvicorn closes all WebSockets at once on SIGTERM, lets one that does not read stay for ever, cuts one off that reads
late, since it did not see a ping either, keeps as many empty fragments of a message as come, and answers as many pings.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from yuliu.server.connection import UNSENT_BYTES
from yuliu.server.stalling import StallTimer
from yuliu.wire.native.messages import Close

if TYPE_CHECKING:
    import uvicorn
    from uvicorn._types import ASGISendEvent
    from uvicorn.server import ServerState
    from websockets.frames import Frame

    from yuliu.server.limits import Limits

_log = logging.getLogger("uvicorn.error.websocket")
_log.setLevel(logging.WARNING)  # else it tells each handshake with its query, which is not ours to tell

MAX_FRAGMENTS = 4_096
"""Parts that a message may come in, empty ones counted, which its length does not bound."""
MAX_PONGS_BYTES = 262_144
"""What may wait to be sent when a ping is answered. It is more than waits of anything else: who lets so much lie sends
pings and reads nothing."""
DRAINING = "yuliu.draining"
"""An extension of ASGI: the event ``draining`` of it is set when the server is to stop. The connection then stays open
until the application ends it."""


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """One connection.

    Args:
        config: uvicorn's, as the other arguments that are not ours.
        limits: What is taken at once.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limits: Limits,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.logger = self.conn.logger = _log
        self._stalling = StallTimer(limits.stall_s)
        self._draining = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let little wait in the event loop."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(UNSENT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stalling.stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read: it gets so long to go on."""
        super().pause_writing()
        self._stalling.start(self.loop, self.transport)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._stalling.stop()
        super().resume_writing()

    def handle_cont(self, event: Frame) -> None:
        """A further part of a message."""
        if self.close_sent:
            return
        if len(self.frames) < MAX_FRAGMENTS:
            super().handle_cont(event)
            return
        self.conn.fail(Close.TOO_BIG, "too many fragments")
        self.handle_parser_exception()

    def handle_ping(self) -> None:
        """Answer a ping, to whoever reads answers."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MAX_PONGS_BYTES:
            self.transport.abort()

    def keepalive_timeout(self) -> None:
        """No answer to our ping. Who reads late has not seen it: how late that may be is for the other timer to say."""
        if self.writable.is_set():
            super().keepalive_timeout()
        else:
            self.pong_timer = self.loop.call_later(self.ping_timeout or 0.0, self.keepalive_timeout)

    def shutdown(self) -> None:
        """The server is to stop: the application closes the connection when its streams are over."""
        if self.handshake_complete and not self.close_sent and not self.transport.is_closing():
            self._draining.set()
        else:
            super().shutdown()

    async def run_asgi(self) -> None:
        """Run the application."""
        self.scope["extensions"][DRAINING] = {"draining": self._draining}
        await super().run_asgi()

    async def send(self, message: ASGISendEvent) -> None:
        """Send what the application says.

        It may not know yet that the connection was closed, which uvicorn takes for a fault of it; and once it has
        refused a handshake, uvicorn must not miss one.

        Raises:
            ClientDisconnected: The connection was closed.
        """
        await self.writable.wait()  # where it may be closed meanwhile
        if self.close_sent and self.handshake_complete:
            raise ClientDisconnected
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True
