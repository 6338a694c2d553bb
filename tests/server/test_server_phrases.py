"""Phrases over HTTP are synthesised once and sent at once."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from serving import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

HELLO = "你好，hello there. 请问有什么可以帮您？"


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def listed(running: Running) -> list[str]:
    return [each["text"] for each in running.client.get("/v1/phrases").json()["phrases"]]


def test_a_phrase_is_made_once_and_sounds_the_same(running: Running) -> None:
    """A pinned phrase is sent without synthesis, with the same bytes."""
    whole = running.speech(input=HELLO, response_format="pcm").content
    answer = running.client.post("/v1/phrases", json={"phrases": [HELLO, "Goodbye."]})
    assert answer.json() == {"phrases": [{"text": text, "voice": "tone"} for text in (HELLO, "Goodbye.")]}
    before = running.engine.num_plans, running.engine.num_steps
    running.gate.close()
    assert running.speech(input=HELLO, response_format="pcm").content == whole
    assert running.speech(input=HELLO, response_format="pcm", **{"class": "interactive"}).content == whole
    assert (running.engine.num_plans, running.engine.num_steps) == before


def test_a_removed_phrase_is_synthesised_again(running: Running) -> None:
    """Phrases can be removed singly or all at once."""
    running.client.post("/v1/phrases", json={"phrases": ["One.", "Two/three?", "Four."]})
    assert running.client.delete(f"/v1/phrases/{quote('Two/three?', safe='')}").status_code == 204
    assert listed(running) == ["One.", "Four."]
    missing = running.client.delete("/v1/phrases/nothing")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "phrase_not_found")
    assert running.client.delete("/v1/phrases").json() == {"phrases": []}
    num_plans = running.engine.num_plans
    assert running.speech(input="One.").status_code == 200
    assert running.engine.num_plans == num_plans + 1


def test_wrong_phrases_are_explained(running: Running) -> None:
    """Phrases before a wrong one are kept."""
    answer = running.client.post("/v1/phrases", json={"phrases": ["One.", "……"]})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "phrases")
    assert "phrases[1]" in answer.json()["error"]["message"]
    assert listed(running) == ["One."]
    answer = running.client.post("/v1/phrases", json={"phrases": ["One."], "voice": "nobody"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "voice")
    assert running.client.post("/v1/phrases", content=b"x" * 300_000).status_code == 413
    assert running.client.put("/v1/phrases").status_code == 405


def test_all_phrases_together_are_bounded(running: Running) -> None:
    """The total includes phrases that are already kept."""
    assert running.client.post("/v1/phrases", json={"phrases": ["One."]}).status_code == 200
    many = [f"a{number}" for number in range(1_000)]
    assert running.client.post("/v1/phrases", json={"phrases": many}).status_code == 400
    assert listed(running) == ["One."]


def test_phrases_are_spoken_one_request_at_a_time(running: Running) -> None:
    """A concurrent request is refused with advice to retry; speech goes on."""
    running.gate.close()
    first = running.connect()
    body = b'{"phrases": ["One."]}'
    head = (
        f"POST /v1/phrases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    first.sendall(f"{head}\r\n\r\n".encode() + body)
    running.wait_until(lambda: running.engine.num_steps == 1)
    refused = running.client.post("/v1/phrases", json={"phrases": ["Two."]})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    running.gate.open()
    assert first.recv(65_536).startswith(b"HTTP/1.1 200")
    assert listed(running) == ["One."]
