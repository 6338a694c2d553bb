"""The Host check: by which names the server answers."""

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
    """Turns requests away whose Host header is not known.

    A web page can make a name of its own point to this machine (DNS rebinding) and would then be let in by the
    browser's same-origin rule; but it cannot make the browser send another Host header than that name.

    Args:
        app: What is behind it.
        hosts: Names that are answered beside loopback ones.
        nearby: Whether addresses are, too, and names that nobody can own far away: those without a dot, and under
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
    """The name in a Host header, without port and brackets; loopback's if there is none, as HTTP/1.0 allows."""
    if value is None:
        return "localhost"
    text = value.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def _allowed_name(given: str) -> str:
    """A name as :func:`_host_name` would give it: names have no case, and people copy them with a port."""
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
    """Whether only the network here can have given the name, as far as it is one: an address has no name to rebind."""
    try:
        ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_NEARBY_DOMAINS))
    return True
