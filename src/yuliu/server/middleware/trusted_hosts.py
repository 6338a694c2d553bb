"""The Host check: names that the server answers to."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from yuliu.server.responses import header, problem_response
from yuliu.wire.problems import host_unknown

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Receive, Scope, Send

_NEARBY_DOMAINS = (".local", ".internal", ".home.arpa")
"""RFC 6762, ICANN's reservation of 2024, RFC 8375."""


class TrustedHostMiddleware:
    """Refuses requests with an unknown Host header.

    A web page can make a name of its own point to this machine (DNS rebinding) and would then be let in by the
    browser's same-origin rule; but it cannot make the browser send another Host header than that name.

    Args:
        app: The application behind it.
        hosts: Names that are accepted beside loopback names.
        nearby: Whether to accept addresses, and names that cannot be registered: those without a dot, and under
            ``.local``, ``.internal``, ``.home.arpa``.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], *, nearby: bool = False) -> None:
        self._app = app
        self._nearby = nearby
        self._hosts = frozenset(map(_allowed_name, hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 421."""
        if scope["type"] in ("http", "websocket"):
            host = _host_name(header(scope, b"host"))
            if not (host in self._hosts or _is_loopback(host) or (self._nearby and _is_nearby(host))):
                await problem_response(scope, host_unknown())(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _host_name(value: bytes | None) -> str:
    """Return the name in a Host header, without port and brackets; ``localhost`` if there is none, as in HTTP/1.0."""
    if value is None:
        return "localhost"
    text = value.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def _allowed_name(given: str) -> str:
    """Return a name as :func:`_host_name` does: names have no case, and are often copied with a port."""
    is_bare_ipv6 = given.count(":") > 1 and not given.startswith("[")
    return given.lower() if is_bare_ipv6 else _host_name(given.encode())


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_nearby(host: str) -> bool:
    """Return whether a name can only belong to this network, or is an address, which DNS cannot rebind."""
    try:
        ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_NEARBY_DOMAINS))
    return True
