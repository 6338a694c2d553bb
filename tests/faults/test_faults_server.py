"""Faults of other speech servers, each with its trigger; the engine is weightless.

Each test names the fault and where it was reported; docs/design/others-faults.md lists all of them.
"""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from native import TEXT, SoundFrame, Talk, pcm_of, talking
from serving import PATIENCE_S, read_answer, receive_all, running_server, serving
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.synthesizer import Synthesizer

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from serving import Running

    from yuliu.types import Lang

SENTENCE = "one two three four five six seven eight nine ten. "
"""One second."""
LONG = SENTENCE * 100


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """An ordinary server, shared by the tests of this file."""
    with running_server() as server:
        yield server


@pytest.fixture
def gated() -> Iterator[Running]:
    """A server for one test, with an engine that can be held back."""
    with running_server() as server:
        yield server


def first_sound(raw: socket.socket) -> bytes:
    """Return the first piece of a chunked body."""
    received = b""
    while True:
        size, found, rest = received.partition(b"\r\n\r\n")[2].partition(b"\r\n")
        if found and len(rest) >= int(size, 16):
            return rest[: int(size, 16)]
        data = raw.recv(65_536)
        assert data, received
        received += data


def asked_for(running: Running, text: str) -> socket.socket:
    raw = running.connect()
    running.send_speech(raw, input=text, response_format="pcm")
    return raw


# Time to the first audio


def test_a_second_request_does_not_wait_for_the_first(gated: Running) -> None:
    """Its first audio comes after the step in progress and its own, however much the other still needs.

    Kokoro-FastAPI#115 and #358: the second of two concurrent requests waits, because synthesis runs on the event loop.
    pocket-tts#4, VibeVoice#182, XTTS#23: one request at a time.
    """
    gated.gate.close()
    first = asked_for(gated, SENTENCE * 20)
    for _ in range(6):
        gated.gate.pass_one()
    first_sound(first)
    gated.wait_until(lambda: gated.engine.num_steps == 7)
    for _ in range(100):  # turns of the event loop in which the first response is read
        gated.client.get("/health")
    num_jobs = gated.synthesizer._scheduler.num_jobs
    second = asked_for(gated, SENTENCE)
    gated.wait_until(lambda: gated.synthesizer._scheduler.num_jobs > num_jobs)
    for _ in range(3):
        gated.gate.pass_one()
    assert first_sound(second)
    assert gated.engine.num_steps <= 7 + 3


def test_first_audio_does_not_depend_on_text_length(running: Running) -> None:
    """The first piece is made from the same part of the text, and has the same length.

    Kokoro-FastAPI: the first piece of a text is as large as all others, so the first audio of a paragraph is late.
    vllm-omni#938: eight times later for a first piece twelve times as long.
    """
    short = first_sound(asked_for(running, SENTENCE * 2))
    made = running.gate.num_frames
    with running_server() as alone:
        alone.gate.close()
        raw = asked_for(alone, LONG * 30)
        alone.gate.pass_one()
        assert first_sound(raw) == short
        assert alone.engine.num_steps <= 2
        assert made >= alone.gate.num_frames


def test_a_long_stream_does_not_delay_the_next_one(gated: Running) -> None:
    """After it and during it, the first piece of a new stream has the usual length.

    CosyVoice model.py: the length of a piece is kept on the model and doubled while one streams, so that the first
    piece of the next user takes four times as long (#367, #1798).
    """
    alone = first_sound(asked_for(gated, SENTENCE))
    assert gated.speech(input=LONG, response_format="pcm").status_code == 200
    assert first_sound(asked_for(gated, SENTENCE)) == alone
    other = asked_for(gated, LONG)
    for _ in range(40):
        other.recv(8_192)
    assert gated.synthesizer.num_streams >= 1
    assert first_sound(asked_for(gated, SENTENCE)) == alone


def test_the_server_answers_while_an_engine_hangs() -> None:
    """Probes, lists and metrics do not wait for a step.

    fish-speech: a blocking generator on the event loop stops the health check. wyoming-piper: so does synthesis.
    """
    engine = ToneEngine(ToneScript(hang_steps=frozenset({0})))
    with running_server(engine=engine) as running:
        raw = asked_for(running, SENTENCE)
        assert engine.hung.wait(PATIENCE_S)
        for path in ("/health", "/ready", "/v1/models", "/v1/audio/voices", "/metrics", "/v1/stats"):
            assert running.client.get(path).status_code == 200
            assert engine.num_steps == 1  # which hangs
        engine.released.set()
        read_answer(raw)


# Separation of clients


