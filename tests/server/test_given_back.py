"""Quotas and capacity are released however a stream ends, on every endpoint."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from keyed_server import KeyedServer, keyed_server
from native import LONG, Talk, talking
from serving import receive_all

from yuliu.server.limits import Limits, NativeLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LIMITS = Limits(max_streams=1, stall_s=0.3, native=NativeLimits(idle_text_s=0.2, max_characters=6_000))
Key = dict[str, str]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyedServer]:
    """A server with room for one stream."""
    with keyed_server(tmp_path_factory.mktemp("keys"), limits=LIMITS) as locked:
        yield locked


def raw_request(key: Key, body: bytes, *, path: str = "/v1/audio/speech", kind: str = "") -> bytes:
    headers = {"Host": "localhost", "Content-Type": kind or "application/json", "Content-Length": str(len(body)), **key}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def speech_request(key: Key, text: str) -> bytes:
    return raw_request(key, json.dumps({"input": text, "response_format": "pcm"}).encode())


def text_request(key: Key, text: str) -> bytes:
    return raw_request(key, text.encode(), path="/v1/stream?format=pcm", kind="text/plain")


def gone(locked: KeyedServer, request: bytes, *, when: str) -> None:
    """Send a request, and leave at some stage."""
    raw = locked.running.connect(receive_bytes=4_096)
    if when == "waiting":
        locked.running.gate.close()
    raw.sendall(request)
    if when == "sounding":
        assert raw.recv(1_000).startswith(b"HTTP/1.1 200")
    else:
        locked.running.wait_until(lambda: locked.running.synthesizer.num_streams == 1)
    if when == "stalled":  # the server ends it
        locked.running.wait_until(lambda: locked.running.synthesizer.num_streams == 0)
    if when == "sounding":
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    raw.close()
    locked.running.gate.open()


@pytest.mark.parametrize("request_of", [speech_request, text_request])
@pytest.mark.parametrize("when", ["waiting", "sounding", "stalled"])
def test_clients_that_leave_release_everything(
    locked: KeyedServer, request_of: Callable[..., bytes], when: str
) -> None:
    """Clients that leave before or amid the audio, or read nothing, release everything."""
    key = key_of_one(locked)
    gone(locked, request_of(key, LONG), when=when)
    assert_free(locked, key)


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/v1/audio/speech", "", b'{"input": "hello"}'),
        ("/v1/audio/speech", "", b'{"input": "hello", "voice": "nobody"}'),
        ("/v1/audio/speech", "", b'{"input": "hello", "preset": "none"}'),
        ("/v1/audio/speech", "", b'{"input": "hello", "lexicon": "none"}'),
        ("/v1/audio/speech", "", b'{"input": "hello", "sample_rate": 1}'),
        ("/v1/audio/speech", "", b'{"input": "..."}'),
        ("/v1/audio/speech", "", b"nonsense"),
        ("/v1/audio/speech", "text/plain", b"hello"),
        ("/v1/audio/speech", "", b" " * (LIMITS.speech.max_body_bytes + 1)),
        ("/v1/audio/speech", "", json.dumps({"input": "a" * 90_000}).encode()),
        ("/v1/stream", "text/plain", b"hello"),
        ("/v1/stream", "text/plain", b""),
        ("/v1/stream", "text/plain", b"..."),
        ("/v1/stream", "text/plain", b"hello\xff"),
        ("/v1/stream", "text/plain", b"a" * 90_000),
        ("/v1/stream", "text/plain", b"one. " * 1_300),
        ("/v1/stream", "application/json", b"hello"),
        ("/v1/stream?voice=nobody", "text/plain", b"hello"),
        ("/v1/stream?format=none", "text/plain", b"hello"),
        ("/v1/stream?lexicon=none", "text/plain", b"hello"),
        ("/v1/stream", "application/x-ndjson", b"nonsense"),
        ("/v1/stream", "application/x-ndjson", b'{"type": "text", "text": "hello. "}\nnonsense'),
        ("/v1/stream", "application/x-ndjson", b'{"type": "config", "chunking": "none"}'),
    ],
)
def test_answered_requests_release_everything(locked: KeyedServer, path: str, kind: str, body: bytes) -> None:
    """Spoken and refused requests release everything."""
    key = key_of_one(locked, characters=80_000)
    with locked.running.connect() as raw:
        raw.sendall(raw_request(key, body, path=path, kind=kind))
        assert raw.recv(12) in {b"HTTP/1.1 200", b"HTTP/1.1 400", b"HTTP/1.1 413", b"HTTP/1.1 429"}
    assert_free(locked, key)


def end_of(talk: Talk) -> dict[str, Any]:
    """Return the error or the ending of the only context."""
    while not (found := [*talk.told("error"), *talk.told("done")]):
        talk.next()
    return found[0]


def say(talk: Talk, text: str, **start: Any) -> None:
    talk.say("start", resume_s=0, **start)
    talk.say("text", text=text)


def spoken(talk: Talk, _: KeyedServer) -> None:
    talk.speak("hello")
    assert end_of(talk)["type"] == "done"


def cancelled(talk: Talk, _: KeyedServer) -> None:
    say(talk, LONG)
    talk.until_sound()
    talk.say("cancel")
    talk.until("cancelled")


def cancelled_at_once(talk: Talk, _: KeyedServer) -> None:
    talk.say("start")
    talk.say("cancel")
    talk.until("cancelled")


def closed(talk: Talk, _: KeyedServer) -> None:
    say(talk, LONG)
    talk.until_sound()
    talk.ws.close()


def vanished(talk: Talk, _: KeyedServer) -> None:
    say(talk, LONG)
    talk.until_sound()
    talk.vanish()


def forgotten(talk: Talk, _: KeyedServer) -> None:
    talk.say("start", resume_s=0.1)
    talk.say("text", text=LONG)
    talk.until_sound()
    talk.vanish()


def silent(talk: Talk, _: KeyedServer) -> None:
    talk.say("start")
    assert end_of(talk)["code"] == "timeout"


def stalled(talk: Talk, locked: KeyedServer) -> None:
    say(talk, LONG)
    locked.running.wait_until(lambda: locked.running.synthesizer.num_streams == 1)
    locked.running.wait_until(lambda: locked.running.synthesizer.num_streams == 0)
    talk.vanish()


def too_long(talk: Talk, _: KeyedServer) -> None:
    say(talk, "a" * 6_001)
    assert end_of(talk)["param"] == "text"


def out_of_characters(talk: Talk, _: KeyedServer) -> None:
    for _number in range(2):
        talk.speak("one. " * 1_000)
        if (end := end_of(talk))["type"] == "error":
            assert end["code"] == "quota_exceeded"
            return
        talk.received.clear()
    raise AssertionError("it was not counted")


def refused(talk: Talk, _: KeyedServer) -> None:
    for field in ("voice", "format", "lexicon", "preset"):
        talk.say("start", **{field: "none"})
        assert end_of(talk)["ends"] == "context"
        talk.received.clear()


def said_nothing(talk: Talk, _: KeyedServer) -> None:
    talk.speak("...")
    end_of(talk)


def was_a_nuisance(talk: Talk, _: KeyedServer) -> None:
    talk.say("start")
    for _number in range(101):
        talk.ws.send("nonsense")
    assert talk.closed()[0] == 1008


WAYS = (
    *(spoken, cancelled, cancelled_at_once, closed, vanished, forgotten, silent, stalled),
    *(too_long, out_of_characters, refused, said_nothing, was_a_nuisance),
)


@pytest.mark.parametrize("way", WAYS)
def test_contexts_release_everything(locked: KeyedServer, way: Callable[[Talk, KeyedServer], None]) -> None:
    """Contexts release everything however they end."""
    key = key_of_one(locked, characters=9_000)

    def small(raw: socket.socket) -> None:
        if way is stalled:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)

    options: dict[str, Any] = {"max_queue": 1 if way is stalled else 16, "ping_interval": None}
    with talking(locked.running.port, adjust=small, additional_headers=key, **options) as talk:
        way(talk, locked)
    assert_free(locked, key)


def test_failed_streams_release_everything(tmp_path: Path) -> None:
    """Failures before and amid the audio release everything."""
    with keyed_server(tmp_path, fail_steps=frozenset(range(1, 1_000))) as locked:
        key = key_of_one(locked)
        for request_of in (speech_request, text_request) * 2:
            with locked.running.connect() as raw:
                raw.sendall(request_of(key, LONG).replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
                assert b"quota" not in receive_all(raw)
        for _ in range(2):
            with talking(locked.running.port, additional_headers=key) as talk:
                talk.speak(LONG)
                assert end_of(talk)["code"] == "synthesis_failed"
        assert locked.speak("hello", key).json()["error"]["code"] == "synthesis_failed"


def key_of_one(locked: KeyedServer, **terms: Any) -> Key:
    """A key with one stream at a time."""
    name = f"k{len(locked.store.keys)}"
    return locked.key(name, streams=1, **terms)


def assert_free(locked: KeyedServer, key: Key) -> None:
    """Check that key and server have a free stream again."""
    running = locked.running
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    for _ in range(2):
        running.wait_until(lambda: locked.speak("hello", key).status_code == 200 or is_out_of_characters(locked, key))


def is_out_of_characters(locked: KeyedServer, key: Key) -> bool:
    return "characters a day" in locked.speak("hello", key).text
