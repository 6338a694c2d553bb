"""Speech over HTTP, as clients see it: a real server on a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import json
import wave
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest
from serving import PATIENCE_S, read_answer, receive_all, running_server, speech_bytes

from yuliu.audio.pcm import to_s16le
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import SynthesisFailed
from yuliu.server.limits import Limits
from yuliu.wire.openai import SpeechLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

LONG = "one two three four five six seven eight nine ten. " * 8
"""Eight sentences of a second each."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server with default limits, shared by the tests of this file."""
    with running_server() as server:
        yield server


def error_of(answer: httpx.Response) -> dict[str, Any]:
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def test_pcm_is_the_sound_and_nothing_else(running: Running) -> None:
    """A PCM response is the library's samples."""
    text = "你好，hello world. 再见。"
    answer = running.speech(input=text, response_format="pcm")
    assert answer.status_code == 200
    assert answer.content == to_s16le(running.synthesizer.speak(text).samples)


def test_wav_is_a_header_before_the_same_sound(running: Running) -> None:
    """A WAV response is mono 16-bit at the voice's rate, with the same samples."""
    answer = running.speech(input=LONG)
    with wave.open(io.BytesIO(answer.content)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
        assert file.readframes(10**9) == to_s16le(running.synthesizer.speak(LONG).samples)


def test_the_headers_say_how_to_read_the_sound(running: Running) -> None:
    """The headers describe raw samples and disable proxy buffering."""
    headers = running.speech(input="hello", response_format="pcm").headers
    assert headers["content-type"] == "audio/pcm"
    assert headers["x-sample-rate"] == "24000"
    assert headers["x-channels"] == "1"
    assert headers["x-encoding"] == "pcm_s16le"
    assert headers["x-accel-buffering"] == "no"
    assert headers["transfer-encoding"] == "chunked"
    assert running.speech(input="hello").headers["content-type"] == "audio/wav"


def test_a_request_id_is_kept_or_made(running: Running) -> None:
    """A safe request id is echoed; any other is replaced."""
    for given, kept in (("turn-7", True), ("a b", False), ("x" * 200, False), ("", False)):
        answer = running.client.post("/v1/audio/speech", json={"input": "hi"}, headers={"X-Request-Id": given})
        assert (answer.headers["x-request-id"] == given) is kept
    assert running.client.get("/nowhere").headers["x-request-id"]
    assert running.speech(input="").headers["x-request-id"]


def test_speed_changes_the_length(running: Running) -> None:
    """Double speed gives half the audio, except for the silent head."""
    slow, fast = (len(running.speech(input=LONG, speed=speed, response_format="pcm").content) for speed in (1, 2))
    assert fast == pytest.approx(slow / 2, rel=0.05)


@pytest.mark.parametrize("response_format", ["pcm", "wav"])
def test_openais_client_streams(running: Running, response_format: Any) -> None:
    """OpenAI's own client gets the sound in pieces, and whole."""
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
        request = client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="alloy", input=LONG, response_format=response_format
        )
        with request as answer:
            pieces = list(answer.iter_bytes())
    assert len(pieces) > 1
    assert b"".join(pieces) == running.speech(input=LONG, response_format=response_format).content


def test_openais_client_raises_its_own_errors(running: Running) -> None:
    """OpenAI's client raises its own classes with message and field."""
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError, match="no such voice") as caught:
            client.audio.speech.create(model="tts-1", voice="nobody", input="hi", response_format="pcm")
        assert (caught.value.param, caught.value.code) == ("voice", "unknown_voice")
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="x", messages=[])
        assert "tone" in [model.id for model in client.models.list()]
        assert client.models.retrieve("tone").id == "tone"


def test_sound_comes_while_later_sound_is_made() -> None:
    """The first chunk is sent before the second step is done."""
    with running_server() as running:
        running.gate.close()
        raw = running.connect()
        running.send_speech(raw, input=LONG)
        running.gate.pass_one()
        assert raw.recv(65_536).startswith(b"HTTP/1.1 200")
        running.wait_until(lambda: running.engine.num_steps == 2)
        assert running.synthesizer.num_streams == 1


