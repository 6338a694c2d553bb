"""Crowds of clients that vanish or stall leave nothing and hold little memory."""

from __future__ import annotations

import random
import socket
from typing import TYPE_CHECKING

import psutil
import pytest
from serving import running_server, speech_bytes

from yuliu.engines.tone import ToneEngine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

LONG = "one two three four five six seven eight nine ten. " * 100
"""A hundred seconds."""
REQUEST = speech_bytes(input=LONG)
HEAD_NUM_BYTES = REQUEST.index(b"\r\n\r\n") + 4
MOMENTS = ("before_head", "in_head", "before_body", "in_body", "at_once", "after_first_byte", "in_sound")
NUM_CLIENTS = 1_000
NUM_AT_A_TIME = 40
HELD_PER_READER_BYTES = 1_000_000


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def client_at(running: Running, moment: str) -> socket.socket:
    """Return a client at this stage."""
    raw = running.connect()
    sent = {
        "before_head": 0,
        "in_head": HEAD_NUM_BYTES // 2,
        "before_body": HEAD_NUM_BYTES,
        "in_body": (HEAD_NUM_BYTES + len(REQUEST)) // 2,
    }
    raw.sendall(REQUEST[: sent.get(moment, len(REQUEST))])
    if moment == "after_first_byte":
        assert raw.recv(1)
    elif moment == "in_sound":
        for _ in range(3):
            assert raw.recv(8_192)
    return raw


def vanish(raw: socket.socket, *, reset: bool) -> None:
    if reset:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    raw.close()


def num_left(running: Running) -> tuple[int, int, int, int]:
    """Return the numbers of streams, segments, tasks and descriptors."""
    scheduler = running.synthesizer._scheduler
    descriptors = psutil.Process().num_fds()
    return running.synthesizer.num_streams, scheduler.num_jobs, running.server.num_tasks, descriptors


def test_a_thousand_clients_that_vanish_leave_nothing(running: Running) -> None:
    """No stream, segment, task or descriptor is left, and synthesis stops."""
    assert running.speech(input="hello").status_code == 200
    before = num_left(running)
    chance = random.Random(7)
    for _ in range(NUM_CLIENTS // NUM_AT_A_TIME):
        raws = [client_at(running, chance.choice(MOMENTS)) for _ in range(NUM_AT_A_TIME)]
        chance.shuffle(raws)
        for raw in raws:
            vanish(raw, reset=chance.random() < 0.5)
        running.sockets.clear()
    running.wait_until(lambda: num_left(running) == before)
    num_steps = running.engine.num_steps
    assert running.speech(input="hello").status_code == 200
    assert running.engine.num_steps == num_steps + 1


@pytest.mark.parametrize("moment", MOMENTS[4:])
def test_a_client_that_leaves_frees_everything(running: Running, moment: str) -> None:
    """At most the current step is finished, and dropped."""
    assert running.speech(input="hello").status_code == 200
    before = num_left(running)
    running.gate.close()
    raw = running.connect()
    running.send_speech(raw, input=LONG)
    if moment != "at_once":
        running.gate.pass_one()
        assert raw.recv(1 if moment == "after_first_byte" else 65_536)
    running.wait_until(lambda: running.engine.num_steps == (2 if moment == "at_once" else 3))
    num_steps = running.engine.num_steps
    raw.close()
    running.sockets.clear()
    running.wait_until(lambda: num_left(running) == before)
    running.gate.open()
    assert running.speech(input="hello").status_code == 200
    assert running.engine.num_steps == num_steps + 1


def test_a_stalled_reader_holds_less_than_a_megabyte(running: Running) -> None:
    """All audio made for a stalled reader fits in a megabyte of floats."""
    num_readers = 8
    raws = [running.connect(receive_bytes=4_096) for _ in range(num_readers)]
    for raw in raws:
        running.send_speech(raw, input=LONG)
    made = -1
    while made != running.gate.num_frames or made < 400 * num_readers:
        made = running.gate.num_frames
        for _ in range(50):
            running.client.get("/health")
    assert 4 * ToneEngine.HOP * made <= HELD_PER_READER_BYTES * num_readers
