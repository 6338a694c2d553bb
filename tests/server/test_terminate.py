"""``yuliu serve`` stops while some twenty streams are at every stage."""

from __future__ import annotations

import json
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest
from native import LONG, Talk, talking
from server_program import ServerProgram, running_program
from serving import PATIENCE_S, receive_all, speech_bytes, unchunked

TEXT = LONG[:600]
"""Twelve seconds of audio, so that a client that does not read blocks its stream."""
HALF = len(TEXT) // 2
STREAM_HEAD = (
    b"POST /v1/stream?format=pcm HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def held(stack: ExitStack, server: ServerProgram) -> Talk:
    """A socket whose client reads as little as possible."""

    def small(raw: socket.socket) -> None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)

    return stack.enter_context(talking(server.port, adjust=small, max_queue=1, ping_interval=None))


def heard_to_the_end(talk: Talk) -> tuple[int, str]:
    """Receive until the server closes."""
    return talk.closed()


def in_halves(server: ServerProgram) -> bytes:
    """Return the audio if the first half was flushed before the second came."""
    messages = ({"type": "text", "text": TEXT[:HALF]}, {"type": "flush"}, {"type": "text", "text": TEXT[HALF:]})
    return httpx.post(
        f"http://127.0.0.1:{server.port}/v1/stream?format=pcm",
        content="".join(json.dumps(message) + "\n" for message in messages),
        headers={"Content-Type": "application/x-ndjson"},
        timeout=PATIENCE_S,
    ).content


def test_no_sentence_is_cut() -> None:
    """Every stream finishes, clients are notified, and the process ends."""
    with running_program("--drain-s", "120") as server, ExitStack() as stack:
        wanted = httpx.post(
            f"http://127.0.0.1:{server.port}/v1/audio/speech",
            json={"input": TEXT, "response_format": "pcm"},
            timeout=PATIENCE_S,
        ).content
        halves = (wanted, in_halves(server))
        request, text = speech_bytes(input=TEXT, response_format="pcm"), TEXT.encode()
        whole = [server.connect(request) for _ in range(5)]
        half = [server.connect(request[:-100]) for _ in range(2)]
        in_head = [server.connect(request[:40]) for _ in range(2)]
        body = [server.connect(STREAM_HEAD, chunk(text), b"0\r\n\r\n") for _ in range(2)]
        half_body = [server.connect(STREAM_HEAD, chunk(text[:HALF])) for _ in range(2)]
        assert whole[0].recv(1) == b"H"
        used, silent = server.connect(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"), server.connect()
        answer = b""
        while b"alive" not in answer:
            answer += used.recv(4_096)
        spoken = [held(stack, server) for _ in range(3)]
        for talk in spoken:
            talk.speak(TEXT)
        writing = [held(stack, server) for _ in range(2)]
        for talk in writing:
            talk.say("start")
            talk.say("text", text=TEXT[:HALF])
            talk.until_sound()
        double = held(stack, server)
        for name in ("a", "b"):
            double.speak(TEXT, name)
        idle = held(stack, server)

        server.process.send_signal(signal.SIGTERM)
        assert idle.until("draining", None)["time_s"] == 119
        assert idle.closed() == (1001, "draining")
        server.wait_until_refused()
        assert receive_all(used) == receive_all(silent) == b""
        server.process.send_signal(signal.SIGTERM)  # impatience changes nothing
        for raw in half:
            raw.sendall(request[-100:])
        for raw in half_body:
            raw.sendall(chunk(text[HALF:]) + b"0\r\n\r\n")
        for talk in writing:
            talk.say("text", text=TEXT[HALF:])
            talk.say("end")
        double.say("start", "late")
        raws, talks = [*whole, *half, *body, *half_body], [*spoken, *writing, double]
        with ThreadPoolExecutor(len(raws) + len(talks)) as pool:
            answers = list(pool.map(receive_all, raws))
            closed = list(pool.map(heard_to_the_end, talks))
        heads = [receive_all(raw) for raw in in_head]
        assert server.read_to_the_end() == -signal.SIGTERM

    sounds = [unchunked(b"H" * (not index) + answer) for index, answer in enumerate(answers)]
    assert [sound in halves for sound in sounds] == [True] * len(raws)
    assert sounds[: len(whole) + len(half) + len(body)] == [wanted] * (len(whole) + len(half) + len(body))
    assert closed == [(1001, "draining")] * len(talks)
    for talk in talks:
        assert talk.told("draining", None)
        for name in ("a", "b") if talk is double else ("a",):
            assert talk.told("done", name)[0]["failed"] == []
            assert talk.sound(talk.told("started", name)[0]["tag"]) in (halves if talk in writing else (wanted,))
    assert [each["code"] for each in double.told("error", "late")] == ["closed"]
    assert heads == [b"", b""]  # a request that had not come yet is none that is cut
    assert "seven" not in server.log
    assert "Traceback" not in server.log


def test_streams_left_at_the_deadline_are_cut_visibly() -> None:
    """Bodies lack their end, sockets get the reason, stalled clients do not delay the end."""
    with running_program("--drain-s", "1") as server, ExitStack() as stack:
        raws = [server.connect(speech_bytes(input=LONG, response_format="pcm")) for _ in range(3)]
        raws.append(server.connect(STREAM_HEAD, chunk(TEXT.encode())))
        talks = [held(stack, server) for _ in range(2)]
        for talk in talks:
            talk.speak(LONG)
            talk.until_sound()
        waiting = stack.enter_context(talking(server.port))
        waiting.say("start")
        waiting.until("started")
        server.process.send_signal(signal.SIGTERM)
        assert waiting.closed() == (1001, "draining")
        assert [each["code"] for each in waiting.told("error")] == ["closed"]
        assert server.read_to_the_end() == -signal.SIGTERM
        for raw in raws:
            assert not receive_all(raw).endswith(b"0\r\n\r\n")
        for talk in talks:
            talk.vanish()
    assert "Traceback" not in server.log


def test_a_second_interrupt_ends_it_at_once() -> None:
    """A second Ctrl-C ends at once, and cut streams are visibly cut."""
    with running_program("--drain-s", "3600") as server:
        raw = server.connect(speech_bytes(input=LONG, response_format="pcm"))
        assert raw.recv(1_000).startswith(b"HTTP/1.1 200")
        server.process.send_signal(signal.SIGINT)
        server.wait_until_refused()
        server.process.send_signal(signal.SIGINT)
        assert server.read_to_the_end() == 0
        assert not receive_all(raw).endswith(b"0\r\n\r\n")
