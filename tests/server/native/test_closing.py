"""Every code with which a connection ends, and what a handshake is told that does not become one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from native import LONG, pcm_of, talking
from raw_websocket import BINARY, CLOSE, CONT, PING, PONG, TEXT, RawWebSocket, frame, message
from serving import running_server
from websockets.exceptions import InvalidStatus

from yuliu.server.limits import Limits, NativeLimits
from yuliu.wire.native.decode import MAX_MESSAGE_BYTES
from yuliu.wire.native.messages import Close
from yuliu.wire.native.protocol import ServerProtocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

PAGE = Path(__file__).parents[3] / "docs" / "en" / "reference" / "native-stream.md"
TESTED = {1000, 1001, 1002, 1007, 1008, 1009, 1011, 4000}
"""1001 and 1008 where servers stop, and where clients talk nonsense."""


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with nothing out of the ordinary."""
    with running_server() as server:
        yield server


def test_the_page_names_all_codes_and_no_other() -> None:
    """Those of ours and those of the WebSocket library, each of which is tried."""
    section = PAGE.read_text(encoding="utf-8").partition("## Closing")[2].partition("\n## ")[0]
    named = {int(code) for code in re.findall(r"^\| (\d{4}) \|", section, re.MULTILINE)}
    assert named == TESTED >= set(Close)


def test_the_clients_wish_is_answered_with_its_code(running: Running) -> None:
    """1000; its streams are ended."""
    bare = RawWebSocket(running)
    bare.send(message("start"), message("text", text=LONG))
    while bare.next()[0] != BINARY:
        pass
    bare.send(frame(CLOSE, b"\x03\xe8"))
    assert bare.closed() == (Close.NORMAL, "")
    running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_what_is_no_frame_ends_the_connection(running: Running) -> None:
    """1002: an opcode that nobody has, a frame that says it is compressed."""
    for wrong in (frame(3), frame(TEXT, b"\x00", compressed=True)):
        bare = RawWebSocket(running)
        bare.send(wrong)
        assert bare.closed()[0] == 1002


def test_what_is_no_text_ends_the_connection(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """1007, at once or in parts; it is no fault of ours, and the log tells of none."""
    for wrong in ([frame(TEXT, b'{"id": "\xff"}')], [frame(TEXT, b"\xe4", fin=False), frame(CONT, b"\xbd")]):
        bare = RawWebSocket(running)
        bare.send(*wrong)
        assert bare.closed()[0] == 1007
    running.client.get("/health")
    assert [each for each in caplog.records if each.levelname in ("WARNING", "ERROR")] == []


def test_too_long_a_message_ends_the_connection(running: Running) -> None:
    """1009, at once or in parts; one of just that length does not."""
    bare = RawWebSocket(running)
    bare.send(frame(TEXT, b" " * MAX_MESSAGE_BYTES))
    assert bare.told("error")["code"] == "invalid_request"
    bare.send(frame(TEXT, b" " * (MAX_MESSAGE_BYTES - 1), fin=False), frame(0, b"  "))
    assert bare.closed()[0] == 1009


def test_a_fault_of_ours_is_told(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """1011, after which the streams wait for their client, whose fault it was not."""
    with talking(running.port) as talk:
        talk.say("start")
        stream = talk.until("started")["stream"]
        with monkeypatch.context() as patch:
            patch.setattr(ServerProtocol, "receive", lambda *_: 1 / 0)
            talk.say("text", text="hello")
            assert talk.closed() == (1011, "internal_error")
    with talking(running.port) as talk:
        talk.say("resume", stream=stream, offset=0, seq=1)
        assert talk.until("continued")["num_characters"] == 0


def test_who_does_not_answer_pings_is_let_go() -> None:
    """1011; what it spoke waits for it."""
    with running_server(Limits(native=NativeLimits(ping_s=0.05))) as running:
        silent = RawWebSocket(running)
        silent.send(message("start"))
        stream = silent.told("started")["stream"]
        assert silent.closed() == (1011, "keepalive ping timeout")
        with talking(running.port) as talk:
            talk.say("resume", stream=stream, offset=0, seq=1)
            talk.until("continued")


def test_who_does_not_answer_while_it_is_sent_sound(caplog: pytest.LogCaptureFixture) -> None:
    """The same; it is no fault of ours, and the log tells of none."""
    with running_server(Limits(native=NativeLimits(ping_s=0.02))) as running:
        silent = RawWebSocket(running)
        silent.send(message("start", chunking="punctuation"), message("text", text=LONG * 3))
        while silent.next()[0] != CLOSE:
            running.client.get("/health")
        running.wait_until(lambda: not silent.raw.recv(65_536))
        running.client.get("/health")
    assert [each for each in caplog.records if each.levelname in ("WARNING", "ERROR")] == []


def test_who_answers_pings_stays() -> None:
    """However often it is asked."""
    with running_server(Limits(native=NativeLimits(ping_s=0.05))) as running:
        bare = RawWebSocket(running)
        for _ in range(10):
            opcode, data = bare.next()
            assert opcode == PING
            bare.send(frame(PONG, data))
        bare.send(message("ping", None, id=1))
        assert bare.told("pong")["id"] == 1


def test_who_reads_late_has_not_seen_the_ping() -> None:
    """It misses nothing: how long it may take nothing is another limit."""
    with running_server(Limits(native=NativeLimits(ping_s=0.4))) as running:
        slow = RawWebSocket(running, receive_bytes=4_096)
        slow.send(message("start"), message("text", text=LONG[:1_000]), message("end"))
        num_pings, num_bytes = 0, 0
        wait_for_frames(running)
        while True:
            opcode, data = slow.next()
            assert opcode != CLOSE, data
            num_bytes += len(data) - 16 if opcode == 2 else 0
            if opcode == PING:
                num_pings += 1
                slow.send(frame(PONG, data))
            if opcode == TEXT and b'"done"' in data:
                break
        assert num_bytes == len(pcm_of(running, LONG[:1_000]))


def wait_for_frames(running: Running) -> None:
    """Until nothing more is made for who does not read, and for some pings longer."""
    num_frames = -1
    while running.gate.num_frames != num_frames:
        num_frames = running.gate.num_frames
        for _ in range(1_500):
            running.client.get("/health")


def test_a_full_server_says_so_in_the_handshake() -> None:
    """503 and when to try again, never a connection that is closed with 1013."""
    with running_server(Limits(max_connections=4)) as running:  # one of them for HTTP
        first, second, third = RawWebSocket(running), RawWebSocket(running), RawWebSocket(running)
        with pytest.raises(InvalidStatus) as refused, talking(running.port):
            pass
        assert refused.value.response.status_code == 503
        assert refused.value.response.headers["Retry-After"] == "1"
        for each in (first, second, third):
            each.send(message("ping", None, id=1))
            assert each.told("pong")["id"] == 1
            each.send(frame(CLOSE, b"\x03\xe8"))
            assert each.closed() == (1000, "")
        running.wait_until(lambda: RawWebSocket(running).head.startswith(b"HTTP/1.1 101"))
