"""``POST /v1/stream`` with clients that are slow, leave, or declare wrong lengths."""

from __future__ import annotations

import contextlib
import random
import socket
from typing import TYPE_CHECKING

import psutil
import pytest
from native import LONG, TEXT, pcm_of
from serving import receive_all, running_server, unchunked

from yuliu.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

HEAD = b"POST /v1/stream?format=pcm HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nConnection: close\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
NUM_CLIENTS, NUM_AT_A_TIME = 300, 30


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def test_a_slow_writer_gets_all_audio(running: Running) -> None:
    """With one byte per chunk and one chunk per packet the audio is that of the whole text."""
    with running.connect() as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.sendall(CHUNKED)
        for byte in TEXT.encode():
            raw.sendall(chunk(bytes([byte])))
        raw.sendall(b"0\r\n\r\n")
        assert unchunked(receive_all(raw)) == pcm_of(running, TEXT)


def test_a_slow_reader_stops_its_own_stream_only(running: Running) -> None:
    """Its stream pauses, others are served, and it gets all audio in the end."""
    text = LONG[:1_500]
    with running.connect(receive_bytes=4_096) as raw:
        raw.sendall(CHUNKED + chunk(text.encode()) + b"0\r\n\r\n")
        running.wait_until(lambda: running.gate.num_frames > 400)
        for _ in range(5):
            assert running.speech(input="hello").status_code == 200
        assert running.gate.num_frames < 1_500  # of 3,000
        assert unchunked(receive_all(raw)) == pcm_of(running, text)


def test_a_reader_that_never_reads_is_cut_off() -> None:
    """The connection is cut after the stall time."""
    with running_server(Limits(stall_s=0.2)) as running:
        raw = running.connect(receive_bytes=4_096)
        raw.sendall(CHUNKED + chunk(LONG.encode()))
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        assert not receive_all(raw).endswith(b"0\r\n\r\n")


@pytest.mark.parametrize(
    "lie",
    [
        b"Content-Length: 5\r\n\r\nhello, and more than was said\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello, and more\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nfive\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nnonsense",
    ],
)
def test_a_wrong_length_ends_visibly(running: Running, lie: bytes) -> None:
    """The text is spoken, or the answer is an error, or it visibly lacks its end."""
    with running.connect() as raw:
        raw.sendall(HEAD + lie)
        answer = receive_all(raw)
    if answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n0\r\n\r\n"):
        assert unchunked(answer) == pcm_of(running, "hello")
    else:
        assert answer[:13] in {b"", b"HTTP/1.1 400 ", b"HTTP/1.1 200 "}
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert running.speech(input="hello").status_code == 200


def test_a_body_that_ends_too_early_is_not_spoken_as_whole(running: Running) -> None:
    """A connection that is lost amid the body ends its stream."""
    for lie in (b"Content-Length: 500\r\n\r\nhello there. ", b"Transfer-Encoding: chunked\r\n\r\nff\r\nhello there. "):
        with running.connect() as raw:
            raw.sendall(HEAD + lie)
            assert raw.recv(13) == b"HTTP/1.1 200 "
            raw.shutdown(socket.SHUT_WR)
            assert not receive_all(raw).endswith(b"\r\n0\r\n\r\n")
        running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_clients_that_vanish_at_any_moment_leave_nothing(running: Running) -> None:
    """Wherever clients vanish, no stream, no task and no descriptor is left."""
    whole = CHUNKED + chunk(LONG.encode()[:1_000]) + chunk(LONG.encode()[:1_000]) + b"0\r\n\r\n"
    assert running.speech(input="hello").status_code == 200
    before = num_left(running)
    chance = random.Random(11)
    for _ in range(NUM_CLIENTS // NUM_AT_A_TIME):
        raws = [running.connect() for _ in range(NUM_AT_A_TIME)]
        for raw in raws:
            raw.sendall(whole[: chance.choice([0, 40, len(CHUNKED), len(CHUNKED) + 100, 1_300, len(whole)])])
            if chance.random() < 0.3:
                raw.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    raw.recv(5_000)
        chance.shuffle(raws)
        for raw in raws:
            if chance.random() < 0.5:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            raw.close()
        running.sockets.clear()
    running.wait_until(lambda: num_left(running) == before)
    assert running.speech(input="hello").status_code == 200


def num_left(running: Running) -> tuple[int, int, int, int]:
    """Return the numbers of streams, segments, tasks and descriptors."""
    jobs = running.synthesizer._scheduler.num_jobs
    return running.synthesizer.num_streams, jobs, running.server.num_tasks, psutil.Process().num_fds()
