"""Every limit of the server is met once and reported; a new limit without a test fails."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import pytest
from native import LONG, Talk, talking
from serving import Running, read_answer, receive_all, running_server, short_answer, speech_bytes

from yuliu.server.limits import Limits, NativeLimits
from yuliu.wire.openai import SpeechLimits

if TYPE_CHECKING:
    from collections.abc import Callable

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
HANDSHAKE = (
    b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def code_of(running: Running, **asked: Any) -> tuple[int, str, str | None]:
    answer = running.speech(**asked)
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["param"]


def error_of(talk: Talk, context: str = "a") -> dict[str, Any]:
    while not (errors := talk.told("error", context)):
        talk.next()
    return errors[0]


def lines(running: Running, text: str) -> tuple[int, str]:
    """Return the response of ``POST /v1/stream`` to a refused text."""
    answer = running.client.post("/v1/stream", content=text.encode(), headers={"Content-Type": "text/plain"})
    return answer.status_code, answer.json()["error"]["code"]


def max_characters() -> None:
    with running_server(Limits(speech=SpeechLimits(max_characters=5))) as running:
        assert running.speech(input="hello").status_code == 200
        assert code_of(running, input="hello.") == (400, "invalid_request", "input")


def max_body_bytes() -> None:
    body = json.dumps({"input": "hello"}).encode()
    with running_server(Limits(speech=SpeechLimits(max_body_bytes=len(body)))) as running:
        for sent, status in ((body, 200), (body + b" ", 413)):
            answer = running.client.post("/v1/audio/speech", content=sent, headers={"Content-Type": "application/json"})
            assert answer.status_code == status
        assert answer.json()["error"]["code"] == "body_too_large"


def native_max_characters() -> None:
    with running_server(Limits(native=NativeLimits(max_characters=8))) as running, talking(running.port) as talk:
        talk.speak("hello. ")  # the end counts as one
        talk.until("done")
        talk.say("start", "b")
        talk.say("text", "b", text="hello there")
        assert (error_of(talk, "b")["code"], error_of(talk, "b")["param"]) == ("invalid_request", "text")
        assert lines(running, "hello there") == (400, "invalid_request")


def idle_s() -> None:
    with running_server(Limits(native=NativeLimits(idle_s=0.05))) as running, talking(running.port) as talk:
        assert talk.closed() == (4000, "idle")


def idle_text_s() -> None:
    with running_server(Limits(native=NativeLimits(idle_text_s=0.05))) as running:
        with talking(running.port) as talk:
            talk.say("start")
            assert error_of(talk)["code"] == "timeout"
        for kind, begun in ((b"text/plain", b""), (b"text/plain", b"hello"), (b"application/x-ndjson", b"\n\n{")):
            with running.connect() as raw:
                raw.sendall(b"POST /v1/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + kind + b"\r\n")
                raw.sendall(b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
                raw.sendall(b"%x\r\n%s\r\n" % (len(begun), begun) if begun else b"")
                answer = receive_all(raw)
                assert answer.startswith(b"HTTP/1.1 504 ")
                assert b'"code": "timeout"' in answer


def ping_s() -> None:
    """A client that reads and never answers a ping."""
    with running_server(Limits(native=NativeLimits(ping_s=0.1))) as running, running.connect() as raw:
        raw.sendall(HANDSHAKE)
        received = receive_all(raw)
        frames = received.partition(b"\r\n\r\n")[2]
        assert frames[0] == 0x89  # a ping
        assert frames[2 + frames[1]] == 0x88  # a close
        assert frames[4 + frames[1] :][:2] == (1011).to_bytes(2, "big")


def spoken_to_the_end(talk: Talk, text: str) -> str:
    talk.speak(text)
    talk.until("done")
    return str(talk.told("started")[0]["stream"])


def not_resumable(running: Running, stream: str) -> bool:
    with talking(running.port) as talk:
        talk.say("resume", stream=stream, offset=0, seq=0)
        while True:
            told = talk.next()
            if isinstance(told, dict) and told["type"] in ("continued", "error"):
                return bool(told["type"] == "error" and told["code"] == "not_resumable")


def kept_bytes() -> None:
    for kept, is_lost in ((1_000_000, False), (1_000, True)):
        with running_server(Limits(native=NativeLimits(kept_bytes=kept))) as running, talking(running.port) as talk:
            assert not_resumable(running, spoken_to_the_end(talk, "hello there")) == is_lost


def kept_s() -> None:
    for kept, is_lost in ((60.0, False), (-1.0, True)):
        with running_server(Limits(native=NativeLimits(kept_s=kept))) as running, talking(running.port) as talk:
            assert not_resumable(running, spoken_to_the_end(talk, "hello there")) == is_lost


def kept_total_bytes() -> None:
    for kept, is_lost in ((1_000_000, False), (20_000, True)):
        with running_server(Limits(native=NativeLimits(kept_total_bytes=kept))) as running:
            with talking(running.port) as first:
                stream = spoken_to_the_end(first, "hello there")
                first.vanish()
            with talking(running.port) as second:
                spoken_to_the_end(second, "good evening to you all")
            assert not_resumable(running, stream) == is_lost


def drain_s() -> None:
    with running_server(Limits(native=NativeLimits(drain_s=0.1))) as running, talking(running.port) as talk:
        talk.say("start")
        talk.until("started")
        running.server.stop()
        assert error_of(talk)["code"] == "closed"
        assert talk.closed() == (1001, "draining")


def max_streams() -> None:
    with running_server(Limits(max_streams=1)) as running, talking(running.port) as talk:
        talk.say("start")
        talk.until("started")
        assert code_of(running, input="hello") == (429, "overloaded", None)
        assert lines(running, "hello") == (429, "overloaded")
        talk.say("start", "b")
        assert error_of(talk, "b")["code"] == "overloaded"


def max_body_bytes_held() -> None:
    with running_server(Limits(max_body_bytes_held=200)) as running, talking(running.port) as talk:
        assert code_of(running, input="a" * 201) == (429, "overloaded", None)
        assert lines(running, "a" * 201) == (429, "overloaded")
        talk.say("start")
        talk.say("text", text="a" * 201)
        assert error_of(talk)["code"] == "overloaded"


def max_connections() -> None:
    with running_server(Limits(max_connections=2)) as running, running.connect() as held:
        held.sendall(HEALTH)
        assert held.recv(1)
        answer = receive_all(running.connect())
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b'"code": "overloaded"' in answer


def max_head_bytes() -> None:
    with running_server(Limits(max_head_bytes=1_000)) as running:
        answer = running.client.get("/health", headers={"X-Long": "x" * 1_000})
        assert (answer.status_code, answer.json()["error"]["code"]) == (431, "headers_too_large")


def request_s() -> None:
    with running_server(Limits(request_s=0.05)) as running:
        for begun in (b"", b"POST ", speech_bytes(input="hello")[:-1]):
            raw = running.connect()
            raw.sendall(begun)
            answer = receive_all(raw)
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b'"code": "request_timeout"' in answer


def keep_alive_s() -> None:
    with running_server(Limits(keep_alive_s=1)) as running, running.connect() as raw:
        raw.sendall(HEALTH)
        assert receive_all(raw).endswith(b'{"status":"alive"}')


def stall_s() -> None:
    with running_server(Limits(stall_s=0.1)) as running:
        raw = running.connect(receive_bytes=4_096)
        running.send_speech(raw, input=LONG)
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        assert not receive_all(raw).endswith(b"0\r\n\r\n")


def stream_s() -> None:
    with running_server(Limits(stream_s=0.1)) as running:
        running.gate.close()
        assert code_of(running, input="hello") == (504, "timeout", None)
        assert lines(running, "hello") == (504, "timeout")
        with talking(running.port) as talk:
            talk.speak("hello")
            assert error_of(talk)["code"] == "timeout"


def shutdown_s() -> None:
    with running_server(Limits(shutdown_s=1)) as running:
        raw = running.connect(receive_bytes=4_096)
        running.send_speech(raw, input=LONG)
        assert raw.recv(1)
        running.gate.close()
        running.server.stop()
        assert not receive_all(raw).endswith(b"0\r\n\r\n")


MEETING: dict[type, dict[str, Callable[[], None]]] = {
    SpeechLimits: {"max_characters": max_characters, "max_body_bytes": max_body_bytes},
    NativeLimits: {
        "max_characters": native_max_characters,
        "idle_s": idle_s,
        "idle_text_s": idle_text_s,
        "ping_s": ping_s,
        "kept_bytes": kept_bytes,
        "kept_s": kept_s,
        "kept_total_bytes": kept_total_bytes,
        "drain_s": drain_s,
    },
    Limits: {
        "max_streams": max_streams,
        "max_body_bytes_held": max_body_bytes_held,
        "max_connections": max_connections,
        "max_head_bytes": max_head_bytes,
        "request_s": request_s,
        "keep_alive_s": keep_alive_s,
        "stall_s": stall_s,
        "stream_s": stream_s,
        "shutdown_s": shutdown_s,
    },
}
"""A test case for each limit."""


def test_no_limit_is_missing() -> None:
    """Each limit has a case here."""
    for kind, met in MEETING.items():
        given = {each.name for each in fields(kind) if not is_dataclass(getattr(kind(), each.name))}
        assert given == set(met), kind.__name__
    nested = {type(getattr(Limits(), each.name)) for each in fields(Limits)}
    assert {kind for kind in nested if is_dataclass(kind)} == set(MEETING) - {Limits}


@pytest.mark.parametrize("meet", [meet for met in MEETING.values() for meet in met.values()])
def test_each_limit_is_reported(meet: Callable[[], None]) -> None:
    """The status or code names the limit."""
    meet()


def test_two_hundred_idle_clients_of_each_kind_are_no_burden() -> None:
    """Two hundred silent, used and upgraded connections do not affect others."""
    with running_server() as running:
        wanted = running.speech(input="hello").content
        silent, used, opened = ([running.connect() for _ in range(200)] for _ in range(3))
        for raw in used:
            raw.sendall(HEALTH)
        for raw in opened:
            raw.sendall(HANDSHAKE)
        for raw, begins in [*((raw, b"HTTP/1.1 200") for raw in used), *((raw, b"HTTP/1.1 101") for raw in opened)]:
            assert short_answer(raw).startswith(begins)
        for _ in range(5):
            assert running.speech(input="hello").content == wanted
        for raw in silent:
            raw.sendall(HEALTH)
            assert short_answer(raw).startswith(b"HTTP/1.1 200")
        running.send_speech(used[0], input="hello")
        assert read_answer(used[0]).startswith(b"HTTP/1.1 200")