def test_the_wav_header_comes_with_the_first_sound(running: Running) -> None:
    """Header and first samples are one chunk of the body, so that no player starts on a header alone."""
    raw = running.connect()
    running.send_speech(raw, input="hello")
    size, _, chunk = read_answer(raw).partition(b"\r\n\r\n")[2].partition(b"\r\n")
    assert chunk.startswith(b"RIFF")
    assert int(size, 16) > 44


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        ({}, "input", "invalid_request"),
        ({"input": ""}, "input", "nothing_to_speak"),
        ({"input": " \n"}, "input", "nothing_to_speak"),
        ({"input": "……！？"}, "input", "nothing_to_speak"),
        ({"input": "hi", "voice": "nobody"}, "voice", "unknown_voice"),
        ({"input": "hi", "model": "nothing"}, "model", "invalid_request"),
        ({"input": "hi", "response_format": "ogg"}, "response_format", "invalid_request"),
        ({"input": "hi", "response_format": "opus", "sample_rate": 44_100}, "sample_rate", "invalid_request"),
        ({"input": "hi", "response_format": "alaw", "channels": 2}, "channels", "invalid_request"),
        ({"input": "hi", "response_format": "wav", "kbps": 64}, "kbps", "invalid_request"),
        ({"input": "hi", "stream_format": "events"}, "stream_format", "invalid_request"),
        ({"input": "hi", "speed": 9}, "speed", "invalid_request"),
        ({"input": "\ud83d"}, "input", "invalid_request"),
    ],
)
def test_a_bad_request_is_refused_whole(running: Running, fields: dict[str, Any], param: str, code: str) -> None:
    """A bad request is a 400 that names the field, and opens no stream."""
    answer = running.speech(**fields)
    assert answer.status_code == 400
    assert (error_of(answer)["param"], error_of(answer)["code"]) == (param, code)
    assert running.synthesizer.num_streams == 0


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_too_large_is_not_read(declared: bool) -> None:
    """A body above the limit is refused by its declared or actual size."""
    body = b" " * 5_000
    with running_server(Limits(speech=SpeechLimits(max_body_bytes=1_000))) as running:
        answer = running.client.post(
            "/v1/audio/speech",
            content=body if declared else iter([body]),
            headers={"Content-Type": "application/json"},
        )
        assert (answer.status_code, error_of(answer)["code"]) == (413, "body_too_large")
        assert running.speech(input="hi").status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_a_wrong_method_is_refused(running: Running, method: str) -> None:
    """Other methods than POST get 405."""
    answer = running.client.request(method, "/v1/audio/speech")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        assert error_of(answer)["code"] == "method_not_allowed"


@pytest.mark.parametrize("script", [{"fail_plans": frozenset({0, 1})}, {"fail_steps": frozenset({0, 1})}])
@pytest.mark.parametrize("error", [SynthesisFailed, ValueError])
def test_a_failure_before_the_first_sound_is_a_500(script: dict[str, Any], error: type[Exception] | None) -> None:
    """An engine that fails at once gives a clean error and no sound, and the next request is served."""
    with running_server(error=error, **script) as running:
        answer = running.speech(input=LONG)
        assert (answer.status_code, error_of(answer)["code"]) == (500, "synthesis_failed")
        assert running.synthesizer.num_streams == 0
        assert running.speech(input=LONG).status_code == 200


def test_a_step_without_sound_is_no_first_sound() -> None:
    """A failure after an empty step is still a clean error."""
    engine = ToneEngine(ToneScript(fail_steps=frozenset({1, 2})), manner="remote")
    with running_server(engine=engine) as running:
        assert running.speech(input=LONG).status_code == 500
        assert engine.num_steps == 3
        assert len(running.speech(input="hello", response_format="pcm").content) == 2 * 12 * ToneEngine.HOP


@pytest.mark.parametrize("script", [{"fail_plans": frozenset({3, 4, 5, 6})}, {"fail_steps": frozenset({1, 2})}])
def test_a_failure_after_the_first_sound_cuts_the_body_off(script: dict[str, Any]) -> None:
    """A failure amid the audio leaves the body without an end."""
    with running_server(**script) as running:
        raw = running.connect()
        running.send_speech(raw, input=LONG)
        received = receive_all(raw)
        assert received.startswith(b"HTTP/1.1 200")
        assert b"RIFF" in received
        assert not received.endswith(b"0\r\n\r\n")
        assert running.synthesizer.num_streams == 0


