"""Request bodies, read as a whole within the limit of their route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from yuliu.errors import BodyTooLarge
from yuliu.server.responses import header

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope


async def read_body(
    scope: Scope, receive: Receive, max_bytes: int, *, take: Callable[[int], None] = lambda _: None
) -> bytes:
    """Return the whole body.

    Args:
        scope: The request's.
        receive: Gives pieces of the body.
        max_bytes: Maximum size of the body.
        take: Is called with the size of each piece; may raise.

    Raises:
        BodyTooLarge: The body is larger. No more of it than allowed was held.
        ClientDisconnect: The client is gone.
    """
    declared = header(scope, b"content-length")
    if declared is not None and declared.isdigit() and int(declared) > max_bytes:
        raise BodyTooLarge(max_bytes)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece = message.get("body", b"")
        take(len(piece))
        body += piece
        if len(body) > max_bytes:
            raise BodyTooLarge(max_bytes)
        if not message.get("more_body", False):
            return bytes(body)
