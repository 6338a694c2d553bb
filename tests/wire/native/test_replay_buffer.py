"""The replay buffer: a client gets the rest of a stream from any position, and nothing twice."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.wire.native.encode import MAX_SOUND_BYTES
from yuliu.wire.native.messages import SegmentBegun, Timings
from yuliu.wire.native.replay_buffer import (
    MESSAGE_NUM_BYTES,
    EncodedPiece,
    NotKept,
    ReplayBuffer,
    Tally,
    _size,
    forget_oldest,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from yuliu.wire.native.messages import Told

Made = list[bytes | None]
"""Audio, or a message."""
MADE = st.lists(st.none() | st.binary(max_size=40), max_size=30)


def filled(made: Made, *, max_bytes: int = 10**9) -> ReplayBuffer:
    window = ReplayBuffer(max_bytes, max_age_s=60)
    for each in made:
        if each is None:
            window.tell(SegmentBegun(start=0, end=1))
        else:
            window.add_sound(each, 0.0)
    return window


class Client:
    """Audio and messages that a client has received."""

    def __init__(self) -> None:
        self.sound = b""
        self.seqs: list[int] = []

    def take(self, window: ReplayBuffer, *, most: int = 10**9, cut_at: int | None = None) -> None:
        """Receive a number of records, and of the last one only a number of bytes."""
        while most and (record := window.next(0.0)) is not None:
            most -= 1
            self.add(record, None if most else cut_at)

    def add(self, record: EncodedPiece | Told, cut_at: int | None = None) -> None:
        """Receive a record, or the first bytes of it."""
        if isinstance(record, EncodedPiece):
            assert record.offset == len(self.sound)
            self.sound += record.data[:cut_at]
        else:
            assert record.seq is not None
            self.seqs.append(record.seq)


@given(MADE, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 40)), max_size=4))
def test_lost_connections_lose_and_repeat_nothing(made: Made, drops: list[tuple[int, int]]) -> None:
    """Wherever connections are cut, all audio and all messages arrive once and in order."""
    window, client = filled(made), Client()
    for most, cut_at in drops:
        client.take(window, most=most, cut_at=cut_at)
        window.rewind(len(client.sound), len(client.seqs))
    client.take(window)
    assert client.sound == b"".join(each for each in made if each)
    assert client.seqs == list(range(made.count(None)))
    assert window.num_unsent_bytes == 0


@given(MADE, st.lists(st.tuples(st.sampled_from([0, 1, 30]), st.integers(0, 12), st.integers(0, 8)), max_size=6))
def test_a_stream_resumes_from_any_position(made: Made, turns: list[tuple[int, int, int]]) -> None:
    """It may do so repeatedly, forwards and backwards, even before the last replay was complete."""
    window, whole = filled(made), Client()
    tally = window._tally
    for most, index, cut_at in turns:
        whole.take(window, most=most)
        place = Client()
        records = [*(kept.record for kept in window._sent), *again_in(window)]
        for each in records[:index]:
            place.add(each)
        if index < len(records) and isinstance(part := records[index], EncodedPiece):
            place.sound += part.data[:cut_at]
        window.rewind(len(place.sound), len(place.seqs))
        assert tally.num_kept + tally.num_again == sum(map(_size, [k.record for k in window._sent] + again_in(window)))
        whole = place
    whole.take(window)
    assert whole.sound == b"".join(each for each in made if each)
    assert whole.seqs == list(range(made.count(None)))
    assert (window.num_unsent_bytes, tally.num_again) == (0, 0)
    assert len(window._sent) <= len([each for each in made if each != b""])


def again_in(window: ReplayBuffer) -> list[EncodedPiece | Told]:
    """Return the records to be sent again."""
    return [each for each in window._unsent if window._was_sent(each)]


PARTS = st.fractions(0, 1, max_denominator=10)


@given(MADE, st.integers(0, 30), st.integers(0, 30), PARTS, PARTS)
def test_a_refused_resume_takes_nothing_from_the_current_client(
    made: Made, first: int, then: int, of_sound: Fraction, of_messages: Fraction
) -> None:
    """Another client that asks for a stream in replay is refused; the current one misses nothing."""
    window, client = filled(made), Client()
    client.take(window, most=first)
    window.rewind(0, 0)
    again = Client()
    again.take(window, most=then)
    with suppress(NotKept):
        window.rewind(int(of_sound * len(client.sound)), int(of_messages * len(client.seqs)))
        return
    again.take(window)
    assert again.sound == b"".join(each for each in made if each)
    assert again.seqs == list(range(made.count(None)))


@given(MADE, st.integers(0, 30), st.integers(0, 1_300), st.integers(0, 32))
def test_impossible_positions_are_refused(made: Made, most: int, offset: int, seq: int) -> None:
    """A position must be one that was sent; a refusal changes nothing."""
    window, client = filled(made), Client()
    client.take(window, most=most)
    try:
        window.rewind(offset, seq)
    except NotKept:
        client.take(window)
        assert client.sound == b"".join(each for each in made if each)
    else:
        again = Client()
        again.sound = client.sound[:offset]
        again.seqs = client.seqs[:seq]
        assert (len(again.sound), len(again.seqs)) == (offset, seq)
        again.take(window)
        assert again.sound == b"".join(each for each in made if each)
        assert again.seqs == list(range(made.count(None)))


@given(MADE, st.integers(0, 1_000))
def test_the_buffer_is_bounded_in_bytes(made: Made, max_bytes: int) -> None:
    """It keeps no more than its bound, and everything that it keeps can be replayed."""
    window = filled([each * 20 if each else each for each in made], max_bytes=max_bytes)
    client = Client()
    client.take(window)
    assert window._num_kept <= max_bytes
    kept = sum(len(each.record.data) if isinstance(each.record, EncodedPiece) else 512 for each in window._sent)
    assert kept == window._num_kept
    window.rewind(window._received_from, window._received_seq)
    again = Client()
    again.sound, again.seqs = client.sound[: window._received_from], client.seqs[: window._received_seq]
    again.take(window)
    assert again.sound == client.sound
    assert again.seqs == client.seqs


def test_the_buffer_is_bounded_in_time() -> None:
    """Records sent too long ago are dropped; unsent ones are kept."""
    window = ReplayBuffer(1_000, max_age_s=5)
    window.add_sound(b"ab", 1)
    window.add_sound(b"cd", 2)
    assert window.next(0.0)
    assert window.next(4.0)
    window.add_sound(b"ef", 3)
    assert window.next(6.0)
    with pytest.raises(NotKept, match="from byte 2 on"):
        window.rewind(0, 0)
    window.rewind(2, 0)
    assert window.next(6.0) == EncodedPiece(2, b"cd", 2)


def test_audio_is_cut_into_frames() -> None:
    """No frame exceeds the maximum size."""
    window = ReplayBuffer(10, 10)
    window.add_sound(b"x" * (2 * MAX_SOUND_BYTES + 1), 7)
    assert window.num_unsent_bytes == 2 * MAX_SOUND_BYTES + 1
    sizes = []
    while isinstance(piece := window.next(0.0), EncodedPiece):
        sizes.append(len(piece.data))
    assert sizes == [MAX_SOUND_BYTES, MAX_SOUND_BYTES, 1]
    assert window.sent_ms == 7


def test_unsent_records_can_be_dropped() -> None:
    """Numbers continue from the last record that was sent."""
    window = filled([b"ab", None, b"cd", None])
    assert window.next(0.0)
    window.drop_unsent()
    assert (window.num_bytes, window.num_messages, window.has_unsent) == (2, 0, False)
    window.tell(SegmentBegun(start=0, end=1))
    told = window.next(0.0)
    assert isinstance(told, SegmentBegun)
    assert told.seq == 0


def test_messages_with_many_spans_count_as_larger() -> None:
    """A message of a long segment takes more memory."""
    window = ReplayBuffer(10**6, 60)
    window.tell(Timings(rows=(("x", 0.0, 100.0, 0, 1),) * 100))
    assert window.next(0.0)
    assert window._num_kept > 100 * 200 + MESSAGE_NUM_BYTES


KEPT = st.lists(st.lists(st.tuples(st.integers(0, 50), st.binary(min_size=1, max_size=20)), max_size=8), max_size=6)


@given(KEPT, st.integers(0, 300))
def test_several_buffers_share_a_bound(sent: list[list[tuple[int, bytes]]], max_bytes: int) -> None:
    """The record sent first is dropped first, in any of the buffers; unsent ones stay."""
    tally = Tally()
    windows = [ReplayBuffer(10**6, 10**6, tally) for _ in sent]
    for window, records in zip(windows, sent, strict=True):
        for at_s, data in sorted(records):
            window.add_sound(data, 0.0)
            assert window.next(at_s)
        window.add_sound(b"to be sent", 0.0)
    ages = sorted(at_s for records in sent for at_s, _ in records)
    forget_oldest(windows, tally, max_bytes)
    assert tally.num_kept == sum(window._num_kept for window in windows) <= max_bytes
    kept = sorted(each.sent_at_s for window in windows for each in window._sent)
    assert kept == ages[len(ages) - len(kept) :]
    for window in windows:
        rest = window.next(60.0)
        assert isinstance(rest, EncodedPiece)
        assert rest.data == b"to be sent"
        window.clear()
    assert (tally.num_kept, tally.num_again) == (0, 0)


def test_sent_bytes_are_counted() -> None:
    """Only audio counts, and only once it is sent."""
    window = filled([b"abcd", None, b"ef"])
    assert window.num_sent_bytes == 0
    Client().take(window)
    assert window.num_sent_bytes == 6


def test_pieces_are_not_joined_beyond_the_size_of_a_frame() -> None:
    """Two pieces that fill a frame stay separate if they are offered again."""
    window = filled([b"x" * (MAX_SOUND_BYTES - 1), b"yy"])
    first, second = window.next(0.0), window.next(0.0)
    assert isinstance(first, EncodedPiece)
    assert isinstance(second, EncodedPiece)
    assert (len(first.data), len(second.data)) == (MAX_SOUND_BYTES - 1, 2)
