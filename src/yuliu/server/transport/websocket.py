"""uvicorn's WebSocket connection, bounded in what waits to be sent, and told when the server is to stop.

uvicorn closes all WebSockets at once on SIGTERM, lets one that does not read stay for ever, cuts one off that reads
late, since it did not see a ping either, keeps as many empty fragments of a message as come, and answers as many pings.
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
_log.setLevel(logging.WARNING)  # else it tells each handshake with its query, which is not ours to tell

MAX_FRAGMENTS = 4_096
"""Parts that a message may come in, empty ones counted, which its length does not bound."""
MAX_PONGS_BYTES = 262_144
"""What may wait to be sent when a ping is answered. It is more than waits of anything else: who lets so much lie sends
pings and reads nothing."""
CARRIER = "yuliu.carrier"
"""An extension of ASGI: the ``carrier`` of it is a :class:`Carrier`."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """What the application has to know of the connection that carries it."""

    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Is set when the server is to stop. The connection then stays open until the application ends it."""
    receipts: FlowControl = field(default_factory=FlowControl)
    """While they are full, nothing of a stream is to be sent."""
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    """Is set when they are no longer full; the application may set it, too."""


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
        self._stalling, self._unanswered = StallTimer(limits.stall_s), StallTimer(limits.stall_s)
        self._carrier = Carrier()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let little wait in the event loop."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(UNSENT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stalling.stop()
        self._unanswered.stop()
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

    def send_receive_event_to_app(self) -> None:
        """Pass a message on. What is no text ends the connection, which uvicorn would log as if it were our fault."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.conn.send_close(CloseCode.INVALID_DATA)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Answer a ping, to whoever reads answers."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MAX_PONGS_BYTES:
            self.transport.abort()

    def handle_pong(self, event: Frame) -> None:
        """What was sent before that ping has arrived."""
        receipts, payload = self._carrier.receipts, bytes(event.data)
        if self.pending_ping_payload in (found := receipts.answered(payload)):
            self.pending_ping_payload = payload  # a later one was answered in its place
        if found:
            self._unanswered.stop()
            self._carrier.awake.set()
        if found and receipts.is_full:
            self._unanswered.start(self.loop, self.transport)
        super().handle_pong(event)

    def send_keepalive_ping(self) -> None:
        """Ask whether the client is there."""
        super().send_keepalive_ping()
        if self.pending_ping_payload is not None:
            self._carrier.receipts.mark(self.pending_ping_payload)

    def keepalive_timeout(self) -> None:
        """No answer to our ping. Who reads late has not seen it: how late that may be, the other timers say."""
        receipts = self._carrier.receipts
        if self.writable.is_set() and not (receipts.is_full and receipts.are_given):
            super().keepalive_timeout()
        else:
            self.pong_timer = self.loop.call_later(self.ping_timeout or 0.0, self.keepalive_timeout)

    def shutdown(self) -> None:
        """The server is to stop: the application closes the connection when its streams are over."""
        if self.handshake_complete and not self.close_sent and not self.transport.is_closing():
            self._carrier.draining.set()
        else:
            super().shutdown()

    async def run_asgi(self) -> None:
        """Run the application."""
        self.scope["extensions"][CARRIER] = {"carrier": self._carrier}
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
        if message["type"] == "websocket.send":
            self._count(len(message.get("bytes") or message.get("text") or ""))
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True

    def _count(self, num_bytes: int) -> None:
        """So much was sent; ask now and then whether it has arrived."""
        receipts = self._carrier.receipts
        was_full, payload = receipts.is_full, receipts.sent(num_bytes)
        if receipts.is_full and not was_full:
            self._unanswered.start(self.loop, self.transport)
        if payload is not None and self.conn.state is State.OPEN:
            self.conn.send_ping(payload)
            self.transport.write(b"".join(self.conn.data_to_send()))
