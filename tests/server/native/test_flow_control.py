"""Bytes in flight never exceed what is kept for resuming, whatever the network buffers."""

from __future__ import annotations

import contextlib
import json
import struct
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native import LONG, pcm_of, talking
from raw_websocket import BINARY, CLOSE, PING, PONG, TEXT, RawWebSocket, frame, message
from serving import running_server

from yuliu.server.limits import Limits, NativeLimits
from yuliu.server.transport.flow_control import MARK_BYTES, MAX_UNANSWERED_BYTES, FlowControl
from yuliu.wire.native.encode import MAX_SOUND_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

SPOKEN = LONG[:1_500]
"""30 seconds, 1.4 MB."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server() as server:
        yield server


@given(st.data())
def test_bytes_in_flight_are_limited(data: st.DataObject) -> None:
    """The maximum holds for any pattern of frames and pongs; the last pong frees the window."""
    receipts, sent, received = FlowControl(), 0, 0
    marks: list[tuple[bytes, int]] = []
    for num_bytes in data.draw(st.lists(st.integers(0, 20_000), max_size=60)):
        while receipts.is_full:
            at = data.draw(st.integers(0, len(marks) - 1))
            payload, received = marks[at]
            assert receipts.answered(payload) == tuple(each for each, _ in marks[: at + 1])
            assert receipts.answered(payload) == ()
            del marks[: at + 1]
        if data.draw(st.integers(0, 9)) == 0:  # the connection pings as well
            receipts.mark(b"keep")
            marks = [(each, n) for each, n in marks if each != b"keep"] + [(b"keep", sent)]
            receipts.answered(b"keep")
            received, marks = sent, []
        sent += num_bytes
        if (asked := receipts.sent(num_bytes)) is not None:
            marks.append((asked, sent))
        assert sent - received < MAX_UNANSWERED_BYTES + 20_000
        assert receipts.is_full == (sent - received >= MAX_UNANSWERED_BYTES)
    assert receipts.answered(b"unknown") == ()


def pump(bare: RawWebSocket, *, until: str, answer: bool = True) -> tuple[bytes, list[dict[str, Any]]]:
    """Receive up to a message of a type; answer pings if asked to."""
    sound, told = b"", []
    while True:
        opcode, data = bare.next()
        assert opcode != CLOSE, data
        if opcode == PING and answer:
            bare.send(frame(PONG, data))
        elif opcode == BINARY:
            sound += data[16:]
        elif opcode == TEXT:
            told.append(json.loads(data))
            if told[-1]["type"] == until:
                return sound, told


def quiet(bare: RawWebSocket) -> bytes:
    """Receive all audio until a ``ping`` is answered without more of it."""
    found, num_rounds = b"", 0
    while num_rounds < 50:
        bare.send(message("ping", None, id=1))
        sound, _ = pump(bare, until="pong", answer=False)
        found, num_rounds = found + sound, 0 if sound else num_rounds + 1
    return found


def test_audio_waits_for_pongs(running: Running) -> None:
    """Other answers still come; the pong to the last ping lets the stream go on."""
    bare = RawWebSocket(running)
    bare.send(message("start"), message("text", text=SPOKEN), message("end"))
    sound = quiet(bare)
    assert MAX_UNANSWERED_BYTES - MARK_BYTES < len(sound) < MAX_UNANSWERED_BYTES + MAX_SOUND_BYTES
    bare.send(frame(PONG, struct.pack("!Q", len(sound) // (2 * MARK_BYTES))))
    more = quiet(bare)
    assert len(more) > MARK_BYTES
    bare.send(frame(PONG, struct.pack("!Q", len(sound + more) // (2 * MARK_BYTES))))
    rest, told = pump(bare, until="done")
    assert sound + more + rest == pcm_of(running, SPOKEN)
    assert told[-1]["num_bytes"] == len(sound + more + rest)


def test_a_cancel_is_answered_while_nothing_more_is_sent(running: Running) -> None:
    bare = RawWebSocket(running)
    bare.send(message("start"), message("text", text=SPOKEN))
    sound = quiet(bare)
    bare.send(message("cancel"))
    last, told = pump(bare, until="cancelled", answer=False)
    assert last == b""
    assert told[-1]["num_bytes"] == len(sound)


@pytest.mark.parametrize("num_read", [1, 40_001, 131_072])
def test_audio_in_flight_at_a_drop_is_sent_again(running: Running, num_read: int) -> None:
    """Audio that the network buffered is sent again after a drop."""
    bare = RawWebSocket(running)
    bare.send(message("start"), message("text", text=SPOKEN), message("end"))
    stream = bare.told("started")["stream"]
    sound, num_told = b"", 1
    while len(sound) < num_read:
        opcode, data = bare.next()
        sound += data[16:] if opcode == BINARY else b""
        num_told += opcode == TEXT and b'"seq"' in data
    sound = sound[:num_read]
    quiet(bare)
    bare.raw.close()
    with talking(running.port) as again:
        again.say("resume", stream=stream, offset=num_read, seq=num_told)
        again.until("done")
        assert sound + again.sound(1) == pcm_of(running, SPOKEN)


def test_a_client_that_stops_answering_is_cut_after_the_stall_time() -> None:
    """The connection is cut after the stall time, not before; its stream can be resumed."""
    with running_server(Limits(stall_s=0.6, native=NativeLimits(ping_s=0.1))) as running:
        bare = RawWebSocket(running)
        opcode, data = bare.next()
        assert opcode == PING
        bare.send(frame(PONG, data), message("start"), message("text", text=SPOKEN), message("end"))
        stream, received = "", b""
        with contextlib.suppress(EOFError, ConnectionResetError):
            while True:
                opcode, data = bare.next()
                assert opcode != CLOSE, data
                received += data[16:] if opcode == BINARY else b""
                if opcode == TEXT and "stream" in (found := json.loads(data)):
                    stream = found["stream"]
        with talking(running.port) as talk:
            talk.say("resume", stream=stream, offset=0, seq=1)
            talk.until("done")
            assert talk.sound(1) == pcm_of(running, SPOKEN)
