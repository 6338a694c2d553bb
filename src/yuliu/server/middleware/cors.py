"""Access of web pages: origins that may use the server, and answers for their browsers (CORS). HTTP and WebSockets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.responses import Response

from yuliu.errors import InvalidRequest
from yuliu.server.responses import header, problem_response, request_id
from yuliu.wire.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ORIGIN_UNKNOWN = Problem(403, "origin_not_allowed", "pages of this origin may not use the server")
METHODS = "GET, HEAD, POST, PUT, DELETE"
PREFLIGHT_S = 600
"""Time that a browser may cache the answer to a preflight, seconds."""
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9._-]+(?::\d{1,5})?|[a-z][a-z0-9+.-]*://\[[0-9a-f:.]+\](?::\d{1,5})?")
_NAMES = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2000}")


def is_allowed_origin(scope: Scope, origins: Collection[str]) -> bool:
    """Return whether a request comes from no page, from a page of this server, or from an allowed page.

    A browser lets any page open a WebSocket to any server, and send plain text to it, without asking that server.

    Args:
        scope: The request. Its Host header has been checked.
        origins: Pages that are allowed, such as ``https://example.org``.
    """
    origin = header(scope, b"origin")
    if origin is None:
        return True
    given = origin.decode("latin-1").lower()
    host = (header(scope, b"host") or b"").decode("latin-1").lower()
    return given in origins or (bool(host) and given.partition("://")[2] == host)


def checked_origin(given: str) -> str:
    """Return an origin as browsers send it, such as ``https://example.org``.

    Raises:
        InvalidRequest: It is not an origin; an origin has no path, and there is no wildcard.
    """
    origin = given.lower().rstrip("/")
    if not _ORIGIN.fullmatch(origin):
        raise InvalidRequest("an origin is written as https://example.org or http://127.0.0.1:5173", param="origins")
    return origin


class CorsMiddleware:
    """Refuses requests of other pages, answers preflights, and lets allowed pages read responses.

    Args:
        app: The application behind it.
        origins: Pages that are allowed beside the server's own, as :func:`checked_origin` returns them.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        if scope["type"] not in ("http", "websocket") or (origin := header(scope, b"origin")) is None:
            await self._app(scope, receive, send)
        elif not is_allowed_origin(scope, self._origins):
            await problem_response(scope, ORIGIN_UNKNOWN)(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)  # browsers do not check who may read a WebSocket
        elif scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method") is not None:
            await _preflight(scope, origin)(scope, receive, send)
        else:
            await self._app(scope, receive, _readable(send, origin))


def _preflight(scope: Scope, origin: bytes) -> Response:
    """Allow all methods and headers: the page is allowed, and its requests need a key as any other."""
    headers = {
        "X-Request-Id": request_id(scope),
        "Access-Control-Allow-Origin": origin.decode("latin-1"),
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Max-Age": str(PREFLIGHT_S),
        "Vary": "Origin",
    }
    asked = header(scope, b"access-control-request-headers")
    if asked is not None and _NAMES.fullmatch(asked):
        headers["Access-Control-Allow-Headers"] = asked.decode("ascii")
    return Response(status_code=204, headers=headers)


def _readable(send: Send, origin: bytes) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            names = [name for name in headers if name.startswith("x-") or name in ("etag", "retry-after")]
            headers["Access-Control-Allow-Origin"] = origin.decode("latin-1")
            headers["Access-Control-Expose-Headers"] = ", ".join(dict.fromkeys(names))
            headers.add_vary_header("Origin")
        await send(message)

    return sending
