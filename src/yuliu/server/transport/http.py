"""uvicorn's HTTP/1.1 connection, bounded: in number, in the size of its head, and in the time it may take for what.

uvicorn limits the time between requests only. A client that opens a connection and says nothing, that sends a header
without end, or that does not read its answer, would hold it for ever.
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
"""A body of chunks of one byte each takes six times its size; what is sent beyond that is not read to its end."""

UNSENT_BYTES = 16_384
"""Sound that may wait in the event loop for a slow reader, and as much again in the kernel: a third of a second each at
24 kHz, and the chunk that was the last to be written. Without it the kernel takes 3 MB, over a minute of sound that is
made for nobody if the client leaves."""
MAX_TURNED_AWAY, TURNED_AWAY_S = 32, 1.0
"""Connections beyond the limit whose request is waited for, and for how long, before they are told so: closing one with
unread bytes resets it, and the answer may be lost."""
MAX_UPGRADE_LINES, MAX_UPGRADE_LINE_BYTES = 100, 8_000
"""Headers of a request that becomes a WebSocket, and bytes of each."""
CUT_OFF = "yuliu.cut_off"
"""An extension of ASGI: the function ``cut_off`` of it ends the connection after what was sent, amid the body."""


SLOW_BODY = "yuliu.slow_body"
"""Another: ``allow`` of it lets the body of the request come as slowly, and be as long, as the application wants."""


class BoundedConnection(HttpToolsProtocol):
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
        self._limits = limits
        self._request_timer: asyncio.TimerHandle | None = None
        self._stalling = StallTimer(limits.stall_s)
        self._in_head = True
        self._upgraded = False
        self._num_bytes = 0
        """Received of the request that is not whole yet."""
        self._num_head_bytes = 0
        """The part of its head that was parsed: one read may bring all of a head, and more than is taken of it."""
        self._unread_from: int | None = None
        """Where in what was received the parser has stopped, behind a head that asks for an upgrade."""
        self._repeating_head = self._turned_away = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or refuse it if there are too many."""
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
        """Stop all timers. uvicorn wakes who waits for the client to leave before who waits to write: keep it so."""
        self._request_arrived()
        self._stalling.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless the request has grown too long, or is not read at all."""
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
            self._in_head = True  # blank lines before a request: they end uvicorn's wait for it, so that ours begins
            self._await_request()

    def on_message_begin(self) -> None:
        """A request begins: its head is counted, its time runs."""
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
        """A part of the request line's target."""
        if self._repeating_head:
            return
        self._num_head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; the last ones of a head that is too large are not kept."""
        if self._repeating_head:
            return
        self._num_head_bytes += len(name) + len(value) + len(": \r\n")
        if not self._head_too_large:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is there. Where it is refused, the parser calls :meth:`send_400_response`."""
        if self._repeating_head:
            return
        if self._head_too_large or sum(name == b"host" for name, _ in self.headers) > 1:
            raise httptools.HttpParserError  # what is before us may have gone by another of its hosts than we would
        super().on_headers_complete()  # raises where the target is no URL
        self._in_head = False

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over: from now on none of our limits holds, the WebSocket's own do."""
        lines = [len(name) + len(value) + len(": \r\n") for name, value in self.scope["headers"]]
        if len(lines) > MAX_UPGRADE_LINES or max([len(self.url), *lines]) > MAX_UPGRADE_LINE_BYTES:
            self._in_head = True  # nothing of the answer has begun
            self._refuse(head_too_large(MAX_UPGRADE_LINE_BYTES))  # the WebSocket's parser would end it without a word
            return
        super().handle_websocket_upgrade()
        self._upgraded = True
        self._request_arrived()
        handshake = self.transport.get_protocol()
        assert isinstance(handshake, WebSocketsSansIOProtocol)  # noqa: S101 - it was made for this
        if handshake.conn.handshake_exc is not None and not self.transport.is_closing():
            self._in_head = True
            self._refuse(NOT_HTTP)  # such as one with a body: it would stay open without a word

    def on_message_complete(self) -> None:
        """The request is there."""
        if self.parser.should_upgrade() and not self._should_upgrade():
            return  # the parser has not looked for its body
        self._request_arrived()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read: it gets ``stall_s`` to go on."""
        super().pause_writing()
        self._stalling.start(self.loop, self.transport)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._stalling.stop()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, or not taken."""
        self._refuse(head_too_large(self._limits.max_head_bytes) if self._head_too_large else NOT_HTTP)

    def _unsupported_upgrade_warning(self) -> None:
        """An upgrade to what we do not speak is passed over. Programs in Java ask for HTTP/2 so, with every request."""
        stopped = sys.exc_info()[1]
        assert isinstance(stopped, httptools.HttpParserUpgrade)  # noqa: S101 - uvicorn calls this as it handles one
        self._unread_from = int(stopped.args[0])

    def _pass_over_upgrade(self) -> None:
        """Let another parser go on behind the head: the one that there was takes what follows for another protocol."""
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
            self._await_request()  # it is us who do not read on until the request before is answered
        else:
            self._refuse(request_too_slow(self._limits.request_s))

    def _turn_away(self) -> None:
        if not self.transport.is_closing():
            self._refuse(connections_exhausted(self._limits.max_connections))

    def _refuse(self, problem: Problem) -> None:
        """Close, with an answer of our own where the application has begun none."""
        self._request_arrived()
        if self._in_head and self._answering:
            self.transport.abort()  # a hostile second request behind one that is being answered
            return
        if self._in_head or self.cycle is None or not self.cycle.response_started:
            self.transport.write(_whole_response(problem))
        self.transport.close()


async def cut_off(scope: Scope, receive: Receive) -> None:
    """Let the client see that a body is not whole: its last chunk is missing. Waits until the client is gone."""
    extension = scope.get("extensions", {}).get(CUT_OFF)
    if extension is not None:  # another server does it by itself, and complains of an answer that is left so
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
