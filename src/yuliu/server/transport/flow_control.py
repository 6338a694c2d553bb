"""Flow control by WebSocket pings: bytes in flight are those sent after the last ping that the client has answered.

A proxy or a slow radio between server and client may buffer megabytes. If the connection breaks then, more is lost than
is kept for a client that reconnects. So a ping follows every few frames; its answer confirms all that was sent before,
and no more may be in flight than is kept anyway. Pure.
"""

from __future__ import annotations

import struct
from collections import deque

MARK_BYTES = 32_768
"""Bytes between two pings, or a little more."""
MAX_UNANSWERED_BYTES = 262_144
"""Maximum number of bytes in flight: half of what is kept, as messages count for more there than their length."""
_MARK = struct.Struct("!Q")


class FlowControl:
    """Bytes in flight on one connection."""

    def __init__(self) -> None:
        self.are_given: bool = False
        """True once any ping was answered."""
        self._num_sent = self._num_received = self._num_marked = 0
        self._num_marks = 0
        self._marks: deque[tuple[bytes, int]] = deque()

    @property
    def is_full(self) -> bool:
        """True while the maximum is in flight, so that no more audio may be sent."""
        return self._num_sent - self._num_received >= MAX_UNANSWERED_BYTES

    def sent(self, num_bytes: int) -> bytes | None:
        """Count bytes that were sent. Return the payload of a ping that must follow, or None."""
        self._num_sent += num_bytes
        if self._num_sent - self._num_marked < MARK_BYTES:
            return None
        self._num_marks += 1
        payload = _MARK.pack(self._num_marks)
        self.mark(payload)
        return payload

    def mark(self, payload: bytes) -> None:
        """Note a ping that was sent, or is about to be."""
        self._num_marked = self._num_sent
        self._marks.append((payload, self._num_sent))

    def answered(self, payload: bytes) -> tuple[bytes, ...]:
        """Note the answer to a ping. Return its payload and those of all pings before it, which it answers as well."""
        if all(payload != each for each, _ in self._marks):
            return ()
        found: list[bytes] = []
        while not found or found[-1] != payload:
            each, self._num_received = self._marks.popleft()
            found.append(each)
        self.are_given = True
        return tuple(found)
