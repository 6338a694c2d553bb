"""What was made of one stream, until it is sent and for a while after, so that a client that comes back misses nothing.

Sound is counted in bytes from the beginning of the stream, messages by number. A client that lost its connection has
received some beginning of that sequence; it says how many bytes and how many messages, and gets the rest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yuliu.errors import YuliuError
from yuliu.wire.native.writing import MAX_SOUND_BYTES

if TYPE_CHECKING:
    from yuliu.wire.native.messages import Told

MESSAGE_NUM_BYTES = 512
"""What a message counts in a window."""


class NotKept(YuliuError):
    """What is asked for is not kept any more, or was never sent."""

    code = "not_resumable"


@dataclass(frozen=True, slots=True)
class Piece:
    """Sound, as encoded."""

    offset: int
    """Place of its first byte in the sound of the stream."""
    data: bytes
    until_ms: float
    """How much of the sound is out with it."""

    @property
    def end(self) -> int:
        """Place behind its last byte."""
        return self.offset + len(self.data)


@dataclass(slots=True)
class _Kept:
    record: Piece | Told
    sent_at_s: float = 0.0


class Window:
    """Sound and messages of one stream.

    Args:
        max_bytes: So much is kept after it was sent.
        max_age_s: And for so long, seconds.
    """

    def __init__(self, max_bytes: int, max_age_s: float) -> None:
        self.num_bytes: int = 0
        """Of all sound so far."""
        self.num_messages: int = 0
        """All so far."""
        self.num_unsent_bytes: int = 0
        """Of the sound that was not sent yet."""
        self._max_bytes, self._max_age_s = max_bytes, max_age_s
        self._sent: deque[_Kept] = deque()
        self._unsent: deque[Piece | Told] = deque()
        self._num_kept = 0  # bytes in _sent, messages counted
        self._sent_to = self._received_from = 0  # bytes
        self._next_seq = self._received_seq = 0
        self._sent_ms = self._made_ms = 0.0
        self._last_at_s = 0.0

    @property
    def num_sent_bytes(self) -> int:
        """Of the sound that was sent."""
        return self._sent_to

    @property
    def sent_ms(self) -> float:
        """How much sound was sent, milliseconds."""
        return self._sent_ms

    @property
    def has_unsent(self) -> bool:
        """Whether anything is to be sent."""
        return bool(self._unsent)

    def add_sound(self, data: bytes, until_ms: float) -> None:
        """More sound.

        Args:
            data: As encoded, maybe nothing.
            until_ms: How much of the stream's sound it completes.
        """
        from_ms, self._made_ms = self._made_ms, until_ms
        for at in range(0, len(data), MAX_SOUND_BYTES):
            cut = data[at : at + MAX_SOUND_BYTES]
            piece = Piece(self.num_bytes, cut, from_ms + (until_ms - from_ms) * (at + len(cut)) / len(data))
            self.num_bytes += len(piece.data)
            self.num_unsent_bytes += len(piece.data)
            self._unsent.append(piece)

    def tell(self, message: Told) -> None:
        """A message at this place; it gets its number."""
        self._unsent.append(replace(message, seq=self.num_messages))
        self.num_messages += 1

    def next(self, now: float) -> Piece | Told | None:
        """What is to be sent next, which then counts as sent; None if there is nothing.

        Args:
            now: Seconds on any monotonic clock.
        """
        self._trim(now)
        if not self._unsent:
            return None
        self._last_at_s = now
        record = self._unsent.popleft()
        if isinstance(record, Piece):
            self.num_unsent_bytes -= len(record.data)
            self._sent_to = max(self._sent_to, record.end)
            self._sent_ms = max(self._sent_ms, record.until_ms)
        else:
            self._next_seq = max(self._next_seq, (record.seq or 0) + 1)
        self._sent.append(_Kept(record, now))
        self._num_kept += _size(record)
        self._trim(now)
        return record

    def drop_unsent(self) -> None:
        """Forget what was not sent: nobody wants it any more."""
        self.num_bytes, self.num_messages, self._made_ms = self._sent_to, self._next_seq, self._sent_ms
        self.num_unsent_bytes = 0
        self._unsent.clear()

    def clear(self) -> None:
        """Keep nothing: nobody will come back for it."""
        self.drop_unsent()
        self._sent.clear()
        self._num_kept = 0
        self._received_from, self._received_seq = self._sent_to, self._next_seq

    def rewind(self, offset: int, seq: int) -> None:
        """Send again what comes after so many bytes of sound and so many messages.

        Raises:
            NotKept: Some of that is not kept any more, or the client has what was never sent.
        """
        if offset > self._sent_to or seq > self._next_seq:
            raise NotKept("more is said to have been received than was sent")
        if offset < self._received_from or seq < self._received_seq:
            message = f"sound is kept from byte {self._received_from} on, messages from {self._received_seq} on"
            raise NotKept(message)
        records = [kept.record for kept in self._sent]
        received = [_is_received(each, offset, seq) for each in records]
        cut = received.index(False) if False in received else len(records)
        if any(_is_begun(each, offset, seq) for each in records[cut + 1 :]):
            raise NotKept("so much sound and so many messages were never sent in this order")
        self._take_back(cut, offset)

    def _take_back(self, cut: int, offset: int) -> None:
        """What was sent from a record on is to be sent again, of that record itself what lies behind ``offset``."""
        again: list[Piece | Told] = []
        while len(self._sent) > cut:
            record = self._sent.pop().record
            self._num_kept -= _size(record)
            again.append(record)
        if again and isinstance(first := again[-1], Piece) and first.offset < offset:
            num_head = offset - first.offset
            self._sent.append(_Kept(replace(first, data=first.data[:num_head]), self._last_at_s))
            self._num_kept += num_head
            again[-1] = replace(first, offset=offset, data=first.data[num_head:])
        self._unsent.extendleft(again)
        self.num_unsent_bytes += sum(len(each.data) for each in again if isinstance(each, Piece))

    def _trim(self, now: float) -> None:
        while self._sent and (self._num_kept > self._max_bytes or now - self._sent[0].sent_at_s > self._max_age_s):
            record = self._sent.popleft().record
            self._num_kept -= _size(record)
            if isinstance(record, Piece):
                self._received_from = max(self._received_from, record.end)
            else:
                self._received_seq = max(self._received_seq, (record.seq or 0) + 1)


def _size(record: Piece | Told) -> int:
    return len(record.data) if isinstance(record, Piece) else MESSAGE_NUM_BYTES


def _is_received(record: Piece | Told, offset: int, seq: int) -> bool:
    """Whether all of it was received by a client that has so much."""
    return record.end <= offset if isinstance(record, Piece) else (record.seq or 0) < seq


def _is_begun(record: Piece | Told, offset: int, seq: int) -> bool:
    """Whether any of it was."""
    return record.offset < offset if isinstance(record, Piece) else (record.seq or 0) < seq
