"""Output of one stream, until it is sent and for a while after, so that a client that comes back misses nothing.

Sound is counted in bytes from the beginning of the stream, messages by number. A client that lost its connection has
received some beginning of that sequence; it says how many bytes and how many messages, and gets the rest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import structs

from yuliu.errors import YuliuError
from yuliu.wire.native.encode import MAX_SOUND_BYTES
from yuliu.wire.native.messages import Done, Timings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from yuliu.wire.native.messages import Told

MESSAGE_NUM_BYTES = 512
"""Bytes that a message counts, without its places in the text:"""
PLACE_NUM_BYTES = 256


class NotKept(YuliuError):
    """The requested output is no longer kept, or was never sent."""

    code = "not_resumable"


@dataclass(frozen=True, slots=True)
class EncodedPiece:
    """Sound, as encoded."""

    offset: int
    """Place of its first byte in the sound of the stream."""
    data: bytes
    until_ms: float
    """Length of the sound up to its end, milliseconds."""

    @property
    def end(self) -> int:
        """Place behind its last byte."""
        return self.offset + len(self.data)


@dataclass(slots=True)
class _Kept:
    record: EncodedPiece | Told
    sent_at_s: float = 0.0


@dataclass(slots=True)
class Tally:
    """Totals of several buffers."""

    num_kept: int = 0
    """Bytes that are kept for clients that come back."""
    num_again: int = 0
    """Bytes that are to be sent again to clients that came back."""


class ReplayBuffer:
    """Sound and messages of one stream.

    Args:
        max_bytes: Maximum bytes that are kept after they were sent.
        max_age_s: Maximum time for which they are kept, seconds.
        tally: Counts what is kept, with that of other windows.
    """

    def __init__(self, max_bytes: int, max_age_s: float, tally: Tally | None = None) -> None:
        self.num_bytes: int = 0
        """Bytes of all sound so far."""
        self.num_messages: int = 0
        """Number of messages so far."""
        self.num_unsent_bytes: int = 0
        """Bytes of sound that were not sent yet."""
        self._max_bytes, self._max_age_s = max_bytes, max_age_s
        self._sent: deque[_Kept] = deque()
        self._unsent: deque[EncodedPiece | Told] = deque()
        self._num_kept = 0  # bytes in _sent, messages counted
        self._num_again = 0  # bytes in _unsent that were sent before, messages counted
        self._tally = tally or Tally()
        self._sent_to = self._received_from = 0  # bytes
        self._next_seq = self._received_seq = 0
        self._sent_ms = self._made_ms = 0.0
        self._last_at_s = 0.0

    @property
    def num_sent_bytes(self) -> int:
        """Bytes of sound that were sent."""
        return self._sent_to

    @property
    def sent_ms(self) -> float:
        """Length of the sound that was sent, milliseconds."""
        return self._sent_ms

    @property
    def has_unsent(self) -> bool:
        """True if anything is to be sent."""
        return bool(self._unsent)

    @property
    def oldest_at_s(self) -> float | None:
        """Time at which the oldest kept record was sent; None if nothing is kept."""
        return self._sent[0].sent_at_s if self._sent else None

    def add_sound(self, data: bytes, until_ms: float) -> None:
        """Add sound.

        Args:
            data: As encoded, maybe nothing.
            until_ms: How much of the stream's sound it completes.
        """
        from_ms, self._made_ms = self._made_ms, until_ms
        for at in range(0, len(data), MAX_SOUND_BYTES):
            cut = data[at : at + MAX_SOUND_BYTES]
            piece = EncodedPiece(self.num_bytes, cut, from_ms + (until_ms - from_ms) * (at + len(cut)) / len(data))
            self.num_bytes += len(piece.data)
            self.num_unsent_bytes += len(piece.data)
            self._unsent.append(piece)

    def tell(self, message: Told) -> None:
        """Add a message at this place; it gets its number."""
        self._unsent.append(structs.replace(message, seq=self.num_messages))
        self.num_messages += 1

    def next(self, now: float) -> EncodedPiece | Told | None:
        """Return the next record, which then counts as sent; None if there is none.

        Args:
            now: Seconds on any monotonic clock.
        """
        self._trim(now)
        if not self._unsent:
            return None
        self._last_at_s = now
        record = self._unsent.popleft()
        again = self._was_sent(record)
        if again:
            self._count(again=-_size(record))
        if isinstance(record, EncodedPiece):
            self.num_unsent_bytes -= len(record.data)
            self._sent_to = max(self._sent_to, record.end)
            self._sent_ms = max(self._sent_ms, record.until_ms)
        else:
            self._next_seq = max(self._next_seq, (record.seq or 0) + 1)
        self._keep(record, now, again=again)
        self._trim(now)
        return record

    def drop_unsent(self) -> None:
        """Forget the records that were not sent."""
        self.put_back()
        self.num_bytes, self.num_messages, self._made_ms = self._sent_to, self._next_seq, self._sent_ms
        self.num_unsent_bytes = 0
        self._unsent.clear()

    def clear(self) -> None:
        """Keep nothing: no client will come back for it."""
        self.drop_unsent()
        while self._sent:
            self.forget_oldest()

    def put_back(self) -> None:
        """Keep records that were to be sent again as before: the client has left."""
        while self._unsent and self._was_sent(self._unsent[0]):
            record = self._unsent.popleft()
            self._count(again=-_size(record))
            if isinstance(record, EncodedPiece):
                self.num_unsent_bytes -= len(record.data)
            self._keep(record, self._last_at_s, again=True)

    def forget_oldest(self) -> None:
        """Forget the record that was sent first; unsent records are never forgotten."""
        record = self._sent.popleft().record
        self._count(kept=-_size(record))
        if isinstance(record, EncodedPiece):
            self._received_from = max(self._received_from, record.end)
        else:
            self._received_seq = max(self._received_seq, (record.seq or 0) + 1)

    def rewind(self, offset: int, seq: int) -> None:
        """Send again all that follows a number of bytes of sound and a number of messages.

        Raises:
            NotKept: Some of that is not kept any more, or the client has what was never sent.
        """
        if offset > self._sent_to or seq > self._next_seq:
            raise NotKept("more is said to have been received than was sent")
        if offset < self._received_from or seq < self._received_seq:
            message = f"sound is kept from byte {self._received_from} on, messages from {self._received_seq} on"
            raise NotKept(message)
        _cut([*(kept.record for kept in self._sent), *takewhile(self._was_sent, self._unsent)], offset, seq)
        self.put_back()  # only once the request is valid: the records may be on their way to the present connection
        self._take_back(_cut([kept.record for kept in self._sent], offset, seq), offset)

    def _take_back(self, cut: int, offset: int) -> None:
        """Move the sent records from ``cut`` on back to the unsent ones, of the first the part behind ``offset``."""
        again: list[EncodedPiece | Told] = []
        while len(self._sent) > cut:
            kept = self._sent.pop()
            self._count(kept=-_size(kept.record))
            if len(self._sent) == cut and isinstance(piece := kept.record, EncodedPiece) and piece.offset < offset:
                num_head = offset - piece.offset
                self._keep(replace(piece, data=piece.data[:num_head]), kept.sent_at_s)
                again.append(replace(piece, offset=offset, data=piece.data[num_head:]))
                break
            again.append(kept.record)
        self._unsent.extendleft(again)
        self._count(again=sum(map(_size, again)))
        self.num_unsent_bytes += sum(len(each.data) for each in again if isinstance(each, EncodedPiece))

    def _keep(self, record: EncodedPiece | Told, at_s: float, *, again: bool = False) -> None:
        """Keep a sent record; a piece that was cut to be sent again is joined again."""
        last = self._sent[-1] if self._sent else None
        self._count(kept=_size(record))
        if again and last and (whole := _joined(last.record, record)) is not None:
            last.record = whole
        else:
            self._sent.append(_Kept(record, at_s))

    def _was_sent(self, record: EncodedPiece | Told) -> bool:
        return _is_received(record, self._sent_to, self._next_seq)

    def _count(self, *, kept: int = 0, again: int = 0) -> None:
        self._num_kept += kept
        self._num_again += again
        self._tally.num_kept += kept
        self._tally.num_again += again

    def _trim(self, now: float) -> None:
        while self._sent and (self._num_kept > self._max_bytes or now - self._sent[0].sent_at_s > self._max_age_s):
            self.forget_oldest()


def forget_oldest(windows: Iterable[ReplayBuffer], tally: Tally, max_bytes: int) -> None:
    """Forget records of buffers, those sent first going first, until the tally is within its limit.

    Args:
        windows: Those that may be made to.
        tally: That of these windows, and of others maybe.
        max_bytes: Of what was sent before.
    """
    ages = [(at_s, index, each) for index, each in enumerate(windows) if (at_s := each.oldest_at_s) is not None]
    heapify(ages)
    while ages and tally.num_kept + tally.num_again > max_bytes:
        _, index, window = heappop(ages)
        window.forget_oldest()
        if (at_s := window.oldest_at_s) is not None:
            heappush(ages, (at_s, index, window))


def _cut(records: Sequence[EncodedPiece | Told], offset: int, seq: int) -> int:
    """Return the index of the first record that a client with this much has not received as a whole.

    Raises:
        NotKept: That is no beginning of what was sent.
    """
    cut = next((at for at, each in enumerate(records) if not _is_received(each, offset, seq)), len(records))
    if any(_is_begun(each, offset, seq) for each in records[cut + 1 :]):
        raise NotKept("so much sound and so many messages were never sent in this order")
    return cut


def _joined(before: EncodedPiece | Told, after: EncodedPiece | Told) -> EncodedPiece | None:
    """Return two pieces as one, if they are neighbours and small enough."""
    if not (isinstance(before, EncodedPiece) and isinstance(after, EncodedPiece) and before.end == after.offset):
        return None
    if len(before.data) + len(after.data) > MAX_SOUND_BYTES:
        return None
    return EncodedPiece(before.offset, before.data + after.data, after.until_ms)


def _size(record: EncodedPiece | Told) -> int:
    match record:
        case EncodedPiece(data=data):
            return len(data)
        case Timings(rows=places):
            return MESSAGE_NUM_BYTES + PLACE_NUM_BYTES * len(places)
        case Done(spoken=spoken, skipped=skipped, failed=failed):
            return MESSAGE_NUM_BYTES + PLACE_NUM_BYTES * (len(spoken) + len(skipped) + len(failed))
    return MESSAGE_NUM_BYTES


def _is_received(record: EncodedPiece | Told, offset: int, seq: int) -> bool:
    """Return whether a client with this much has received all of a record."""
    return record.end <= offset if isinstance(record, EncodedPiece) else (record.seq or 0) < seq


def _is_begun(record: EncodedPiece | Told, offset: int, seq: int) -> bool:
    """Return whether it has received a part of it."""
    return record.offset < offset if isinstance(record, EncodedPiece) else (record.seq or 0) < seq
