"""Close codes of a connection, and responses to refused handshakes."""

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
    """A server with default limits."""
    with running_server() as server:
        yield server


def test_the_page_names_all_codes_and_no_other() -> None:
    """The page lists the protocol's codes and those of the WebSocket library; each is tested."""
    section = PAGE.read_text(encoding="utf-8").partition("## Closing")[2].partition("\n## ")[0]
    named = {int(code) for code in re.findall(r"^\| (\d{4}) \|", section, re.MULTILINE)}
    assert named == TESTED >= set(Close)


def test_a_clean_close_is_answered_with_1000(running: Running) -> None:
    """The code is 1000, and the streams end."""
    bare = RawWebSocket(running)
    bare.send(message("start"), message("text", text=LONG))
    while bare.next()[0] != BINARY:
        pass
    bare.send(frame(CLOSE, b"\x03\xe8"))
    assert bare.closed() == (Close.NORMAL, "")
    running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_an_invalid_frame_closes_the_connection(running: Running) -> None:
    """An unknown opcode and a compressed frame close the connection with 1002."""
    for wrong in (frame(3), frame(TEXT, b"\x00", compressed=True)):
        bare = RawWebSocket(running)
        bare.send(wrong)
        assert bare.closed()[0] == 1002


def test_invalid_utf8_closes_the_connection(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """Invalid UTF-8, whole or in fragments, closes with 1007, and the log reports no fault."""
    for wrong in ([frame(TEXT, b'{"id": "\xff"}')], [frame(TEXT, b"\xe4", fin=False), frame(CONT, b"\xbd")]):
        bare = RawWebSocket(running)
        bare.send(*wrong)
        assert bare.closed()[0] == 1007
    running.client.get("/health")
    assert [each for each in caplog.records if each.levelname in ("WARNING", "ERROR")] == []


def test_too_long_a_message_ends_the_connection(running: Running) -> None:
    """A message over the limit, whole or in fragments, closes with 1009; one at the limit does not."""
    bare = RawWebSocket(running)
    bare.send(frame(TEXT, b" " * MAX_MESSAGE_BYTES))
    assert bare.told("error")["code"] == "invalid_request"
    bare.send(frame(TEXT, b" " * (MAX_MESSAGE_BYTES - 1), fin=False), frame(0, b"  "))
    assert bare.closed()[0] == 1009


def test_a_bug_closes_the_connection_with_1011(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug closes with 1011, and the streams wait for their client to resume them."""
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


def test_a_client_without_pongs_is_closed() -> None:
    """A missing pong closes with 1011, and the stream can be resumed."""
    with running_server(Limits(native=NativeLimits(ping_s=0.05))) as running:
        silent = RawWebSocket(running)
        silent.send(message("start"))
        stream = silent.told("started")["stream"]
        assert silent.closed() == (1011, "keepalive ping timeout")
        with talking(running.port) as talk:
            talk.say("resume", stream=stream, offset=0, seq=1)
            talk.until("continued")


def test_a_client_without_pongs_is_closed_amid_audio(caplog: pytest.LogCaptureFixture) -> None:
    """A missing pong amid audio closes with 1011, and the log reports no fault."""
    with running_server(Limits(native=NativeLimits(ping_s=0.02))) as running:
        silent = RawWebSocket(running)
        silent.send(message("start", chunking="punctuation"), message("text", text=LONG * 3))
        while silent.next()[0] != CLOSE:
            running.client.get("/health")
        running.wait_until(lambda: not silent.raw.recv(65_536))
        running.client.get("/health")
    assert [each for each in caplog.records if each.levelname in ("WARNING", "ERROR")] == []


def test_a_client_that_answers_pings_stays() -> None:
    """The connection stays open over many pings."""
    with running_server(Limits(native=NativeLimits(ping_s=0.05))) as running:
        bare = RawWebSocket(running)
        for _ in range(10):
            opcode, data = bare.next()
            assert opcode == PING
            bare.send(frame(PONG, data))
        bare.send(message("ping", None, id=1))
        assert bare.told("pong")["id"] == 1


def test_a_late_reader_is_not_closed_for_its_pong() -> None:
    """A late reader gets all audio: the stall time is another limit."""
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
    """Wait until the stream has paused for the reader, and for some pings longer."""
    num_frames = -1
    while running.gate.num_frames != num_frames:
        num_frames = running.gate.num_frames
        for _ in range(1_500):
            running.client.get("/health")


def test_a_full_server_says_so_in_the_handshake() -> None:
    """The handshake gets 503 with Retry-After, not a close with 1013."""
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
