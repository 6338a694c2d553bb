"""uvicorn's HTTP/1.1 connection with limits: on the number of connections, the size of heads, and times.

uvicorn limits only the time between requests. A client that opens a connection and sends nothing, that sends an endless
header, or that does not read the response, would hold it for ever.
"""

from __future__ import annotations

import sys
import uuid
from typing import TYPE_CHECKING, Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from yuliu.server.transport.stall_timer import StallTimer
from yuliu.wire.problems import (
    NOT_HTTP,
    body_too_large,
    connections_exhausted,
    head_too_large,
    request_too_slow,
)

if TYPE_CHECKING:
    import asyncio

    import uvicorn
    from starlette.types import Receive, Scope
    from uvicorn.server import ServerState

    from yuliu.server.limits import Limits
    from yuliu.wire.problems import Problem

BODY_OVERHEAD = 8
"""Factor on the maximum size of a body: chunks of one byte take six times their size. Reading stops beyond it."""

UNSENT_BYTES = 16_384
"""Audio that may wait in the event loop for a slow client, and as much again in the kernel: a third of a second each at
24 kHz, and the last chunk written. Without it the kernel takes 3 MB, over a minute of audio that is wasted if the
client leaves."""
MAX_TURNED_AWAY, TURNED_AWAY_S = 32, 1.0
"""Number of connections beyond the limit whose request is awaited, and the time, before they are refused: closing one
with unread bytes resets it, and the response may be lost."""
MAX_UPGRADE_LINES, MAX_UPGRADE_LINE_BYTES = 100, 8_000
"""Maximum number of headers of a WebSocket handshake, and maximum size of each."""
CUT_OFF = "yuliu.cut_off"
"""ASGI extension: its function ``cut_off`` closes the connection after what was sent, amid the body."""
SLOW_BODY = "yuliu.slow_body"
"""ASGI extension: its function ``allow`` lifts the limits on time and size of the request's body."""


