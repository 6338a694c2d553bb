"""Bodies of requests, read whole, and never more of them than is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from yuliu.server.responses import header, problem_response
from yuliu.wire.problems import Problem, body_too_large

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import Receive, Scope


async def body_or_response(request: Request, max_bytes: int) -> bytes | Response:
    """The whole body, or what is to be answered instead: it is too large, or nobody is there any more."""
    try:
        body = await read_body(request.scope, request.receive, max_bytes)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody reads it
    return problem_response(request.scope, body) if isinstance(body, Problem) else body


async def read_body(
    scope: Scope, receive: Receive, max_bytes: int, *, take: Callable[[int], None] = lambda _: None
) -> bytes | Problem:
    """The whole body; a problem if it is too large, before more of it than allowed is held.

    Args:
        scope: The request's.
        receive: Gives its pieces.
        max_bytes: What is read at most.
        take: Told of the bytes of each piece; may raise.

    Raises:
        ClientDisconnect: The client is gone.
    """
    declared = header(scope, b"content-length")
    if declared is not None and declared.isdigit() and int(declared) > max_bytes:
        return body_too_large(max_bytes)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece = message.get("body", b"")
        take(len(piece))
        body += piece
        if len(body) > max_bytes:
            return body_too_large(max_bytes)
        if not message.get("more_body", False):
            return bytes(body)
