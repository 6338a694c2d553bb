"""Many concurrent clients on every endpoint and format get their own audio."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest
from native import talking
from serving import PATIENCE_S, running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from serving import Running

TURNS = 3
"""Clients of each kind, each with a text of its own."""


def speech(running: Running, text: str, sound_format: str) -> bytes:
    """``POST /v1/audio/speech``."""
    body = {"input": text, "response_format": sound_format}
    return asked(running, "/v1/audio/speech", json.dumps(body).encode(), "application/json")


def events(running: Running, text: str, sound_format: str) -> bytes:
    """``POST /v1/audio/speech`` with events."""
    body = {"input": text, "response_format": sound_format, "stream_format": "sse"}
    answer = asked(running, "/v1/audio/speech", json.dumps(body).encode(), "application/json")
    told = [json.loads(line[6:]) for line in answer.decode().splitlines() if line.startswith("data: ")]
    assert told[-1]["type"] == "speech.audio.done"
    return b"".join(base64.b64decode(each["audio"]) for each in told[:-1])


def text_body(running: Running, text: str, sound_format: str) -> bytes:
    """``POST /v1/stream`` with plain text in two pieces."""
    return asked(running, f"/v1/stream?format={sound_format}", text.encode(), "text/plain")


def lines_body(running: Running, text: str, sound_format: str) -> bytes:
    """``POST /v1/stream`` with messages in lines."""
    said = [{"type": "start", "format": sound_format}, *({"type": "text", "text": each} for each in text)]
    body = "".join(json.dumps(each) + "\n" for each in said).encode()
    return asked(running, "/v1/stream", body, "application/x-ndjson")


def socket(running: Running, text: str, sound_format: str) -> bytes:
    """``WS /v1/stream``, character by character, beside another context on the same socket."""
    with talking(running.port) as talk:
        for name, spoken in (("a", text), ("b", text[::-1])):
            talk.say("start", name, format=sound_format)
            for char in spoken:
                talk.say("text", name, text=char)
            talk.say("end", name)
        while not (talk.told("done", "a") and talk.told("done", "b")):
            talk.next()
        return talk.sound(talk.told("started", "a")[0]["tag"])


DOORS: tuple[Callable[[Running, str, str], bytes], ...] = (speech, events, text_body, lines_body, socket)
FORMATS = ("pcm", "mp3", "opus")


def asked(running: Running, path: str, body: bytes, kind: str) -> bytes:
    """Return the whole response, on a new connection."""

    def pieces() -> Iterator[bytes]:
        yield body[: len(body) // 2]
        yield body[len(body) // 2 :]

    url, headers = f"{running.url}{path}", {"Content-Type": kind}
    answer = httpx.post(url, content=pieces(), headers=headers, timeout=PATIENCE_S)
    assert answer.status_code == 200, answer.text
    return answer.content


def text_of(number: int) -> str:
    """Return a text that differs from all others, also reversed."""
    return f"Client {chr(97 + number)} says {'la ' * (number % 5)}this. 第{number}个人说{'好' * (number % 7)}。" * 3


def carry_all(running: Running) -> None:
    """Admit everything, however slow the machine is."""
    scheduler = running.synthesizer._scheduler
    scheduler.tune(replace(scheduler.tuning, max_load=1e9))


@pytest.mark.parametrize("num_workers", [1, 2])
def test_no_client_hears_anothers_sound(num_workers: int) -> None:
    """Forty-five clients on all endpoints and formats, with one worker or two."""
    with running_server(num_workers=num_workers) as running:
        kinds = [(door, each) for door in DOORS for each in FORMATS] * TURNS
        jobs = [(door, text_of(number), each) for number, (door, each) in enumerate(kinds)]
        with ThreadPoolExecutor(len(jobs)) as pool:
            running.gate.close()
            carry_all(running)
            heard = [pool.submit(door, running, text, each) for door, text, each in jobs]
            running.wait_until(lambda: running.synthesizer.num_streams >= len(jobs))
            running.gate.open()
            together = [each.result() for each in heard]
        alone = [speech(running, text, each) for _, text, each in jobs]
    wrong = [
        f"{door.__name__} {each} {number}"
        for number, ((door, _, each), got, wanted) in enumerate(zip(jobs, together, alone, strict=True))
        if got != wanted
    ]
    assert wrong == []
    assert len(set(alone)) == len(alone)
