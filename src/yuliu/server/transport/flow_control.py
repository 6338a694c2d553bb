"""How much of what was sent has arrived, as far as the client's answers to WebSocket pings tell.

What lies between server and client, a proxy or a slow radio, may take megabytes at once. If the connection breaks then,
more is missing than is kept for a client that comes back. So a ping follows on every few frames: its answer says that
all before it is there, and no more is sent than is kept anyway. Pure.
"""

from __future__ import annotations

import struct
from collections import deque

MARK_BYTES = 32_768
"""So much is sent between two pings, or a little more."""
MAX_UNANSWERED_BYTES = 262_144
"""So much may be on its way: half of what is kept, as messages count more there than they are long."""
_MARK = struct.Struct("!Q")


class FlowControl:
    """Those of one connection."""

    def __init__(self) -> None:
        self.are_given: bool = False
        """Whether any ping was answered so far."""
        self._num_sent = self._num_received = self._num_marked = 0
        self._num_marks = 0
        self._marks: deque[tuple[bytes, int]] = deque()

    @property
    def is_full(self) -> bool:
        """Whether so much is on its way that no more sound is to be sent."""
        return self._num_sent - self._num_received >= MAX_UNANSWERED_BYTES

    def sent(self, num_bytes: int) -> bytes | None:
        """So much more was sent; the payload of a ping that is to follow it, if one is."""
        self._num_sent += num_bytes
        if self._num_sent - self._num_marked < MARK_BYTES:
            return None
        self._num_marks += 1
        payload = _MARK.pack(self._num_marks)
        self.mark(payload)
        return payload

    def mark(self, payload: bytes) -> None:
        """A ping was sent, or is to be at once."""
        self._num_marked = self._num_sent
        self._marks.append((payload, self._num_sent))

    def answered(self, payload: bytes) -> tuple[bytes, ...]:
        """A ping was answered, and with it those before it, which clients need not answer: all their payloads."""
        if all(payload != each for each, _ in self._marks):
            return ()
        found: list[bytes] = []
        while not found or found[-1] != payload:
            each, self._num_received = self._marks.popleft()
            found.append(each)
        self.are_given = True
        return tuple(found)
