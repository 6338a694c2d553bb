"""Transport over the network: WebSocket, by the ``websockets`` library."""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
)

from yuliu.client.errors import ConnectionLost, error_of
from yuliu.client.transport import ClosedByServer, Dropped
from yuliu.errors import InvalidRequest, YuliuError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from websockets.asyncio.client import ClientConnection

PATH = "/v1/stream"
MAX_FRAME_BYTES = 16 * 1024 * 1024
"""Maximum size of a received frame; a longer one ends the connection."""
CONNECT_S = 10.0
"""Maximum time for connecting, seconds."""
_PASSING = frozenset({500, 502, 503, 504})
"""Statuses with which a stopping server, or a proxy in front of it, refuses a handshake."""
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class WebSocketTransport:
    """WebSocket transport to a server.

    Args:
        url: ``http://host:port``, or the same with ``https``, ``ws`` or ``wss``; the default path is :data:`PATH`.
        headers: Headers of the handshake, such as ``Authorization``.
        connect_s: Maximum time for connecting, seconds.

    Raises:
        InvalidRequest: The address is invalid, or a header cannot be sent.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, connect_s: float = CONNECT_S) -> None:
        self.url: str = stream_url(url)
        """Address of the stream endpoint."""
        self._headers = {name: _sendable(name, value) for name, value in (headers or {}).items()}
        self._connect_s = connect_s

    async def connect(self) -> WebSocket:
        """Return a new connection."""
        try:
            async with asyncio.timeout(self._connect_s):
                connection = await connect(
                    self.url,
                    additional_headers=self._headers,
                    compression=None,
                    max_size=MAX_FRAME_BYTES,
                    open_timeout=None,
                    proxy=None if _is_here(self.url) else True,
                )
        except InvalidStatus as error:
            raise _refused(error.response.status_code, error.response.body) from error
        except (InvalidProxy, ImportError) as error:  # ``websockets`` needs another package for SOCKS
            reason = f"the proxy set in the environment for {self.url} cannot be used"
            raise ConnectionLost(reason, is_passing=False) from error
        except ssl.SSLError as error:
            raise ConnectionLost(_no_tls(self.url, error), is_passing=False) from error
        except (InvalidMessage, EOFError) as error:
            hint = "" if self.url.startswith("wss") else "; if it uses TLS, the address begins with https"
            cut = isinstance(error, EOFError) or isinstance(error.__cause__, EOFError)
            raise ConnectionLost(f"no Yuliu server answers at {self.url}{hint}", is_passing=cut) from error
        except ConnectionResetError as error:
            raise ConnectionLost(f"the server at {self.url} cut the connection during the handshake") from error
        except (OSError, InvalidHandshake, InvalidURI, UnicodeError) as error:  # TimeoutError is an OSError
            raise ConnectionLost(f"no server answers at {self.url}; is it running?", is_passing=False) from error
        return WebSocket(connection)

    async def close(self) -> None:
        """Do nothing: connections share no state."""


class WebSocket:
    """Socket on a ``websockets`` connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, text: str) -> None:
        """Send a text frame."""
        try:
            await self._connection.send(text)
        except ConnectionClosed as error:
            raise Dropped from error

    async def receive(self) -> str | bytes:
        """Return the next frame."""
        try:
            return await self._connection.recv()
        except ConnectionClosed as error:
            if error.rcvd is None:
                raise Dropped from error
            raise ClosedByServer(error.rcvd.code, error.rcvd.reason) from error

    async def close(self) -> None:
        """Close with code 1000."""
        await self._connection.close()


def stream_url(url: str) -> str:
    """Return the WebSocket address of a server.

    Raises:
        InvalidRequest: The address is invalid.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        is_address = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half of an IPv6 address, or an invalid port
        is_address = False
    if not is_address:
        raise InvalidRequest("the address must be like http://127.0.0.1:8000 or wss://example.org", param="url")
    return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, parts.path.rstrip("/") or PATH, parts.query, ""))


def _sendable(name: str, value: str) -> str:
    """Return the value of a header; refuse one such as a key that was copied with a line break."""
    if not (value.isprintable() and value.isascii()):
        raise InvalidRequest(f"the header {name} contains characters that cannot be sent", param="headers")
    return value


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _no_tls(url: str, error: ssl.SSLError) -> str:
    """Describe a certificate that is not trusted, or a failed TLS handshake."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message.removesuffix(".")
        return f"the certificate of {url} is not trusted: {reason}; $SSL_CERT_FILE can name a file with trusted ones"
    return f"the TLS handshake with {url} failed; if the server does not use TLS, the address begins with http"


def _refused(status: int, body: bytes | bytearray | None) -> YuliuError:
    """Return the error for a refused handshake."""
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        error = json.loads(body or b"")["error"]
        return error_of(str(error["code"]), str(error["message"]), param=error.get("param"))
    reason = f"the server refused the connection with HTTP status {status}; is it a Yuliu server?"
    return ConnectionLost(reason, is_passing=status in _PASSING)
