"""Over the network: WebSocket, by the library ``websockets``."""

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
"""A longer frame ends the connection: no server of ours sends one."""
CONNECT_S = 10.0
"""How long connecting may take."""
_PASSING = frozenset({500, 502, 503, 504})
"""Statuses by which servers that stop, and those before them, turn a handshake away."""
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class WebSocketTransport:
    """A server at an address.

    Args:
        url: ``http://host:port``, ``https``, ``ws`` or ``wss``; the path is :data:`PATH` where none is given.
        headers: Sent when connecting, such as ``Authorization``.
        connect_s: How long connecting may take, seconds.

    Raises:
        InvalidRequest: It is no such address, or a header cannot be sent.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, connect_s: float = CONNECT_S) -> None:
        self.url: str = stream_url(url)
        """Of the stream."""
        self._headers = {name: _sendable(name, value) for name, value in (headers or {}).items()}
        self._connect_s = connect_s

    async def connect(self) -> WebSocket:
        """A new connection."""
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
        except (InvalidProxy, ImportError) as error:  # without a further package, ``websockets`` knows no SOCKS
            reason = f"the proxy that the environment names for {self.url} cannot be used"
            raise ConnectionLost(reason, is_passing=False) from error
        except ssl.SSLError as error:
            raise ConnectionLost(_no_tls(self.url, error), is_passing=False) from error
        except (InvalidMessage, EOFError) as error:
            hint = "" if self.url.startswith("wss") else "; where it speaks TLS, the address begins with https"
            cut = isinstance(error, EOFError) or isinstance(error.__cause__, EOFError)
            raise ConnectionLost(f"what answers at {self.url} is no such server{hint}", is_passing=cut) from error
        except ConnectionResetError as error:
            raise ConnectionLost(f"the server at {self.url} cut the connection while it was made") from error
        except (OSError, InvalidHandshake, InvalidURI, UnicodeError) as error:  # TimeoutError is an OSError
            raise ConnectionLost(f"no server answers at {self.url}; is it running?", is_passing=False) from error
        return WebSocket(connection)

    async def close(self) -> None:
        """Nothing is shared."""


class WebSocket:
    """A connection of ``websockets``."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, text: str) -> None:
        """Send a text frame."""
        try:
            await self._connection.send(text)
        except ConnectionClosed as error:
            raise Dropped from error

    async def receive(self) -> str | bytes:
        """The next frame."""
        try:
            return await self._connection.recv()
        except ConnectionClosed as error:
            if error.rcvd is None:
                raise Dropped from error
            raise ClosedByServer(error.rcvd.code, error.rcvd.reason) from error

    async def close(self) -> None:
        """With code 1000."""
        await self._connection.close()


def stream_url(url: str) -> str:
    """The WebSocket address of a server.

    Raises:
        InvalidRequest: It is none.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        is_address = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half of an IPv6 address, or a port that is none
        is_address = False
    if not is_address:
        raise InvalidRequest("the address must be like http://127.0.0.1:8000 or wss://example.org", param="url")
    return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, parts.path.rstrip("/") or PATH, parts.query, ""))


def _sendable(name: str, value: str) -> str:
    """The value of a header, such as a key that was copied with a line break."""
    if not (value.isprintable() and value.isascii()):
        raise InvalidRequest(f"the header {name} holds characters that cannot be sent", param="headers")
    return value


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _no_tls(url: str, error: ssl.SSLError) -> str:
    """Why there is no trust, or no TLS at all."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message.removesuffix(".")
        return f"the certificate of {url} is not trusted: {reason}; $SSL_CERT_FILE may name a file of those that are"
    return (
        f"the server at {url} speaks no TLS that is understood here; where it speaks none, the address begins with http"
    )


def _refused(status: int, body: bytes | bytearray | None) -> YuliuError:
    """What the answer to a handshake says."""
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        error = json.loads(body or b"")["error"]
        return error_of(str(error["code"]), str(error["message"]), param=error.get("param"))
    reason = f"the server refuses the connection with HTTP status {status}; is it a Yuliu server?"
    return ConnectionLost(reason, is_passing=status in _PASSING)
