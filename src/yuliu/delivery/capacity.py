"""Capacity over all protocols: how many streams there may be, and how much text and audio they may hold together."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from yuliu.errors import Overloaded
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.metrics.metrics import Metrics

RETRY_AFTER_S = 1.0
"""Advice beside a refusal. Limits are met only by far more load than any machine carries."""

Bound = Literal["max_streams", "max_text"]
"""Limit that was met, for the metrics."""


class Capacity:
    """Streams and memory in use.

    Args:
        max_streams: Maximum number of streams.
        max_body_bytes: Maximum size of all bodies, texts and audio that are held.
        metrics: Counts refusals.
    """

    def __init__(self, max_streams: int, max_body_bytes: int, metrics: Metrics) -> None:
        self.num_streams = 0
        """Streams that are spoken, or wait to be."""
        self.num_body_bytes = 0
        """Bytes that requests and deliveries hold."""
        self._max_streams = max_streams
        self._max_body_bytes = max_body_bytes
        self._metrics = metrics

    @contextmanager
    def stream(self, stream_class: StreamClass) -> Iterator[None]:
        """Hold one stream.

        Raises:
            Overloaded: The maximum number of streams is open.
        """
        if self.num_streams >= self._max_streams:
            message = f"{self.num_streams} streams are open, which is the limit; try again"
            raise self._refusal(message, stream_class, "max_streams")
        self.num_streams += 1
        try:
            yield
        finally:
            self.num_streams -= 1

    @contextmanager
    def body(self, stream_class: StreamClass = StreamClass.STANDARD) -> Iterator[BodyReservation]:
        """Hold memory for one request or delivery, given back at the end.

        Args:
            stream_class: Class that a refusal is counted for.
        """
        room = BodyReservation(self, stream_class)
        try:
            yield room
        finally:
            self.num_body_bytes -= room.num_bytes

    def _take(self, num_bytes: int, stream_class: StreamClass) -> None:
        if self.num_body_bytes + num_bytes > self._max_body_bytes:
            message = "too much text is being received and spoken; try again, or send less at a time"
            raise self._refusal(message, stream_class, "max_text")
        self.num_body_bytes += num_bytes

    def _refusal(self, message: str, stream_class: StreamClass, bound: Bound) -> Overloaded:
        self._metrics.admission(stream_class, "rejected", reason=bound)
        return Overloaded(message, retry_after_s=RETRY_AFTER_S)


class BodyReservation:
    """Memory that one request or delivery holds."""

    def __init__(self, rooms: Capacity, stream_class: StreamClass) -> None:
        self.num_bytes = 0
        self._rooms = rooms
        self._stream_class = stream_class

    def take(self, num_bytes: int) -> None:
        """Hold more bytes.

        Raises:
            Overloaded: There is no memory left.
        """
        self._rooms._take(num_bytes, self._stream_class)
        self.num_bytes += num_bytes

    def give_back(self, num_bytes: int) -> None:
        """Hold fewer bytes."""
        self._rooms.num_body_bytes -= num_bytes
        self.num_bytes -= num_bytes
