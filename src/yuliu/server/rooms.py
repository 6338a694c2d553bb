"""Hard bounds that all requests share: how many streams, and how many bytes of text they hold together."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from yuliu.errors import Overloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

RETRY_AFTER_S = 1.0
"""What those are told who meet a bound. They are met only if far more is asked than any machine carries."""


class NoRoom(Overloaded):
    """A bound is met.

    Args:
        message: Which one.
        reason: The same in a word, for the metrics.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message, retry_after_s=RETRY_AFTER_S)
        self.reason: str = reason


class Rooms:
    """What is taken of the bounds.

    Args:
        max_streams: Streams at a time.
        max_body_bytes: Bytes of bodies at a time.
    """

    def __init__(self, max_streams: int, max_body_bytes: int) -> None:
        self.num_streams = 0
        """Streams that are spoken or wait to be."""
        self.num_body_bytes = 0
        """Bytes of the requests that are received or spoken."""
        self._max_streams = max_streams
        self._max_body_bytes = max_body_bytes

    @contextmanager
    def stream(self) -> Iterator[None]:
        """One of the streams.

        Raises:
            NoRoom: There are as many as may be.
        """
        if self.num_streams >= self._max_streams:
            message = f"{self.num_streams} streams are open, which is the limit; try again"
            raise NoRoom(message, reason="max_streams")
        self.num_streams += 1
        try:
            yield
        finally:
            self.num_streams -= 1

    @contextmanager
    def body(self) -> Iterator[BodyRoom]:
        """Room for one request's body, given back at the end."""
        room = BodyRoom(self)
        try:
            yield room
        finally:
            self.num_body_bytes -= room.num_bytes

    def _take(self, num_bytes: int) -> None:
        if self.num_body_bytes + num_bytes > self._max_body_bytes:
            message = "too much text is being received and spoken; try again, or send less at a time"
            raise NoRoom(message, reason="max_text")
        self.num_body_bytes += num_bytes


class BodyRoom:
    """The part of one request."""

    def __init__(self, rooms: Rooms) -> None:
        self.num_bytes = 0
        self._rooms = rooms

    def take(self, num_bytes: int) -> None:
        """So many further bytes are held.

        Raises:
            NoRoom: There is no room for them.
        """
        self._rooms._take(num_bytes)
        self.num_bytes += num_bytes
