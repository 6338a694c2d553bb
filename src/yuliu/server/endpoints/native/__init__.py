"""``/v1/stream``: the native protocol, over WebSocket and in the body of a plain request."""

from yuliu.server.endpoints.native.http_body import stream_over_http
from yuliu.server.endpoints.native.websocket import stream_over_websocket
from yuliu.server.routing import WEBSOCKET, Route

ROUTES = (
    Route(
        path="/v1/stream",
        methods=(WEBSOCKET,),
        access="speak",
        name="stream",
        summary="Speak texts while they are written",
        endpoint=stream_over_websocket,
        request="ClientMessage",
        response="ServerMessage",
    ),
    Route(
        path="/v1/stream",
        methods=("POST",),
        access="speak",
        name="stream",
        summary="Speak a body while it is written",
        endpoint=stream_over_http,
        request="TextStream",
        response="Sound",
    ),
)

__all__ = ("ROUTES",)
