"""Which web pages may talk to the server: browsers tell where a page is from, other clients tell nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.server.answers import header

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import Scope


def is_welcome(scope: Scope, origins: Collection[str]) -> bool:
    """Whether a request is from no page, from a page of this server, or from one that is allowed.

    A browser lets any page open a WebSocket to any server, and send plain text to it, without asking that server.

    Args:
        scope: The request's. Its Host header is known to be right.
        origins: Pages that are allowed, such as ``https://example.org``.
    """
    origin = header(scope, b"origin")
    if origin is None:
        return True
    given = origin.decode("latin-1").lower()
    host = (header(scope, b"host") or b"").decode("latin-1").lower()
    return given in origins or (bool(host) and given.partition("://")[2] == host)
