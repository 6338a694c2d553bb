"""``/v1/stream``: the native protocol. Here a connection is let in, or told why not."""

from __future__ import annotations

import functools
import uuid
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.routing import Route, WebSocketRoute

from yuliu.errors import YuliuError
from yuliu.server.native.http_body import BodyConnection
from yuliu.server.native.registry import StreamRegistry
from yuliu.server.native.resumable import ResumableStream
from yuliu.server.native.websocket import StreamSocket
from yuliu.server.options import native_options
from yuliu.server.principal import principal_of
from yuliu.server.responses import header_text, headers_of, problem_response, request_id
from yuliu.server.transport.http import cut_off
from yuliu.server.transport.websocket import CARRIER, Carrier
from yuliu.stream import Caller
from yuliu.wire.native.body_codec import Body, start_of_query
from yuliu.wire.openai import SpeechRequest, choose_voice
from yuliu.wire.problems import path_unknown, problem_of

if TYPE_CHECKING:
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

    from yuliu.server.context import ServerContext
    from yuliu.server.principal import Principal
    from yuliu.wire.native.messages import Start
    from yuliu.wire.problems import Problem

DOOR = "stream"
"""Which way in this is, for the metrics."""
PATH = "/v1/stream"


class StreamEndpoint:
    """The native protocol of one server.

    Args:
        shared: What it has in common with other doors.
    """

    def __init__(self, shared: ServerContext) -> None:
        self._shared = shared
        self._error_told = functools.partial(shared.metrics.error_told, DOOR)
        self.streams = StreamRegistry(shared.limits.native)
        """Those that are spoken, and those that wait for their client."""

    @property
    def routes(self) -> list[BaseRoute]:
        """The path."""
        return [WebSocketRoute(PATH, self), Route(PATH, _BodyEndpoint(self), methods=["POST"])]

    async def answer_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request whose body is spoken while it comes."""
        answering = False
        try:
            headers = headers_of(scope)
            query = start_of_query(dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)))
            open_stream = functools.partial(
                self._open,
                guest=principal_of(scope),
                trace_parent=headers.get("traceparent", ""),
                stream_id=request_id(scope),
            )
            talk = BodyConnection(
                open_stream, Body(headers.get("content-type"), query), idle_s=self._shared.limits.native.idle_text_s
            )
            problem = await talk.run(scope, receive, send)
            answering = talk.answering
        except YuliuError as error:
            problem = problem_of(error)
        if problem is not None:
            self._error_told(problem.code)
        if problem is not None and answering:
            await cut_off(scope, receive)
        elif problem is not None:
            await problem_response(scope, problem)(scope, receive, send)

    def elsewhere(self, otherwise: ASGIApp) -> ASGIApp:
        """Answers WebSockets on all other paths; whatever else has no path goes on."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "websocket":
                await otherwise(scope, receive, send)
            else:
                await problem_response(scope, path_unknown([PATH]))(scope, receive, send)

        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One WebSocket, from its handshake on."""
        await receive()  # websocket.connect
        problem = self._problem()
        if problem is not None:
            self._error_told(problem.code)
            await problem_response(scope, problem)(scope, receive, send)
            return
        connection_id = request_id(scope)
        await send({"type": "websocket.accept", "headers": [(b"x-request-id", connection_id.encode("ascii"))]})
        trace_parent = header_text(scope, b"traceparent")
        carrier: Carrier = scope["extensions"].get(CARRIER, {}).get("carrier") or Carrier()
        guest = principal_of(scope)
        open_stream = functools.partial(self._open, guest=guest, trace_parent=trace_parent)
        socket = StreamSocket(
            open_stream, self.streams, self._shared.limits.native, carrier, guest=guest, error_told=self._error_told
        )
        await socket.run(receive, send)

    def _problem(self) -> Problem | None:
        """Why a connection is not let in."""
        try:
            self._shared.loading.voices()
        except YuliuError as error:
            return problem_of(error)
        return None

    def _open(
        self, start: Start, *, guest: Principal, trace_parent: str, stream_id: str | None = None
    ) -> ResumableStream:
        synthesizer = self._shared.loading.synthesizer
        return ResumableStream(
            start,
            synthesizer=synthesizer,
            voice=choose_voice(SpeechRequest("", voice=start.voice), synthesizer.voices, synthesizer.default),
            options=guest.granted(native_options(start, self._shared.presets, self._shared.limits), start.manner),
            caller=Caller(DOOR, stream_id or uuid.uuid4().hex, trace_parent),
            max_characters=self._shared.limits.native.max_characters,
            window=self.streams.window(start),
            rooms=self._shared.rooms,
            threads=self._shared.threads,
            guest=guest,
        )


class _BodyEndpoint:
    """The native protocol over plain HTTP."""

    def __init__(self, door: StreamEndpoint) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._door.answer_body(scope, receive, send)
