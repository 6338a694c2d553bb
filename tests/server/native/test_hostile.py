"""Hostile clients cost a bounded amount, are answered or closed, and do not affect others."""

from __future__ import annotations

import gc
import json
from contextlib import ExitStack
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from native import TEXT as WORDS
from native import SoundFrame, pcm_of, talking
from raw_websocket import CONT, PING, TEXT, RawWebSocket, frame, message
from serving import running_server

from yuliu.server.limits import Limits, NativeLimits
from yuliu.server.transport.websocket import MAX_FRAGMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

MANY = 100_000


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def others_are_served(running: Running) -> None:
    with talking(running.port) as talk:
        talk.speak(WORDS)
        talk.until("done")
        assert talk.sound(1) == pcm_of(running, WORDS)


def test_many_tiny_messages(running: Running) -> None:
    """A hundred thousand one-character messages are all spoken, and others are served meanwhile."""
    bare = RawWebSocket(running)
    letter, space = (message("text", text=text) for text in ("x", " "))
    word = letter * 9 + space
    bare.send(message("start", speed=4))
    sending = Thread(target=bare.send, args=(word * (MANY // 10), message("cancel")))
    sending.start()
    others_are_served(running)
    cancelled = bare.told("cancelled")
    sending.join()
    assert [end for _, end, *_ in sorted(cancelled["spoken"] + cancelled["skipped"] + cancelled["failed"])][-1] <= MANY
    bare.send(message("ping", None, id=7))
    assert bare.told("pong")["id"] == 7
    running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_more_messages_than_a_context_takes_characters() -> None:
    """Messages without text count towards the limit as well."""
    with running_server(Limits(native=NativeLimits(max_characters=1_000))) as running, talking(running.port) as talk:
        talk.say("start")
        for _ in range(1_001):
            talk.say("flush")
        while not (errors := talk.told("error")):
            talk.next()
        assert (errors[0]["code"], errors[0]["ends"]) == ("invalid_request", "context")


def test_a_flood_of_starts(running: Running) -> None:
    """Eight are accepted, the others refused, then the connection is closed and nothing is left."""
    bare = RawWebSocket(running)
    bare.send(*(message("start", f"c{number}", resume_s=0) for number in range(5_000)))
    assert bare.closed() == (1008, "too many wrong messages")
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    others_are_served(running)


def test_a_flood_of_starts_and_cancels(running: Running) -> None:
    """All are valid: each is answered and leaves nothing."""
    before = running.server.num_tasks
    bare = RawWebSocket(running)
    rounds = [message(kind, "a") for _ in range(1_000) for kind in ("start", "cancel")]
    sending = Thread(target=bare.send, args=rounds)
    sending.start()
    for _ in range(1_000):
        bare.told("cancelled")
    sending.join()
    bare.raw.close()
    running.wait_until(lambda: (running.synthesizer.num_streams, running.server.num_tasks) == (0, before))


@pytest.mark.parametrize(
    "nested", ["[" * 131_000, '{"a":' * 26_000, '{"type":"start","context":"a","x":' + "[" * 130_000]
)
def test_deep_nesting(running: Running, nested: str) -> None:
    """Deep nesting is an ordinary error."""
    bare = RawWebSocket(running)
    bare.send(frame(TEXT, nested.encode()), message("ping", None, id=1))
    assert bare.told("error")["code"] == "invalid_request"
    assert bare.told("pong")["id"] == 1


@pytest.mark.parametrize("number", ["1" * 5_000, "1e999", "-1e999", "0." + "1" * 100_000])
def test_giant_numbers(running: Running, number: str) -> None:
    """Giant numbers are ordinary errors."""
    bare = RawWebSocket(running)
    bare.send(frame(TEXT, f'{{"type":"start","context":"a","speed":{number}}}'.encode()), message("ping", None, id=1))
    assert bare.told("error")["code"] == "invalid_request"
    assert bare.told("pong")["id"] == 1


def test_messages_in_fragments(running: Running) -> None:
    """Fragments with pings between them make the same message; endless empty ones are refused."""
    bare = RawWebSocket(running)
    data = json.dumps({"type": "ping", "id": "你好"}).encode()
    bare.send(frame(TEXT, data[:1], fin=False))
    for at in range(1, len(data)):
        bare.send(frame(CONT, data[at : at + 1], fin=at == len(data) - 1), frame(PING))
    assert bare.told("pong")["id"] == "你好"
    bare.send(frame(TEXT, b"", fin=False), *[frame(CONT, b"", fin=False)] * MAX_FRAGMENTS)
    assert bare.closed() == (1009, "too many fragments")


def test_bombs_are_not_unpacked(running: Running) -> None:
    """Compression is never negotiated."""
    bare = RawWebSocket(running, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n")
    assert bare.head.startswith(b"HTTP/1.1 101")
    assert b"extensions" not in bare.head.lower()
    bare.send(frame(TEXT, b"\x00" * 1_000, compressed=True))
    assert bare.closed()[0] == 1002


def test_pings_whose_answers_are_not_read(running: Running) -> None:
    """Unread pongs are bounded; then the connection is cut."""
    bare = RawWebSocket(running, receive_bytes=4_096)
    with pytest.raises((ConnectionError, TimeoutError)):  # reset, or a broken pipe
        for _ in range(10_000):
            bare.send(frame(PING, b"x" * 125) * 100)
    others_are_served(running)


def test_answers_that_are_not_read(running: Running) -> None:
    """Reading stops while answers wait, so that memory is bounded, and nothing is left."""
    before = running.server.num_tasks
    bare = RawWebSocket(running, receive_bytes=4_096)
    bare.raw.settimeout(2)
    with pytest.raises((ConnectionError, TimeoutError)):  # the kernel takes 4 MB of it, nobody 37 MB
        for _ in range(300):
            bare.send(message("ping", None, id="x" * 64) * 1_000)
    others_are_served(running)
    bare.raw.close()
    running.wait_until(lambda: running.server.num_tasks == before)


def test_text_after_the_end_is_refused(running: Running) -> None:
    """Text after the end is refused and changes nothing."""
    with talking(running.port) as talk:
        running.gate.close()
        talk.speak(WORDS)
        talk.say("text", text="more")
        talk.say("end")
        while len(talk.told("error")) < 2:
            talk.next()
        assert {(each["code"], each["ends"]) for each in talk.told("error")} == {("text_ended", "nothing")}
        running.gate.open()
        while not talk.told("done"):
            talk.next()
        assert talk.sound(1) == pcm_of(running, WORDS)


def test_a_loop_of_resumes(running: Running) -> None:
    """Two connections resume a stream in turn; in the end one has all of it."""
    with talking(running.port) as first, talking(running.port) as second:
        first.speak(WORDS * 3)
        stream = first.until("started")["stream"]
        for number in range(20):
            talk = (second, first)[number % 2]
            talk.say("resume", f"c{number}", stream=stream, offset=0, seq=0)
            found = talk.next()
            while not (isinstance(found, dict) and found["type"] == "continued" and found["context"] == f"c{number}"):
                found = talk.next()
        first.until("done", "c19")
        assert first.sound(first.told("continued", "c19")[0]["tag"]) == pcm_of(running, WORDS * 3)
        second.vanish()  # or it would wait for its unread sound


def test_idle_connections_leave_nothing(running: Running) -> None:
    """Two hundred connections, some with a context, leave no tasks and objects."""

    def visit() -> None:
        with ExitStack() as stack:
            bares = [RawWebSocket(running) for _ in range(200)]
            for bare in bares:
                stack.callback(bare.raw.close)
            for bare in bares[:15]:
                bare.send(message("start", resume_s=0))
                bare.told("started")
        running.sockets.clear()
        running.wait_until(lambda: (running.synthesizer.num_streams, running.server.num_tasks) == (0, before))

    before = running.server.num_tasks
    for _ in range(3):  # until all that is made once is made
        visit()
    gc.collect()
    num_objects = len(gc.get_objects())
    for _ in range(4):  # connections whose tasks have ended may be about to be forgotten, and so may earlier servers
        visit()
        gc.collect()
        if len(gc.get_objects()) - num_objects < 200:  # one for each connection
            return
        num_objects = len(gc.get_objects())
    pytest.fail("each visit leaves something")


def test_frames_of_clients_are_never_sound(running: Running) -> None:
    """A binary frame of a client is refused and never forwarded."""
    with talking(running.port) as liar, talking(running.port) as talk:
        liar.ws.send(b"\1\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0" + b"noise" * 100)
        told = liar.next()
        assert isinstance(told, dict)
        assert told["code"] == "invalid_message"
        talk.speak(WORDS)
        talk.until("done")
        assert b"noise" not in b"".join(each.data for each in talk.received if isinstance(each, SoundFrame))
