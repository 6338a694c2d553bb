"""OpenAI's client for Python: formats, whole, streamed and as events; synchronous and asynchronous; errors."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import openai
import pytest
from serving import running_server

from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from collections.abc import Iterable

    from serving import Running

    from yuliu.synthesizer import Synthesizer

TEXT = "one two three four five six seven eight nine ten. " * 8
SIX = ["mp3", "opus", "aac", "flac", "wav", "pcm"]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"input": ""}, "input"),
    ({"input": "Hi.", "voice": "nobody"}, "voice"),
    ({"input": "Hi.", "speed": 9}, "speed"),
    ({"input": "Hi.", "response_format": "midi"}, "response_format"),
]


def client(url: str, key: str = "none", **options: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key=key, **{"max_retries": 0, **options})


def fields(**given: Any) -> dict[str, Any]:
    return {"model": "gpt-4o-mini-tts", "voice": "nova", "input": TEXT, **given}


def sound_of(lines: Iterable[str]) -> bytes:
    """Return the audio in a stream of events, which must end properly."""
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line]
    assert [event["type"] for event in events[-2:]] == ["speech.audio.delta", "speech.audio.done"]
    assert set(events[-1]["usage"]) == {"input_tokens", "output_tokens", "total_tokens"}
    return b"".join(b64decode(event["audio"]) for event in events[:-1])


@pytest.mark.parametrize("name", SIX)
def test_every_format_whole_and_streamed_and_as_events(running: Running, name: str) -> None:
    """The bytes are the same each way; other tests decode them."""
    asked = fields(response_format=name)
    with client(f"{running.url}/v1") as openai_client:
        speech = openai_client.audio.speech
        whole = speech.create(**asked, instructions="Speak softly.").read()
        with speech.with_streaming_response.create(**asked) as answer:
            pieces = list(answer.iter_bytes())
        with speech.with_streaming_response.create(**asked, stream_format="sse") as answer:
            events = sound_of(answer.iter_lines())
    assert b"".join(pieces) == whole == events == running.speech(input=TEXT, response_format=name).content
    assert len(pieces) > 1


@pytest.mark.parametrize("name", SIX)
async def test_every_format_with_the_asynchronous_client(running: Running, name: str) -> None:
    """The bytes are the same each way."""
    asked = fields(response_format=name)
    async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as openai_client:
        speech = openai_client.audio.speech
        whole = (await speech.create(**asked)).read()
        async with speech.with_streaming_response.create(**asked) as answer:
            pieces = [piece async for piece in answer.iter_bytes()]
        async with speech.with_streaming_response.create(**asked, stream_format="sse") as answer:
            events = sound_of([line async for line in answer.iter_lines()])
    assert b"".join(pieces) == whole == events
    if name == "pcm":
        assert whole == to_s16le(running.synthesizer.speak(TEXT).samples)


@pytest.mark.parametrize(("given", "param"), WRONG)
def test_an_invalid_request_is_a_bad_request(running: Running, given: dict[str, Any], param: str) -> None:
    """The error names the field at fault."""
    with client(f"{running.url}/v1") as openai_client, pytest.raises(openai.BadRequestError) as caught:
        openai_client.audio.speech.create(**fields(**given))
    assert (caught.value.status_code, caught.value.param) == (400, param)
    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id


@pytest.mark.parametrize(
    ("what", "error", "code"),
    [
        ("key", openai.AuthenticationError, "invalid_api_key"),
        ("scope", openai.PermissionDeniedError, "insufficient_scope"),
        ("busy", openai.RateLimitError, "quota_exceeded"),
        ("failing", openai.InternalServerError, "synthesis_failed"),
    ],
)
def test_refusals_are_openais_error_classes(
    refusing: dict[str, tuple[str, str]], what: str, error: type[openai.APIStatusError], code: str
) -> None:
    """Programs that handle OpenAI's errors handle ours."""
    with client(*refusing[what]) as openai_client, pytest.raises(error) as caught:
        openai_client.audio.speech.create(**fields())
    assert caught.value.code == code


async def test_refusals_with_the_asynchronous_client(refusing: dict[str, tuple[str, str]]) -> None:
    """The class is the same."""
    url, key = refusing["busy"]
    async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0) as openai_client:
        with pytest.raises(openai.RateLimitError):
            await openai_client.audio.speech.create(**fields())


def test_an_unknown_model_is_not_found(running: Running) -> None:
    """The class is that for OpenAI's server."""
    with client(f"{running.url}/v1") as openai_client:
        assert openai_client.models.retrieve("tone").id == "tone"
        with pytest.raises(openai.NotFoundError):
            openai_client.models.retrieve("gpt-9")


@pytest.mark.parametrize("stream_format", ["audio", "sse"])
def test_a_truncated_response_raises(cut: Running, stream_format: str) -> None:
    """The body is read whole."""
    asked: dict[str, Any] = fields(response_format="pcm", stream_format=stream_format)
    with client(f"{cut.url}/v1") as openai_client, pytest.raises(openai.APIConnectionError):
        openai_client.audio.speech.create(**asked)


@pytest.mark.parametrize("stream_format", ["audio", "sse"])
def test_a_truncated_stream_raises(cut: Running, stream_format: str) -> None:
    """The error comes after the last piece."""
    asked: dict[str, Any] = fields(response_format="pcm", stream_format=stream_format)
    pieces = []
    with (
        client(f"{cut.url}/v1") as openai_client,
        openai_client.audio.speech.with_streaming_response.create(**asked) as answer,
        pytest.raises(Exception, match="incomplete chunked read"),  # of httpx or httpx2, depending on the version
    ):
        for piece in answer.iter_bytes():
            pieces.append(piece)  # noqa: PERF402 - the pieces before the error are checked
    assert pieces


def test_a_timeout_of_the_client_stops_the_work() -> None:
    """It raises the timeout class, and the stream ends."""
    with running_server() as running:
        running.gate.close()
        with client(f"{running.url}/v1", timeout=0.3) as openai_client, pytest.raises(openai.APITimeoutError):
            openai_client.audio.speech.create(**fields())
        running.wait_until(lambda: running.synthesizer.num_streams == 0)


@pytest.mark.voices
@pytest.mark.parametrize("text", ["三点半见。", "See you at half past three."])
def test_real_voices(voices: tuple[str, Synthesizer], text: str) -> None:
    """The audio is exact to the sample."""
    url, synthesizer = voices
    with client(f"{url}/v1") as openai_client:
        sound = openai_client.audio.speech.create(**fields(input=text, response_format="pcm")).read()
    assert sound == to_s16le(synthesizer.speak(text).samples)