def test_httpx_sees_that_the_body_was_cut_off() -> None:
    """A common client raises, after it has given what came before the failure."""
    with running_server(fail_steps=frozenset({1, 2})) as running:
        pieces: list[bytes] = []
        with (
            pytest.raises(httpx.RemoteProtocolError),
            running.client.stream("POST", "/v1/audio/speech", json={"input": LONG}) as answer,
        ):
            pieces.extend(answer.iter_raw())
        assert pieces
        assert running.speech(input="hello").status_code == 200


async def test_concurrent_requests_do_not_mix(running: Running) -> None:
    """Concurrent requests get the same samples as alone."""
    texts = [f"{'等一下，' * (i % 5)}number {'a' * i} it is. {'好' * i}" for i in range(24)]
    async with httpx.AsyncClient(base_url=running.url, timeout=20) as client:
        answers = await asyncio.gather(
            *(client.post("/v1/audio/speech", json={"input": text, "response_format": "pcm"}) for text in texts)
        )
    alone = [running.speech(input=text, response_format="pcm").content for text in texts]
    assert [answer.content for answer in answers] == alone


def test_one_connection_serves_many_requests(running: Running) -> None:
    """The connection stays open after sound and after errors, and is used again."""
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE_S)
    with contextlib.closing(connection):
        connection.connect()
        raw = connection.sock
        for fields, status in (({"input": "hi"}, 200), ({}, 400), ({"input": "hi"}, 200)):
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/v1/audio/speech", json.dumps(fields), headers)
            answer = connection.getresponse()
            assert answer.status == status
            assert answer.read()
            assert connection.sock is raw


def test_pipelined_requests_are_answered_in_order(running: Running) -> None:
    """Two requests sent at once on one connection get their own sound, one after the other."""
    raw = running.connect()
    raw.sendall(speech_bytes(input="hello", response_format="pcm") + speech_bytes(input="hello", response_format="wav"))
    received = b""
    while received.count(b"0\r\n\r\n") < 2:
        received += raw.recv(65_536)
    assert received.index(b"audio/pcm") < received.index(b"audio/wav")


def test_too_many_streams_are_refused() -> None:
    """A request above the limit gets 429 with Retry-After."""
    with running_server(Limits(max_streams=1)) as running:
        running.gate.close()
        first = running.connect()
        running.send_speech(first, input="hello")
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        refused = running.speech(input="hello")
        assert (refused.status_code, error_of(refused)["code"]) == (429, "overloaded")
        assert int(refused.headers["retry-after"]) >= 1
        running.gate.open()
        read_answer(first)
        assert running.speech(input="hello").status_code == 200


def test_a_long_text_is_read_as_it_is_spoken(running: Running) -> None:
    """A long text gives the same audio under concurrent requests."""
    text = "\n".join(f"{number} times, or “{number}.5” times (看，第{number}次)。" for number in range(200))
    whole = to_s16le(running.synthesizer.speak(text).samples)
    assert running.speech(input=text, response_format="pcm").content == whole


def test_a_long_text_does_not_pile_up(caplog: pytest.LogCaptureFixture) -> None:
    """Only a few sentences are read ahead while synthesis pauses."""
    with running_server() as running:
        running.gate.close()
        with running.connect() as raw:
            running.send_speech(raw, input="One more sentence of many. " * 700)
            running.wait_until(lambda: running.synthesizer.num_streams == 1)
            for _ in range(200):  # turns of the loop in which all of it could be read
                running.client.get("/health")
            assert 0 < running.synthesizer._scheduler.num_jobs < 60
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        running.gate.open()
        assert running.speech(input="hi").status_code == 200
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_clients_that_leave_while_their_text_is_read_are_no_fault(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """A client that leaves amid a long text causes no error."""
    for num_turns in range(25):
        with running.connect() as raw:
            running.send_speech(raw, input="12345 " * 3_000)
            for _ in range(num_turns % 5):
                running.client.get("/health")
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert running.speech(input="hi").status_code == 200
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
