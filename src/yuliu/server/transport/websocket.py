"""uvicorn's WebSocket connection with limits on unsent data, and notice of a server that stops.

uvicorn closes all WebSockets at once on SIGTERM, keeps one that does not read for ever, cuts one that reads late, since
it has not seen a ping either, holds any number of empty fragments of a message, and answers any number of pings.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.protocol import State

from yuliu.server.transport.flow_control import FlowControl
from yuliu.server.transport.http import UNSENT_BYTES
from yuliu.server.transport.stall_timer import StallTimer
from yuliu.wire.native.messages import Close

if TYPE_CHECKING:
    import uvicorn
    from uvicorn._types import ASGISendEvent
    from uvicorn.server import ServerState
    from websockets.frames import Frame

    from yuliu.server.limits import Limits

_log = logging.getLogger("uvicorn.error.websocket")
_log.setLevel(logging.WARNING)  # else it logs each handshake with its query, which may hold text

MAX_FRAGMENTS = 4_096
"""Maximum number of fragments of a message, empty ones included, which its size does not limit."""
MAX_PONGS_BYTES = 262_144
"""Maximum size of unsent data when a ping is answered. Only a client that sends pings and reads nothing reaches it."""
CARRIER = "yuliu.carrier"
"""ASGI extension: its ``carrier`` is a :class:`Carrier`."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """State of a connection that the application needs."""

    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server stops. The connection then stays open until the application closes it."""
    receipts: FlowControl = field(default_factory=FlowControl)
    """While it is full, no audio may be sent."""
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is no longer full; the application may set it, too."""


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """One connection.

    Args:
        config: As in uvicorn, like the other positional arguments.
        limits: Limits of the server.
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
        self._stalling, self._unanswered = StallTimer(limits.stall_s), StallTimer(limits.stall_s)
        self._carrier = Carrier()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Limit the data that waits in the event loop."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(UNSENT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stalling.stop()
        self._unanswered.stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the stall timer: the client does not read."""
        super().pause_writing()
        self._stalling.start(self.loop, self.transport)

    def resume_writing(self) -> None:
        """Stop the stall timer: the client reads again."""
        self._stalling.stop()
        super().resume_writing()

    def handle_cont(self, event: Frame) -> None:
        """Take a further fragment of a message, up to the maximum number."""
        if self.close_sent:
            return
        if len(self.frames) < MAX_FRAGMENTS:
            super().handle_cont(event)
            return
        self.conn.fail(Close.TOO_BIG, "too many fragments")
        self.handle_parser_exception()

    def send_receive_event_to_app(self) -> None:
        """Pass a message on. Invalid UTF-8 closes the connection; uvicorn would log it as a fault of the server."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.conn.send_close(CloseCode.INVALID_DATA)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Answer a ping, unless the client reads nothing."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MAX_PONGS_BYTES:
            self.transport.abort()

    def handle_pong(self, event: Frame) -> None:
        """Note that everything before that ping has arrived."""
        receipts, payload = self._carrier.receipts, bytes(event.data)
        if self.pending_ping_payload in (found := receipts.answered(payload)):
            self.pending_ping_payload = payload  # a later ping was answered in its place
        if found:
            self._unanswered.stop()
            self._carrier.awake.set()
        if found and receipts.is_full:
            self._unanswered.start(self.loop, self.transport)
        super().handle_pong(event)

    def send_keepalive_ping(self) -> None:
        """Ping the client."""
        super().send_keepalive_ping()
        if self.pending_ping_payload is not None:
            self._carrier.receipts.mark(self.pending_ping_payload)

    def keepalive_timeout(self) -> None:
        """Close a connection whose client has not answered a ping; the other timers deal with one that reads late."""
        receipts = self._carrier.receipts
        if self.writable.is_set() and not (receipts.is_full and receipts.are_given):
            super().keepalive_timeout()
        else:
            self.pong_timer = self.loop.call_later(self.ping_timeout or 0.0, self.keepalive_timeout)

    def shutdown(self) -> None:
        """Let the application close the connection when its streams are over."""
        if self.handshake_complete and not self.close_sent and not self.transport.is_closing():
            self._carrier.draining.set()
        else:
            super().shutdown()

    async def run_asgi(self) -> None:
        """Run the application."""
        self.scope["extensions"][CARRIER] = {"carrier": self._carrier}
        await super().run_asgi()

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message of the application.

        The application may not know yet that the connection was closed, which uvicorn takes for its fault; and once it
        has refused a handshake, uvicorn must not expect one.

        Raises:
            ClientDisconnected: The connection was closed.
        """
        await self.writable.wait()  # the connection may be closed meanwhile
        if self.close_sent and self.handshake_complete:
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.send":
            self._count(len(message.get("bytes") or message.get("text") or ""))
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True

    def _count(self, num_bytes: int) -> None:
        """Count sent bytes, and ping now and then to learn whether they have arrived."""
        receipts = self._carrier.receipts
        was_full, payload = receipts.is_full, receipts.sent(num_bytes)
        if receipts.is_full and not was_full:
            self._unanswered.start(self.loop, self.transport)
        if payload is not None and self.conn.state is State.OPEN:
            self.conn.send_ping(payload)
            self.transport.write(b"".join(self.conn.data_to_send()))
