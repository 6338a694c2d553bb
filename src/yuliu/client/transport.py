"""How a client reaches a server: something that connects, and gives sockets of text and binary frames."""

from __future__ import annotations

from typing import Protocol


class Dropped(Exception):
    """The connection was lost without a word: what was on it can be resumed."""


class ClosedByServer(Exception):
    """The server closed the connection.

    Args:
        code: RFC 6455, 7.4, and those of :class:`yuliu.wire.native.messages.Close`.
        reason: In a word or two.
    """

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code: int = code
        self.reason: str = reason


class Socket(Protocol):
    """A connection. One task receives, any may send."""

    async def send(self, text: str) -> None:
        """Send a text frame.

        Raises:
            Dropped: The connection is lost, or closed.
        """
        ...

    async def receive(self) -> str | bytes:
        """The next frame.

        Raises:
            Dropped: The connection was lost.
            ClosedByServer: It was closed.
        """
        ...

    async def close(self) -> None:
        """Say good-bye; streams that are open end."""
        ...


class Transport(Protocol):
    """Makes connections."""

    async def connect(self) -> Socket:
        """A new connection.

        Raises:
            ConnectionLost: The server cannot be reached.
            YuliuError: It lets nobody in now, for a reason it tells.
        """
        ...

    async def close(self) -> None:
        """Free what connections had in common."""
        ...
