"""Clients that leave, stall, or send no complete request."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import pytest
from serving import read_answer, receive_all, running_server, speech_bytes, unchunked

from yuliu.server.limits import Limits
from yuliu.server.transport.http import MAX_TURNED_AWAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

LONG = "one two three four five six seven eight nine ten. " * 100
"""A hundred seconds."""


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def assert_no_more_steps(running: Running, before: int, *, at_most: int = 1) -> None:
    """Check that nothing but another request is synthesised from now on."""
    running.gate.open()
    assert running.speech(input="hello").status_code == 200
    assert running.engine.num_steps - before - 1 <= at_most


def wait_until_stalled(running: Running) -> None:
    """Wait until synthesis has paused."""
    made = -1
    while made != running.gate.num_frames:
        made = running.gate.num_frames
        for _ in range(50):
            running.client.get("/health")


def test_a_client_gone_before_the_first_sound_stops_the_work(running: Running) -> None:
    """A client that hangs up before any audio costs at most the current step."""
    running.gate.close()
    raw = running.connect()
    running.send_speech(raw, input=LONG)
    running.wait_until(lambda: running.engine.num_steps == 1)
    raw.close()
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert_no_more_steps(running, 1)


@pytest.mark.parametrize("reset", [True, False])
def test_a_client_gone_amid_the_sound_stops_the_work(running: Running, reset: bool) -> None:
    """A client that hangs up amid the audio costs at most the current step."""
    running.gate.close()
    raw = running.connect()
    running.send_speech(raw, input=LONG)
    running.gate.pass_one()
    assert raw.recv(1_000)
    running.wait_until(lambda: running.engine.num_steps == 2)
    if reset:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    raw.close()
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert_no_more_steps(running, 2)


def test_a_client_gone_amid_its_request_is_forgotten(running: Running) -> None:
    """Half a request opens no stream."""
    raw = running.connect()
    raw.sendall(speech_bytes(input="hello")[:-3])
    running.wait_until(lambda: True)
    raw.close()
    assert running.speech(input="hello").status_code == 200
    assert running.engine.num_plans == 1


def test_a_client_gone_after_the_end_is_no_matter(running: Running) -> None:
    """A disconnect after the last chunk is normal."""
    raw = running.connect()
    running.send_speech(raw, input="hello")
    read_answer(raw)
    raw.close()
    assert running.speech(input="hello").status_code == 200


def test_a_reader_that_does_not_read_stops_its_own_stream_only(running: Running) -> None:
    """A stream whose client does not read pauses, and others are served."""
    raw = running.connect(receive_bytes=4_096)
    running.send_speech(raw, input=LONG)
    running.wait_until(lambda: running.gate.num_frames > 400)
    wait_until_stalled(running)
    for _ in range(5):
        assert running.speech(input="hello").status_code == 200
    assert running.synthesizer.num_streams == 1
    assert running.gate.num_frames < 1_500  # of 10,000: 15 s are unread, in the loop, in the kernel, and others'


def test_clients_gone_while_they_stall_cost_nothing_more(running: Running) -> None:
    """Unread audio of clients that leave is dropped, and does not resume synthesis."""
    raws = [running.connect(receive_bytes=4_096) for _ in range(16)]
    for raw in raws:
        running.send_speech(raw, input=LONG)
    running.wait_until(lambda: running.gate.num_frames > 400 * len(raws))
    wait_until_stalled(running)
    before = running.engine.num_steps
    for raw in raws:
        raw.close()
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert_no_more_steps(running, before, at_most=0)


def test_a_slow_reader_gets_everything_in_the_end(running: Running) -> None:
    """A stream that was paused for its reader goes on when it reads, to the last sample."""
    text = LONG[: len(LONG) // 4]
    raw = running.connect(receive_bytes=4_096)
    running.send_speech(raw, input=text, response_format="pcm")
    running.wait_until(lambda: running.gate.num_frames > 400)
    received = bytearray()
    while not received.endswith(b"\r\n0\r\n\r\n"):
        received += raw.recv(3_000)
    assert unchunked(bytes(received)) == running.speech(input=text, response_format="pcm").content


@pytest.mark.parametrize(
    ("stall_s", "socket_stall_s"),
    [
        (0.3, 60.0),
        pytest.param(60.0, 0.3, marks=pytest.mark.skipif(sys.platform != "linux", reason="done by Linux")),
    ],
)
def test_a_reader_that_stalls_too_long_is_cut(stall_s: float, socket_stall_s: float) -> None:
    """A client that reads nothing for the stall time loses connection and stream."""
    with running_server(Limits(stall_s=stall_s), socket_stall_s=socket_stall_s) as running:
        raw = running.connect(receive_bytes=4_096)
        running.send_speech(raw, input=LONG)
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        assert running.gate.num_frames < 1_500
        assert not receive_all(raw).endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("begun", [b"", b"\r\n", b"POST /v1/audio/speech HT", speech_bytes(input="hello")[:-3]])
def test_a_request_that_does_not_come_is_refused(begun: bytes) -> None:
    """A connection that sends nothing, or half a request, is answered 408 and closed."""
    with running_server(Limits(request_s=0.2)) as running:
        raw = running.connect()
        raw.sendall(begun)
        received = receive_all(raw)
        assert received.startswith(b"HTTP/1.1 408")
        assert b'"code": "request_timeout"' in received
        assert running.engine.num_plans == 0


def test_blank_lines_do_not_keep_a_connection() -> None:
    """Blank lines do not extend the time for the next request."""
    with running_server(Limits(request_s=0.2)) as running:
        raw = running.connect()
        running.send_speech(raw, input="hello")
        read_answer(raw)
        raw.sendall(b"\r\n")
        assert receive_all(raw).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("part", [b"X-Long: " + b"x" * 5_000, b"X-Short: x\r\n" * 500])
def test_a_head_too_large_is_refused(part: bytes) -> None:
    """Headers are refused as soon as they exceed the limit."""
    with running_server(Limits(max_head_bytes=1_000)) as running:
        raw = running.connect()
        raw.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + part)
        assert receive_all(raw).startswith(b"HTTP/1.1 431")


def test_too_many_connections_are_refused() -> None:
    """A connection above the limit gets 503; a closed one frees its place."""
    with running_server(Limits(max_connections=2)) as running:
        held = running.connect()
        held.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert held.recv(65_536).startswith(b"HTTP/1.1 200")
        refused = receive_all(running.connect())
        assert refused.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 1" in refused
        held.close()
        running.wait_until(lambda: True)
        again = running.connect()
        again.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert again.recv(65_536).startswith(b"HTTP/1.1 200")


def test_connections_far_above_the_limit_are_refused_at_once() -> None:
    """Some refused connections get time to send their request; further ones are refused at once."""
    with running_server(Limits(max_connections=1)) as running:
        assert running.client.get("/health").status_code == 200  # on the one connection that there is room for
        waited_for = [running.connect() for _ in range(MAX_TURNED_AWAY)]
        told_at_once = [running.connect() for _ in range(8)]
        for raw in told_at_once:
            assert receive_all(raw).startswith(b"HTTP/1.1 503")
        for raw in waited_for:
            raw.setblocking(False)
            with pytest.raises(BlockingIOError):
                raw.recv(1)
            raw.setblocking(True)
        for raw in waited_for[::2]:
            raw.sendall(speech_bytes(input=LONG))
        for raw in waited_for:  # every other one says nothing
            assert receive_all(raw).startswith(b"HTTP/1.1 503")
        assert running.engine.num_plans == 0
