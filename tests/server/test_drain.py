"""SIGTERM under load on all endpoints: no new work, and streams finish within the time."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest
from native import LONG, pcm_of, talking
from serving import PATIENCE_S, receive_all, running_server, short_answer, speech_bytes, unchunked

from yuliu.server.limits import Limits, draining_for

TEXT = LONG[:400]


def test_no_sentence_is_cut_while_the_time_lasts() -> None:
    """Running, waiting and half-sent requests and sockets all get every sample."""
    with running_server(draining_for(Limits(), 20)) as running, ExitStack() as stack, ThreadPoolExecutor(16) as pool:
        wanted = pcm_of(running, TEXT)
        request = {"input": TEXT, "response_format": "pcm"}
        running.gate.close()
        raws = [running.connect() for _ in range(8)]
        for raw in raws:
            running.send_speech(raw, **request)
        talk = stack.enter_context(talking(running.port))
        talk.speak(TEXT)
        talk.until("started")
        half = running.connect()
        whole = speech_bytes(**request)
        half.sendall(whole[:-100])
        writing = running.connect()
        head = b"POST /v1/stream?format=pcm HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
        writing.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n64\r\n" + TEXT[:100].encode() + b"\r\n")
        running.wait_until(lambda: running.synthesizer.num_streams == len(raws) + 2)
        port = running.port
        running.server.stop()
        talk.until("draining", None)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        half.sendall(whole[-100:])
        writing.sendall(b"12c\r\n" + TEXT[100:].encode() + b"\r\n0\r\n\r\n")
        running.gate.open()
        answers = list(pool.map(receive_all, [*raws, half, writing]))
        talk.until("done")
        assert talk.closed() == (1001, "draining")
        assert talk.sound(talk.told("started")[0]["tag"]) == wanted
    for answer in answers:
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"\r\n0\r\n\r\n")
    assert [unchunked(answer) == wanted for answer in answers] == [True] * len(answers)


def test_idle_connections_are_closed_at_once() -> None:
    """Idle connections do not delay the shutdown."""
    with running_server(draining_for(Limits(), 20)) as running:
        silent, used = running.connect(), running.connect()
        used.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"alive" in short_answer(used)
        running.server.stop()
        assert receive_all(silent) == receive_all(used) == b""


def test_streams_that_outlast_the_drain_are_cut_visibly() -> None:
    """Streams that are cut are cut visibly."""
    with running_server(draining_for(Limits(), 1)) as running:
        body = json.dumps({"input": LONG, "response_format": "pcm"})
        headers = {"Content-Type": "application/json"}
        with running.client.stream("POST", "/v1/audio/speech", content=body, headers=headers) as answer:
            pieces = answer.iter_raw()
            next(pieces)
            running.gate.close()
            running.server.stop()
            with pytest.raises(httpx.RemoteProtocolError):
                for _ in pieces:
                    pass


def test_sockets_drain_a_little_shorter() -> None:
    """Sockets get time to send the error."""
    for drain_s in (1, 2, 30, 3600):
        limits = draining_for(Limits(), drain_s)
        assert limits.shutdown_s == drain_s
        assert drain_s / 2 <= limits.native.drain_s <= drain_s - 0.5
    assert draining_for(Limits(), Limits().shutdown_s) == Limits()
