"""Transport interface of a client: it connects, and gives sockets of text and binary frames."""

from __future__ import annotations

from typing import Protocol


class Dropped(Exception):
    """The connection was lost without a close frame, so its streams can be resumed."""


class ClosedByServer(Exception):
    """The server closed the connection.

    Args:
        code: Close code of RFC 6455, section 7.4, or of :class:`yuliu.wire.native.messages.Close`.
        reason: Short reason.
    """

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code: int = code
        self.reason: str = reason


class Socket(Protocol):
    """A connection. One task receives; any task may send."""

    async def send(self, text: str) -> None:
        """Send a text frame.

        Raises:
            Dropped: The connection is lost or closed.
        """
        ...

    async def receive(self) -> str | bytes:
        """Return the next frame.

        Raises:
            Dropped: The connection was lost.
            ClosedByServer: The server closed the connection.
        """
        ...

    async def close(self) -> None:
        """Close the connection; open streams end."""
        ...


class Transport(Protocol):
    """Way to connect to a server."""

    async def connect(self) -> Socket:
        """Return a new connection.

        Raises:
            ConnectionLost: The server cannot be reached.
            YuliuError: The server refused the connection and gave a reason.
        """
        ...

    async def close(self) -> None:
        """Release what the connections share."""
        ...