def test_a_client_receives_nothing_of_the_previous_one(gated: Running) -> None:
    """After a client that vanished during its audio, the next one receives only its own audio and messages.

    unmute: packets of one client reach the next. alltalk_tts#290: the audio of two is mixed.
    """
    for _ in range(5):
        with talking(gated.port) as gone:
            gone.speak(LONG, resume_s=5)
            gone.until_sound()
            gone.vanish()
        with talking(gated.port) as talk:
            talk.speak(TEXT)
            talk.until("done")
            assert talk.sound(talk.told("started")[0]["tag"]) == pcm_of(gated, TEXT)
            assert {each.tag for each in talk.received if isinstance(each, SoundFrame)} == {1}
            assert talk.told("segment")[-1]["spoken"] == "你好今天天气怎么样"


def test_kinds_of_requests_do_not_affect_each_other(running: Running) -> None:
    """On one connection, text in the body, whole requests and errors are each answered as if alone.

    wyoming-piper: after a stream, a plain request on the same connection is ignored, as a flag is never reset.
    """
    whole = running.speech(input=TEXT, response_format="pcm").content
    with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE_S)) as connection:
        for kind in ("stream", "speech", "nothing", "stream", "speech", "speech"):
            if kind == "stream":
                body: Any = iter([TEXT[:9].encode(), TEXT[9:].encode()])
                connection.request("POST", "/v1/stream", body, {"Content-Type": "text/plain"}, encode_chunked=True)
            else:
                fields = {"input": TEXT if kind == "speech" else "", "response_format": "pcm"}
                headers = {"Content-Type": "application/json"}
                connection.request("POST", "/v1/audio/speech", json.dumps(fields), headers)
            answer = connection.getresponse()
            assert answer.status == (400 if kind == "nothing" else 200), kind
            assert kind == "nothing" or answer.read() == whole, kind
            answer.read()


# Requests


def test_an_unsupported_language_is_reported() -> None:
    """Every kind of response that can holds the number of skipped characters and the rule.

    Kokoro-FastAPI#236, #237, #327, #205: a sentence in the other language is missing without notice.
    sherpa-onnx#2248: it is read as "Chinese letter, Chinese letter".
    """
    text, missing = "Hello. 你好，世界。 Bye.", {"language_not_spoken": len("你好，世界。")}
    with english_only() as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:

        def speech(**fields: Any) -> httpx.Response:
            return client.post("/v1/audio/speech", json={"response_format": "pcm", **fields})

        until_ready(client)
        events = speech(input=text, stream_format="sse").text.split("\n\n")
        last = json.loads(events[-2].removeprefix("data: "))
        assert (last["type"], last["skipped"]) == ("speech.audio.done", missing)
        assert speech(input=text, stream=False).headers["x-yuliu-skipped"] == "language_not_spoken=6"
        assert speech(input="Hello.", stream=False).headers["x-yuliu-skipped"] == ""
        assert speech(input="你好。").json()["error"]["code"] == "nothing_to_speak"
        with talking(port) as talk:
            talk.speak(text)
            ((start, end, rule),) = talk.until("done")["skipped"]
        assert (text[start:end].strip(), rule) == ("你好，世界。", "language_not_spoken")


def english_only() -> AbstractContextManager[int]:
    """Port of a server with a voice that speaks no Mandarin."""
    return serving(
        lambda: Synthesizer(
            [local_spec("tone", lambda: ToneEngine(languages=("en",)))], {"en": {"en": "tone"}}, default="en"
        )
    )


def tiles(spans: list[list[int]], length: int) -> bool:
    """Return whether spans cover each character of a text once."""
    places = [place for start, end in sorted(spans) for place in range(start, end)]
    return places == list(range(length))


@pytest.mark.parametrize("number", range(1, 5))
def test_a_failed_sentence_is_named(number: int) -> None:
    """Nothing after it is spoken, and each character is reported as spoken or failed.

    Kokoro-FastAPI tts_service.py: an exception in a sentence is logged, the loop goes on: 200, and a sentence is
    missing. pocket-tts, speaches: a failure after the header ends the file as if it were whole.
    """
    text = "".join(f"This is sentence {number} of five. " for number in "ABCDE")
    script: dict[str, Any] = {"fail_plans": frozenset(range(number, 100))}
    with running_server(**script) as running, talking(running.port) as talk:
        talk.speak(text, chunking="punctuation")
        while not (errors := talk.told("error")):
            talk.next()
            assert not talk.told("done")
        (error,) = errors
        assert error["code"] == "synthesis_failed"
        assert len(error["failed"]) == 1
        assert text[error["failed"][0][0] :].lstrip().startswith(f"This is sentence {'ABCDE'[number]}")
        assert tiles(error["spoken"] + error["failed"] + [each[:2] for each in error["skipped"]], len(text))
        assert all(end <= error["failed"][0][0] for _, end in error["spoken"])
    with running_server(**script) as running:
        raw = running.connect()
        running.send_speech(raw, input=text, chunking="punctuation")
        assert not receive_all(raw).endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("fields", [{}, {"model": None}, {"voice": None}, {"model": "", "voice": ""}])
def test_only_the_text_is_required(running: Running, fields: dict[str, Any]) -> None:
    """speaches#365: 422 without a model, for a voice that has none."""
    assert running.speech(input="hello", **fields).status_code == 200


