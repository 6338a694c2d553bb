"""What is kept of a stream: whatever a client had received, it gets the rest, nothing twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.types import Span
from yuliu.wire.native.messages import SegmentBegun
from yuliu.wire.native.window import NotKept, Piece, Window
from yuliu.wire.native.writing import MAX_SOUND_BYTES

Made = list[bytes | None]
"""Sound, or a message."""
MADE = st.lists(st.none() | st.binary(max_size=40), max_size=30)


def filled(made: Made, *, max_bytes: int = 10**9) -> Window:
    window = Window(max_bytes, max_age_s=60)
    for each in made:
        if each is None:
            window.tell(SegmentBegun(source=Span(0, 1)))
        else:
            window.add_sound(each, 0.0)
    return window


class Client:
    """What one has received."""

    def __init__(self) -> None:
        self.sound = b""
        self.seqs: list[int] = []

    def take(self, window: Window, *, most: int = 10**9, cut_at: int | None = None) -> None:
        """Receive so many records; of the last one only so many bytes."""
        while most and (record := window.next(0.0)) is not None:
            most -= 1
            if isinstance(record, Piece):
                data = record.data if cut_at is None or most else record.data[:cut_at]
                assert record.offset == len(self.sound)
                self.sound += data
            else:
                assert record.seq is not None
                self.seqs.append(record.seq)


@given(MADE, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 40)), max_size=4))
def test_any_drops_lose_and_repeat_nothing(made: Made, drops: list[tuple[int, int]]) -> None:
    """However often the connection is lost, wherever in a frame: all sound once, all messages once, in order."""
    window, client = filled(made), Client()
    for most, cut_at in drops:
        client.take(window, most=most, cut_at=cut_at)
        window.rewind(len(client.sound), len(client.seqs))
    client.take(window)
    assert client.sound == b"".join(each for each in made if each)
    assert client.seqs == list(range(made.count(None)))
    assert window.num_unsent_bytes == 0


@given(MADE, st.integers(0, 30), st.integers(0, 1_300), st.integers(0, 32))
def test_what_no_client_can_have_received_is_refused(made: Made, most: int, offset: int, seq: int) -> None:
    """Only what is a beginning of what was sent is taken; a refusal changes nothing."""
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
def test_is_bounded_in_bytes(made: Made, max_bytes: int) -> None:
    """No more is kept than may be, and what is kept can be had."""
    window = filled([each * 20 if each else each for each in made], max_bytes=max_bytes)
    client = Client()
    client.take(window)
    assert window._num_kept <= max_bytes
    kept = sum(len(each.record.data) if isinstance(each.record, Piece) else 512 for each in window._sent)
    assert kept == window._num_kept
    window.rewind(window._received_from, window._received_seq)
    again = Client()
    again.sound, again.seqs = client.sound[: window._received_from], client.seqs[: window._received_seq]
    again.take(window)
    assert again.sound == client.sound
    assert again.seqs == client.seqs


def test_is_bounded_in_time() -> None:
    """What was sent too long ago is not kept; what was not sent is."""
    window = Window(1_000, max_age_s=5)
    window.add_sound(b"ab", 1)
    window.add_sound(b"cd", 2)
    assert window.next(0.0)
    assert window.next(4.0)
    window.add_sound(b"ef", 3)
    assert window.next(6.0)
    with pytest.raises(NotKept, match="from byte 2 on"):
        window.rewind(0, 0)
    window.rewind(2, 0)
    assert window.next(6.0) == Piece(2, b"cd", 2)


def test_cuts_sound_into_frames() -> None:
    """A frame is never too large."""
    window = Window(10, 10)
    window.add_sound(b"x" * (2 * MAX_SOUND_BYTES + 1), 7)
    assert window.num_unsent_bytes == 2 * MAX_SOUND_BYTES + 1
    sizes = []
    while isinstance(piece := window.next(0.0), Piece):
        sizes.append(len(piece.data))
    assert sizes == [MAX_SOUND_BYTES, MAX_SOUND_BYTES, 1]
    assert window.sent_ms == 7


def test_what_is_not_sent_can_be_dropped() -> None:
    """Then it never was: numbers go on from what was sent."""
    window = filled([b"ab", None, b"cd", None])
    assert window.next(0.0)
    window.drop_unsent()
    assert (window.num_bytes, window.num_messages, window.has_unsent) == (2, 0, False)
    window.tell(SegmentBegun(source=Span(0, 1)))
    told = window.next(0.0)
    assert isinstance(told, SegmentBegun)
    assert told.seq == 0
