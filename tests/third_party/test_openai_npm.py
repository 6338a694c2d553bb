"""OpenAI's client for JavaScript in Node.js: formats, whole and streamed, events, interruptions, errors."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import pytest
from serving import running_server
from third_party_clients import NPM, Sidecar, needs, sidecar

from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from serving import Running

    from yuliu.synthesizer import Synthesizer

pytestmark = needs("openai-npm")
TEXT = "one two three four five six seven eight nine ten. " * 8
LONG = TEXT * 12
"""A hundred seconds."""
SIX = ["mp3", "opus", "aac", "flac", "wav", "pcm"]


@pytest.fixture(scope="module")
def client(running: Running) -> Iterator[Sidecar]:
    """The client in its own process."""
    with client_of(f"{running.url}/v1") as client:
        yield client


def client_of(url: str) -> AbstractContextManager[Sidecar]:
    return sidecar("node", "client.js", url, folder=NPM)


def heard(answer: dict[str, Any]) -> bytes:
    assert "error" not in answer, answer
    return b64decode(answer["sound"])


@pytest.mark.parametrize("name", SIX)
def test_every_format_whole_and_streamed(running: Running, client: Sidecar, name: str) -> None:
    """The bytes and types are those that other clients get."""
    fields = {"input": TEXT, "response_format": name, "instructions": "Speak softly."}
    answers = [client.ask(fields=fields, whole=whole) for whole in (True, False)]
    expected = running.speech(input=TEXT, response_format=name)
    for answer in answers:
        assert heard(answer) == expected.content
        assert answer["type"] == expected.headers["content-type"]
    assert answers[1]["num_pieces"] > 1


def test_the_default_format_is_mp3(running: Running, client: Sidecar) -> None:
    """The client omits the field."""
    answer = client.ask(fields={"input": TEXT}, whole=True)
    assert heard(answer) == running.speech(input=TEXT, response_format="mp3").content


def test_events_are_passed_on(running: Running, client: Sidecar) -> None:
    """The stream is unchanged."""
    answer = client.ask(fields={"input": TEXT, "response_format": "pcm", "stream_format": "sse"})
    assert answer["type"] == "text/event-stream"
    events = [json.loads(line.removeprefix("data: ")) for line in heard(answer).decode().split("\n\n") if line]
    assert events[-1]["type"] == "speech.audio.done"
    sound = b"".join(b64decode(event["audio"]) for event in events[:-1])
    assert sound == to_s16le(running.synthesizer.speak(TEXT).samples)


def test_an_abort_stops_the_work(running: Running, client: Sidecar) -> None:
    """The request is aborted during the audio; the next text is spoken completely."""
    before = running.gate.num_frames
    running.gate.close()
    for _ in range(2):
        running.gate.pass_one()
    answer = client.ask(fields={"input": LONG, "response_format": "pcm"}, stop_after_bytes=1)
    assert heard(answer)
    running.gate.open()
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert running.gate.num_frames - before < 1_000  # of 10,000; 10 ms each
    assert heard(client.ask(fields={"input": "Hi."})) == running.speech(input="Hi.", response_format="mp3").content


@pytest.mark.parametrize(
    "fields", [{"input": ""}, {"input": "Hi.", "voice": "nobody"}, {"input": "Hi.", "response_format": "midi"}]
)
def test_an_invalid_request_is_a_bad_request(client: Sidecar, fields: dict[str, Any]) -> None:
    """The error holds the server's code."""
    answer = client.ask(fields=fields)
    assert (answer["error"], answer["status"]) == ("BadRequestError", 400)
    assert answer["code"] in ("invalid_request", "unknown_voice", "nothing_to_speak")


@pytest.mark.parametrize(
    ("what", "error", "code"),
    [
        ("key", "AuthenticationError", "invalid_api_key"),
        ("scope", "PermissionDeniedError", "insufficient_scope"),
        ("busy", "RateLimitError", "quota_exceeded"),
        ("failing", "InternalServerError", "synthesis_failed"),
    ],
)
def test_refusals_are_openais_error_classes(
    refusing: dict[str, tuple[str, str]], what: str, error: str, code: str
) -> None:
    """Programs that handle OpenAI's errors handle ours."""
    url, key = refusing[what]
    with client_of(url) as client:
        answer = client.ask(fields={"input": TEXT}, key=key)
    assert (answer["error"], answer["code"]) == (error, code)


def test_an_unknown_model_is_not_found(client: Sidecar) -> None:
    """The class is that for OpenAI's server."""
    assert client.ask(model="tone")["id"] == "tone"
    assert client.ask(model="gpt-9")["error"] == "NotFoundError"


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("stream_format", ["audio", "sse"])
def test_a_truncated_response_throws(cut: Running, stream_format: str, *, whole: bool) -> None:
    """This applies to bodies that are read whole and in pieces."""
    with client_of(f"{cut.url}/v1") as client:
        answer = client.ask(fields={"input": TEXT, "stream_format": stream_format}, whole=whole)
    assert answer["error"]
    assert answer["status"] is None


def test_a_timeout_of_the_client_stops_the_work() -> None:
    """It raises the timeout class, and the stream ends."""
    with running_server() as running, client_of(f"{running.url}/v1") as client:
        running.gate.close()
        assert client.ask(fields={"input": TEXT}, timeout_ms=300)["error"] == "APIConnectionTimeoutError"
        running.wait_until(lambda: running.synthesizer.num_streams == 0)


@pytest.mark.voices
def test_real_voices(voices: tuple[str, Synthesizer]) -> None:
    """The audio is exact to the sample."""
    url, synthesizer = voices
    text = "三点半见。See you there."
    with client_of(f"{url}/v1") as client:
        sound = heard(client.ask(fields={"input": text, "response_format": "pcm"}))
    assert sound == to_s16le(synthesizer.speak(text).samples)