ODD_VOICES = ("0", "carls", "tone.onnx")
NO_VOICES = ["carlson", "carls.onnx", "tone", "00", "carls+0", "../carls", "http://127.0.0.1:9/carls", "/etc/passwd"]


def test_a_voice_is_matched_by_its_whole_name() -> None:
    """Names that resemble a number, an empty value or a file are names; similar names do not match.

    piper http: "carlson.onnx" loses its last letters with the suffix, and the number of speakers is accepted as a
    speaker. openedai-speech#102: speaker 0 is treated as missing. LocalAI#8413: a wrong name is accepted.
    pocket-tts fetches any URL that a voice names.
    """
    routes: dict[str, dict[Lang, str]] = {name: {"en": "tone"} for name in ODD_VOICES}
    with (
        serving(lambda: Synthesizer([local_spec("tone", ToneEngine)], routes, default="carls")) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        until_ready(client)
        assert {each["name"] for each in client.get("/v1/audio/voices").json()["voices"]} == set(ODD_VOICES)
        for names, status in ((ODD_VOICES, 200), (NO_VOICES, 400)):
            for name in names:
                answer = client.post("/v1/audio/speech", json={"input": "hello", "voice": name})
                assert answer.status_code == status, name
                assert status == 200 or answer.json()["error"]["code"] == "unknown_voice"


def until_ready(client: httpx.Client) -> None:
    while client.get("/ready").status_code != 200:
        pass


@pytest.mark.parametrize("speed", [0, -1, 0.2, 4.1, 1e9, "fast", True])
def test_an_invalid_speed_is_refused_before_the_response(running: Running, speed: Any) -> None:
    """speaches: a speed out of range raises after the status line: 200 and a broken body."""
    answer = running.speech(input="hello", speed=speed)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "speed")


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/realtime"), ("GET", "/v1/realtime"), ("POST", "/v1/audio/speeches"), ("GET", "/v1/download/x")],
)
def test_unknown_paths_are_not_found(running: Running, method: str, path: str) -> None:
    """speaches#585: a plugin posts to a path of another API; LocalAI#1549: a failure is a 404 for a file."""
    answer = running.client.request(method, path, json={"input": "hello"} if method == "POST" else None)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_websockets_of_other_apis_are_refused(running: Running) -> None:
    """The response names the right path; the connection does not stay open in silence."""
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(f"ws://127.0.0.1:{running.port}/v1/realtime?model=tts-1", open_timeout=PATIENCE_S),
    ):
        pass
    assert refused.value.response.status_code == 404


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/v1/audio/voices", "/v1/presets", "/metrics", "/v1/stats"])
def test_range_headers_cost_nothing(running: Running, path: str) -> None:
    """No path serves parts of files: thousands of ranges are ignored, or the header is too large.

    CVE-2025-62727, by way of Kokoro-FastAPI's downloads: merging the ranges of one request takes minutes.
    """
    many = ",".join(f"{start}-" for start in range(4_000))
    for ranges, status in ((many, 200), (many * 4, 431)):
        answer = running.client.get(path, headers={"Range": f"bytes={ranges}"})
        assert answer.status_code == status
        assert "content-range" not in answer.headers


def test_a_flood_of_digits_does_not_block_others(running: Running) -> None:
    """Kokoro-FastAPI 0.7: 20,000 digits kept a regular expression busy, and with it the server."""
    raw = asked_for(running, "9" * 20_000)
    assert first_sound(raw)
    assert running.speech(input="hello", response_format="pcm").content == pcm_of(running, "hello")
    raw.close()
    running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_text_in_a_url_is_not_spoken(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """VibeVoice: the text is part of the URL, and so in the log of every proxy. Here it belongs in the body."""
    for method, path in (("GET", "/v1/audio/speech"), ("POST", "/v1/audio/speech"), ("GET", "/v1/stream")):
        answer = running.client.request(method, f"{path}?input=secret&text=secret", headers=JSON, content="{}")
        assert 400 <= answer.status_code < 500
        assert "secret" not in answer.text
    answer = running.client.post("/v1/stream?text=secret", headers={"Content-Type": "text/plain"}, content="hello")
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "text")
    assert "secret" not in caplog.text


JSON = {"Content-Type": "application/json"}


def test_audio_starts_before_the_text_has_ended(gated: Running) -> None:
    """Audio of the first sentence is sent before the second is written.

    fish-speech#819 and #1020: "streaming" returns whole segments; vllm-omni#5316: nothing before the text has ended.
    """
    with talking(gated.port) as talk:
        talk.say("start")
        talk.say("text", text="This is the first sentence of all. And th")
        talk.until_sound()
        assert not talk.told("done")
        finish(talk)


def finish(talk: Talk) -> None:
    talk.say("text", text="is is the second.")
    talk.say("end")
    assert talk.until("done")["failed"] == []
