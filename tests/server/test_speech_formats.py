"""Speech in every format over a real socket, decoded by FFmpeg."""

from __future__ import annotations

import json
from base64 import b64decode
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import openai
import pytest
from decoded import decoded
from serving import read_answer, receive_all, running_server, speech_bytes, unchunked

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import FORMATS, SOUND_FORMATS, choose_encoding
from yuliu.errors import SynthesisFailed
from yuliu.wire.openai import CODECS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

    from yuliu.audio.formats import Encoding, FormatName

LONG = "one two three four five six seven eight nine ten. " * 8
"""Eight sentences of a second each."""
ENDLESS = LONG * 12
"""A hundred seconds."""
CODED: tuple[FormatName, ...] = tuple(name for name in FORMATS if name not in ("pcm", "wav"))
PADDING_S = 0.1
"""Silence that MP3 and AAC have before and after the sound, both together, at most."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server with default limits, shared by the tests of this file."""
    with running_server() as server:
        yield server


def expected(running: Running, text: str, encoding: Encoding) -> bytes:
    """Return the library's encoding of the whole text."""
    samples = running.synthesizer.speak(text).samples
    with Encoder(encoding, running.synthesizer.sample_rate) as encoder:
        return encoder.write(samples) + encoder.finish()


def events_of(body: bytes) -> list[dict[str, Any]]:
    lines = [line for line in body.split(b"\n\n") if line]
    assert all(line.startswith(b"data: ") for line in lines)
    return [json.loads(line.removeprefix(b"data: ")) for line in lines]


def sound_of(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b64decode(event["audio"]) for event in events if event["type"] == "speech.audio.delta")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_what_the_encoder_makes(running: Running, name: FormatName) -> None:
    """The body is the encoder's output, with the right media type and headers."""
    encoding = choose_encoding(name, 24_000)
    answer = running.speech(input=LONG, response_format=name)
    assert answer.status_code == 200
    assert answer.content == expected(running, LONG, encoding)
    assert answer.headers["content-type"] == SOUND_FORMATS[name].media_type
    assert answer.headers["x-sample-rate"] == str(encoding.sample_rate)
    assert answer.headers["x-channels"] == "1"
    assert answer.headers["x-encoding"] == CODECS[name]
    assert answer.headers["transfer-encoding"] == "chunked"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", ["Hi.", LONG])
def test_every_format_plays_to_its_end(running: Running, name: FormatName, text: str) -> None:
    """FFmpeg decodes all audio of short and long texts."""
    encoding = choose_encoding(name, 24_000)
    heard = decoded(running.speech(input=text, response_format=name).content, encoding)
    made_s = len(running.synthesizer.speak(text).samples) / running.synthesizer.sample_rate
    heard_s = heard.shape[1] / encoding.sample_rate
    assert made_s - 0.001 <= heard_s <= made_s + PADDING_S
    assert np.abs(heard).max() > 0.05


def test_mp3_is_the_default(running: Running) -> None:
    """Without a format the response is an MP3, as OpenAI's."""
    answers = [running.speech(input="hello", response_format=name) for name in ("mp3", None, "")]
    assert {answer.headers["content-type"] for answer in answers} == {"audio/mpeg"}
    assert len({answer.content for answer in answers}) == 1
    raw = running.client.post("/v1/audio/speech", json={"input": "hello"})
    assert raw.content == answers[0].content