class BoundedConnection(HttpToolsProtocol):
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
        self._limits = limits
        self._request_timer: asyncio.TimerHandle | None = None
        self._stalling = StallTimer(limits.stall_s)
        self._in_head = True
        self._upgraded = False
        self._num_bytes = 0
        """Size of the incomplete request so far."""
        self._num_head_bytes = 0
        """Size of the part of its head that was parsed: one read may bring a whole head, beyond the limit."""
        self._unread_from: int | None = None
        """Offset in the received data at which the parser has stopped, after a head that asks for an upgrade."""
        self._repeating_head = self._turned_away = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or refuse it if there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(UNSENT_BYTES)
        num_over = len(self.connections) - self._limits.max_connections
        if num_over <= 0:
            self._await_request()
        elif num_over <= MAX_TURNED_AWAY:
            self._turned_away = True
            self._request_timer = self.loop.call_later(TURNED_AWAY_S, self._turn_away)
        else:
            self._turn_away()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers. uvicorn first wakes waiters for the disconnect, then waiters to write: keep that order."""
        self._request_arrived()
        self._stalling.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless the request is too large or the connection is refused."""
        if self._turned_away:
            self._turn_away()
            return
        idle_since = self.cycle
        super().data_received(data)
        unread = data
        while self._unread_from is not None:
            unread, self._unread_from = unread[self._unread_from :], None
            self._pass_over_upgrade()
            super().data_received(unread)
        if self._request_timer is not None:
            self._num_bytes += len(data)
            self._check_size()
        elif self.cycle is idle_since and not (self._answering or self._upgraded):
            self._in_head = True  # blank lines before a request end uvicorn's wait for it, so ours begins
            self._await_request()

    def on_message_begin(self) -> None:
        """Begin a request: count its head, start its time."""
        if self._repeating_head:
            return
        super().on_message_begin()
        self.scope["extensions"] = {
            CUT_OFF: {"cut_off": self.transport.close},
            SLOW_BODY: {"allow": self._request_arrived},
        }
        self._in_head = True
        self._num_bytes = self._num_head_bytes = 0
        self._await_request()

    def on_url(self, url: bytes) -> None:
        """Take a part of the request line's target."""
        if self._repeating_head:
            return
        self._num_head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those beyond the limit of the head are dropped."""
        if self._repeating_head:
            return
        self._num_head_bytes += len(name) + len(value) + len(": \r\n")
        if not self._head_too_large:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Complete the head, or refuse it: then the parser calls :meth:`send_400_response`."""
        if self._repeating_head:
            return
        if self._head_too_large or sum(name == b"host" for name, _ in self.headers) > 1:
            raise httptools.HttpParserError  # a proxy may have chosen another of the hosts
        super().on_headers_complete()  # raises if the target is no URL
        self._in_head = False

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over: from now on the limits of the WebSocket apply."""
        lines = [len(name) + len(value) + len(": \r\n") for name, value in self.scope["headers"]]
        if len(lines) > MAX_UPGRADE_LINES or max([len(self.url), *lines]) > MAX_UPGRADE_LINE_BYTES:
            self._in_head = True  # no response has begun
            self._refuse(head_too_large(MAX_UPGRADE_LINE_BYTES))  # the WebSocket's parser would not answer
            return
        super().handle_websocket_upgrade()
        self._upgraded = True
        self._request_arrived()
        handshake = self.transport.get_protocol()
        assert isinstance(handshake, WebSocketsSansIOProtocol)  # noqa: S101 - it was made for this
        if handshake.conn.handshake_exc is not None and not self.transport.is_closing():
            self._in_head = True
            self._refuse(NOT_HTTP)  # such as one with a body: it would stay open without a response

    def on_message_complete(self) -> None:
        """Complete the request."""
        if self.parser.should_upgrade() and not self._should_upgrade():
            return  # the parser has not looked for its body
        self._request_arrived()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Start the stall timer: the client does not read."""
        super().pause_writing()
        self._stalling.start(self.loop, self.transport)

    def resume_writing(self) -> None:
        """Stop the stall timer: the client reads again."""
        self._stalling.stop()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse data that is not HTTP, or a head that is not accepted."""
        self._refuse(head_too_large(self._limits.max_head_bytes) if self._head_too_large else NOT_HTTP)

    def _unsupported_upgrade_warning(self) -> None:
        """Ignore an upgrade to an unknown protocol. Java programs ask for HTTP/2 so, with every request."""
        stopped = sys.exc_info()[1]
        assert isinstance(stopped, httptools.HttpParserUpgrade)  # noqa: S101 - uvicorn calls this as it handles one
        self._unread_from = int(stopped.args[0])

    def _pass_over_upgrade(self) -> None:
        """Continue after the head with a new parser: the old one takes what follows for another protocol."""
        framing = [each for each in self.headers if each[0] in (b"content-length", b"transfer-encoding")]
        head = b"".join(b"%b: %b\r\n" % each for each in framing)
        self.parser = httptools.HttpRequestParser(self)
        self._repeating_head = True
        self.parser.feed_data(b"POST / HTTP/1.1\r\n" + head + b"\r\n")
        self._repeating_head = False

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _head_too_large(self) -> bool:
        return self._num_head_bytes > self._limits.max_head_bytes

    def _check_size(self) -> None:
        if self.transport.is_closing():
            return
        max_head_bytes, max_body_bytes = self._limits.max_head_bytes, self._limits.speech.max_body_bytes
        if self._in_head and self._num_bytes > max_head_bytes:
            self._refuse(head_too_large(max_head_bytes))
        elif self._num_bytes > max_head_bytes + BODY_OVERHEAD * max_body_bytes:
            self._refuse(body_too_large(max_body_bytes))

    def _await_request(self) -> None:
        self._request_arrived()
        self._request_timer = self.loop.call_later(self._limits.request_s, self._request_missed)

    def _request_arrived(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _request_missed(self) -> None:
        if self.pipeline or (self._in_head and self._answering):
            self._await_request()  # the server does not read on until the previous request is answered
        else:
            self._refuse(request_too_slow(self._limits.request_s))

    def _turn_away(self) -> None:
        if not self.transport.is_closing():
            self._refuse(connections_exhausted(self._limits.max_connections))

    def _refuse(self, problem: Problem) -> None:
        """Close the connection, with a response if the application has begun none."""
        self._request_arrived()
        if self._in_head and self._answering:
            self.transport.abort()  # a hostile second request while one is being answered
            return
        if self._in_head or self.cycle is None or not self.cycle.response_started:
            self.transport.write(_whole_response(problem))
        self.transport.close()


async def cut_off(scope: Scope, receive: Receive) -> None:
    """Close the connection amid the body, so that the client sees that it is incomplete. Waits for the disconnect."""
    extension = scope.get("extensions", {}).get(CUT_OFF)
    if extension is not None:  # another server does so itself, and reports the incomplete response
        extension["cut_off"]()
        while (await receive())["type"] != "http.disconnect":
            pass


def _whole_response(problem: Problem) -> bytes:
    body = problem.body()
    headers = (
        *problem.headers,
        ("X-Request-Id", uuid.uuid4().hex),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    )
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return STATUS_LINE[problem.status] + lines.encode("ascii") + b"\r\n" + body