@pytest.mark.parametrize(
    ("fields", "rate", "channels"),
    [
        ({"response_format": "pcm", "sample_rate": 8_000}, 8_000, 1),
        ({"response_format": "pcm", "sample_rate": 48_000, "channels": 2}, 48_000, 2),
        ({"response_format": "wav", "sample_rate": 44_100}, 44_100, 1),
        ({"response_format": "flac", "sample_rate": 16_000, "channels": 2}, 16_000, 2),
        ({"response_format": "mp3", "sample_rate": 44_100, "kbps": 128}, 44_100, 1),
        ({"response_format": "opus", "sample_rate": 48_000, "channels": 2, "kbps": 96}, 48_000, 2),
        ({"response_format": "aac", "sample_rate": 16_000, "kbps": 32}, 16_000, 1),
        ({"response_format": "mulaw", "sample_rate": 8_000}, 8_000, 1),
    ],
)
def test_rate_and_channels_are_as_asked_for(running: Running, fields: dict[str, Any], rate: int, channels: int) -> None:
    """Audio and headers have the requested rate and channels."""
    answer = running.speech(input=LONG, **fields)
    assert (answer.headers["x-sample-rate"], answer.headers["x-channels"]) == (str(rate), str(channels))
    encoding = choose_encoding(
        fields["response_format"], 24_000, sample_rate=rate, num_channels=channels, kbps=fields.get("kbps")
    )
    assert answer.content == expected(running, LONG, encoding)
    heard = decoded(answer.content, encoding)
    made_s = len(running.synthesizer.speak(LONG).samples) / running.synthesizer.sample_rate
    assert heard.shape[0] == channels
    assert made_s - 0.001 <= heard.shape[1] / rate <= made_s + 2 * PADDING_S


@pytest.mark.parametrize("name", FORMATS)
def test_sound_can_be_heard_after_the_first_step(name: FormatName) -> None:
    """Every format can be played after the first step."""
    with running_server() as running:
        running.gate.close()
        raw = running.connect()
        running.send_speech(raw, input=LONG, response_format=name)
        running.gate.pass_one()
        running.wait_until(lambda: running.engine.num_steps == 2)
        received = b""
        encoding = choose_encoding(name, 24_000)
        while not decoded(chunks_of(received), encoding).shape[1]:
            received += raw.recv(65_536)
        assert running.engine.num_steps == 2


def chunks_of(received: bytes) -> bytes:
    """Return the body so far."""
    body, rest = b"", received.partition(b"\r\n\r\n")[2]
    while b"\r\n" in rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return body


@pytest.mark.parametrize("name", CODED)
@pytest.mark.parametrize("script", [{"fail_plans": frozenset({3, 4, 5, 6})}, {"fail_steps": frozenset({1, 2})}])
def test_a_failure_cuts_the_body_off(running: Running, name: FormatName, script: dict[str, Any]) -> None:
    """A failed response has no end in any format."""
    with running_server(**script) as failing:
        raw = failing.connect()
        failing.send_speech(raw, input=LONG, response_format=name)
        received = receive_all(raw)
        assert failing.synthesizer.num_streams == 0
    assert received.startswith(b"HTTP/1.1 200")
    assert not received.endswith(b"0\r\n\r\n")
    whole = expected(running, LONG, choose_encoding(name, 24_000))
    body = chunks_of(received)
    assert 0 < len(body) < len(whole)
    assert whole.startswith(body)


@pytest.mark.parametrize("name", CODED)
def test_a_failure_before_the_first_sound_is_a_500(name: FormatName) -> None:
    """A failure before any audio is a 500 in every format."""
    with running_server(error=SynthesisFailed, fail_steps=frozenset({0, 1})) as running:
        answer = running.speech(input=LONG, response_format=name)
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "synthesis_failed")


@pytest.mark.parametrize("stream_format", ["audio", "sse"])
def test_a_failing_encoder_is_reported(monkeypatch: pytest.MonkeyPatch, stream_format: str) -> None:
    """A failing encoder is a 500, or a body without an end."""

    def fail(*_: object) -> bytes:
        raise SynthesisFailed("the encoder failed")

    with running_server() as running:
        monkeypatch.setattr(Encoder, "finish", fail)
        raw = running.connect()
        running.send_speech(raw, input=LONG, response_format="mp3", stream_format=stream_format)
        received = receive_all(raw)
        assert received.startswith(b"HTTP/1.1 200")
        assert not received.endswith(b"0\r\n\r\n")
        assert (b"synthesis_failed" in received) is (stream_format == "sse")
        monkeypatch.setattr(Encoder, "write", fail)
        answer = running.speech(input=LONG, response_format="mp3", stream_format=stream_format)
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "synthesis_failed")
        assert running.synthesizer.num_streams == 0


@pytest.mark.parametrize("name", ["mp3", "flac", "alaw"])
def test_a_reader_that_does_not_read_stops_the_work(name: FormatName) -> None:
    """Encoded audio is not buffered for a client that does not read."""
    with running_server() as running:
        raw = running.connect(receive_bytes=4_096)
        running.send_speech(raw, input=ENDLESS * 4, response_format=name)
        made = -1
        while made != running.gate.num_frames:
            made = running.gate.num_frames
            for _ in range(100):
                running.client.get("/health")
        assert 0 < running.gate.num_frames < 1_500  # of 38,400; 10 ms each
        assert running.speech(input="hello").status_code == 200
        assert running.synthesizer.num_streams == 1
        raw.close()
        running.wait_until(lambda: running.synthesizer.num_streams == 0)


@pytest.mark.parametrize("name", ["mp3", "opus"])
def test_a_client_that_leaves_leaves_no_encoder(name: FormatName, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every encoder is closed, wherever the client leaves."""
    opened: list[Encoder] = []
    make = Encoder.__init__

    def noted(self: Encoder, encoding: Encoding, source_rate: int) -> None:
        make(self, encoding, source_rate)
        opened.append(self)

    monkeypatch.setattr(Encoder, "__init__", noted)
    with running_server() as running:
        for num_turns in range(12):
            with running.connect() as raw:
                running.send_speech(raw, input=ENDLESS, response_format=name)
                if num_turns > 4:
                    raw.recv(100)
                for _ in range(num_turns % 5):
                    running.client.get("/health")
            running.wait_until(lambda: running.synthesizer.num_streams == 0)
        assert running.speech(input="hello", response_format=name).status_code == 200
        running.wait_until(lambda: all(encoder._coder is None for encoder in opened))
    assert len(opened) > 4


def test_a_lead_in_comes_before_any_sound(running: Running) -> None:
    """The lead-in is sent at once in encoded formats as well."""
    with running_server() as server:
        server.gate.close()
        raw = server.connect()
        server.send_speech(raw, input="hello", response_format="opus", lead_in_ms=200)
        head = b""
        while b"OggS" not in head:
            head += raw.recv(65_536)
        assert b"x-yuliu-lead-in-ms: 200" in head.lower()
        server.gate.open()
        body = chunks_of(head + read_answer(raw))
    encoding = choose_encoding("opus", 24_000)
    heard = decoded(body, encoding)
    assert heard.shape[1] == 4_800 + len(running.synthesizer.speak("hello").samples)
    assert np.abs(heard[0, :4_000]).max() < 0.01


@pytest.mark.parametrize("name", FORMATS)
def test_events_carry_the_same_sound(running: Running, name: FormatName) -> None:
    """Events carry the same bytes, then one event with the usage."""
    answer = running.speech(input=LONG, response_format=name, stream_format="sse")
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["cache-control"] == "no-store"
    events = events_of(answer.content)
    assert [event["type"] for event in events[-2:]] == ["speech.audio.delta", "speech.audio.done"]
    assert sound_of(events) == running.speech(input=LONG, response_format=name).content
    audio_s = len(running.synthesizer.speak(LONG).samples) / 24_000
    assert events[-1]["usage"]["input_tokens"] == len(LONG)
    assert events[-1]["usage"]["output_tokens"] == -(-round(1000 * audio_s) // 50)
    assert events[-1]["usage"]["total_tokens"] == sum(list(events[-1]["usage"].values())[:2])


def test_events_come_while_later_sound_is_made() -> None:
    """The first delta is sent before the second step is done."""
    with running_server() as running:
        running.gate.close()
        raw = running.connect()
        running.send_speech(raw, input=LONG, response_format="pcm", stream_format="sse")
        running.gate.pass_one()
        received = b""
        while b"\n\n" not in received:
            received += raw.recv(65_536)
        assert sound_of(events_of(chunks_of(received)))
        assert running.engine.num_steps == 2


def test_a_failure_is_an_event_and_no_end() -> None:
    """A failure is an event, and the body has no end."""
    with running_server(fail_steps=frozenset({1, 2})) as running:
        received = b""
        with (
            pytest.raises(httpx.RemoteProtocolError),
            running.client.stream("POST", "/v1/audio/speech", json={"input": LONG, "stream_format": "sse"}) as answer,
        ):
            for piece in answer.iter_raw():
                received += piece
        *deltas, last = events_of(received)
        assert {event["type"] for event in deltas} == {"speech.audio.delta"}
        assert last["type"] == "error"
        assert last["error"]["code"] == "synthesis_failed"
        assert set(last["error"]) == {"message", "type", "param", "code"}


def test_an_error_before_any_sound_is_no_event() -> None:
    """An error before any audio has its status."""
    with running_server(fail_steps=frozenset({0, 1})) as running:
        assert running.speech(input=LONG, stream_format="sse").status_code == 500
        assert running.speech(input="…", stream_format="sse").json()["error"]["code"] == "nothing_to_speak"


def test_two_answers_on_one_connection_do_not_mix(running: Running) -> None:
    """Pipelined requests get their own formats in order."""
    raw = running.connect()
    raw.sendall(speech_bytes(input="hello", response_format="flac") + speech_bytes(input="hello", stream_format="sse"))
    received = b""
    while received.count(b"\r\n0\r\n\r\n") < 2:
        received += raw.recv(65_536)
    first = received[: received.index(b"\r\n0\r\n\r\n") + 7]
    assert unchunked(first) == running.speech(input="hello", response_format="flac").content
    second = unchunked(received[len(first) :])
    assert sound_of(events_of(second)) == running.speech(input="hello").content


def test_openais_client_takes_its_default(running: Running) -> None:
    """OpenAI's client works with its default format and an extra field."""
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
        sound = client.audio.speech.create(model="gpt-4o-mini-tts", voice="marin", input=LONG).read()
        higher = client.audio.speech.create(
            model="gpt-4o-mini-tts", voice={"id": "tone"}, input=LONG, extra_body={"sample_rate": 44_100}
        )
    assert sound == running.speech(input=LONG, response_format="mp3").content
    assert higher.response.headers["x-sample-rate"] == "44100"


def test_openais_own_reader_of_events_raises() -> None:
    """OpenAI's event reader raises on the error event."""
    with running_server(fail_steps=frozenset({1, 2})) as failing:
        body = {"input": LONG, "stream_format": "sse", "response_format": "pcm"}
        with openai.OpenAI(base_url=f"{failing.url}/v1", api_key="none", max_retries=0) as client:
            stream = client.post(
                "/audio/speech", body=body, cast_to=object, stream=True, stream_cls=openai.Stream[object]
            )
            with pytest.raises(openai.APIError, match="told to fail") as caught:
                list(stream)
    assert caught.value.code == "synthesis_failed"


def test_joints_of_chunks_are_not_in_the_bytes(running: Running) -> None:
    """Each response is one container with one head."""
    for name, mark in (("wav", b"RIFF"), ("flac", b"fLaC"), ("opus", b"OpusHead"), ("webm", b"\x1aE\xdf\xa3")):
        assert running.speech(input=LONG, response_format=name).content.count(mark) == 1
    pages = running.speech(input=LONG, response_format="opus").content.split(b"OggS")[1:]
    numbers = [int.from_bytes(page[14:18], "little") for page in pages]
    assert all(after == before + 1 for before, after in pairwise(numbers))
    assert pages[-1][1] & 4  # the page that ends the stream
