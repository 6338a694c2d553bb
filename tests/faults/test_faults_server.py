"""Faults that other speech servers had, each with what triggers it; the voice is a weightless one.

The fault and where it was reported stands with each test; docs/design/others-faults.md lists all of them.
"""

from __future__ import annotations

import http.client
import io
import json
import wave
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from decoded import decoded
from native import TEXT, SoundFrame, Talk, pcm_of, talking
from serving import PATIENCE_S, read_answer, receive_all, running_server, serving, speech_bytes, unchunked
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from yuliu.audio.formats import FORMATS, SOUND_FORMATS, FormatName, choose_encoding
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.speaker import Speaker

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from serving import Running

    from yuliu.types import Samples

SENTENCE = "one two three four five six seven eight nine ten. "
"""One second."""
LONG = SENTENCE * 100
NOTHING_TO_SAY = ["😀", "！！！", "……", "   ", "* * *"]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server with nothing out of the ordinary, which the tests of this file share."""
    with running_server() as server:
        yield server


@pytest.fixture
def gated() -> Iterator[Running]:
    """A server of one test, whose engine can be held back."""
    with running_server() as server:
        yield server


def first_sound(raw: socket.socket) -> bytes:
    """The first piece of a chunked body."""
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


# Waiting for the first sound


def test_a_second_request_does_not_wait_for_the_first_to_end(gated: Running) -> None:
    """Its first sound comes after the step under way and its own, whatever the other still has to be made.

    Kokoro-FastAPI#115 and #358: of two requests at a time the second waits, since speech is made on the event loop.
    pocket-tts#4, VibeVoice#182, XTTS#23: one request at a time.
    """
    gated.gate.close()
    first = asked_for(gated, SENTENCE * 20)
    for _ in range(6):
        gated.gate.pass_one()
    first_sound(first)
    gated.wait_until(lambda: gated.engine.num_steps == 7)
    for _ in range(100):  # turns of the loop in which all of the first one is read
        gated.client.get("/health")
    num_jobs = gated.speaker._scheduler.num_jobs
    second = asked_for(gated, SENTENCE)
    gated.wait_until(lambda: gated.speaker._scheduler.num_jobs > num_jobs)
    for _ in range(3):
        gated.gate.pass_one()
    assert first_sound(second)
    assert gated.engine.num_steps <= 7 + 3


def test_the_first_sound_is_as_soon_in_a_long_text_as_in_a_short_one(running: Running) -> None:
    """Its first piece is made of as little of the text, and is as long.

    Kokoro-FastAPI: the first piece of a text is as large as all others, so the first sound of a paragraph is late.
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


def test_a_long_stream_leaves_the_next_ones_first_sound_as_it_was(gated: Running) -> None:
    """After it, and while it goes on, a new stream's first piece is as long as that of the first one ever.

    CosyVoice model.py: the length of a piece is kept on the model and doubled while one streams, so that the first
    piece of the next user takes four times as long (#367, #1798).
    """
    alone = first_sound(asked_for(gated, SENTENCE))
    assert gated.speech(input=LONG, response_format="pcm").status_code == 200
    assert first_sound(asked_for(gated, SENTENCE)) == alone
    other = asked_for(gated, LONG)
    for _ in range(40):
        other.recv(8_192)
    assert gated.speaker.num_streams >= 1
    assert first_sound(asked_for(gated, SENTENCE)) == alone


def test_the_server_answers_while_an_engine_hangs() -> None:
    """Probes, lists and figures do not wait for a step.

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


# Who gets what


def test_who_comes_next_gets_nothing_of_who_was_there(gated: Running) -> None:
    """A client that vanished amid its sound, then another: the second has its own sound and messages alone.

    unmute: packets of one client reach the next. alltalk_tts#290: sounds of two are mixed.
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


def test_other_texts_have_other_sounds(running: Running) -> None:
    """In each format that says nothing of itself, a reply is the text's own.

    openedai-speech#102: bare samples were read as what they were not, and every reply was the same wrong speech.
    """
    for name in ("pcm", "mulaw", "alaw", "aac"):
        assert len({running.speech(input=text, response_format=name).content for text in ("one", "two", "six")}) == 3


def test_one_manner_of_asking_does_not_disturb_the_other(running: Running) -> None:
    """On one connection: text in the body, a whole request, an error, text in the body; each is answered as alone.

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


# Containers


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_pitch_is_right_in_every_format_at_every_rate(running: Running, name: FormatName, rate: int) -> None:
    """A player that believes the head, or the headers, hears the tone that was made.

    invincible-voice#7: a fast, high voice, since the rate was not told and was guessed wrong.
    """
    if SOUND_FORMATS[name].sample_rates and rate not in SOUND_FORMATS[name].sample_rates:
        pytest.skip("the format has no such rate")
    answer = running.speech(input=SENTENCE, response_format=name, sample_rate=rate)
    told = int(answer.headers["x-sample-rate"])
    assert told == rate
    (heard,) = decoded(answer.content, choose_encoding(name, 24_000, sample_rate=told))
    assert pitch_hz(heard, rate) == pytest.approx(pitch_hz(running.speaker.speak(SENTENCE).samples, 24_000), abs=2)


def pitch_hz(samples: Samples, sample_rate: int) -> float:
    """Of the strongest part."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 17))
    return float(np.argmax(spectrum)) * sample_rate / (1 << 17)


@pytest.mark.parametrize("text", [SENTENCE, SENTENCE * 90], ids=["a sentence", "a minute and a half"])
def test_a_wav_is_played_to_its_end_by_those_who_believe_its_sizes(running: Running, text: str) -> None:
    """Streamed, the sizes in its head are as large as can be; no reader stops before the last sample.

    speaches#341 and #493: about 30 s are played. XTTS: the head says that there is nothing. piper#796: a player on a
    pipe stops after the first sentences. Kokoro-FastAPI#94: a head in every piece ends the sound after the first.
    """
    body = running.speech(input=text).content
    made = running.speaker.speak(text).samples
    for reader in (read_by_wave, read_by_ffmpeg):
        assert reader(body) == len(made)
    assert body.count(b"RIFF") == 1


def read_by_wave(body: bytes) -> int:
    with wave.open(io.BytesIO(body)) as file:
        samples: bytes = file.readframes(file.getnframes())
        return len(samples) // 2


def read_by_ffmpeg(body: bytes) -> int:
    return int(decoded(body, choose_encoding("wav", 24_000)).shape[1])


# Requests


@pytest.mark.parametrize("stream_format", ["audio", "sse"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", NOTHING_TO_SAY)
def test_no_sound_is_an_error_and_no_empty_file(
    running: Running, name: FormatName, stream_format: str, text: str
) -> None:
    """Whatever the format: 400, never 200 with a head and nothing after it.

    CosyVoice: 200 without a byte for an emoji. piper http: 500 for an empty text. wyoming-piper: an end without a
    beginning. piper and Home Assistant (addons#3360): files of no length.
    """
    answer = running.speech(input=text, response_format=name, stream_format=stream_format)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "nothing_to_speak")
    if stream_format == "audio":
        headers = {"Content-Type": "text/plain"}
        answer = running.client.post(f"/v1/stream?format={name}", content=text.encode(), headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "nothing_to_speak")


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/stream?lead_in_ms=200&format=opus"])
def test_silence_ahead_of_nothing_is_no_answer(running: Running, path: str) -> None:
    """A lead-in is sent before it is known that nothing follows; the body has no proper end then, at either door.

    CosyVoice and others: 200, and nothing of the text in it.
    """
    for text, is_whole in (("hello", True), ("😀", False)):
        with running.client.stream("POST", path, **asked_with_silence(path, text)) as answer:
            assert answer.status_code == 200
            if is_whole:
                assert answer.read()
            else:
                with pytest.raises(httpx.RemoteProtocolError):
                    answer.read()


def asked_with_silence(path: str, text: str) -> dict[str, Any]:
    """What httpx is told to send."""
    if path.startswith("/v1/stream"):
        return {"content": text.encode(), "headers": {"Content-Type": "text/plain"}}
    return {"json": {"input": text, "response_format": "opus", "lead_in_ms": 200}}


def test_a_stream_without_sound_says_why(running: Running) -> None:
    """Each ends with ``started`` and ``done``, and every character was skipped by a rule that has a name.

    pipecat counts contexts without sound, since services give none and say nothing. wyoming-piper: an empty text
    gives an end without a beginning.
    """
    with talking(running.port) as talk:
        for number, text in enumerate(["", *NOTHING_TO_SAY]):
            talk.speak(text, f"c{number}", format=FORMATS[number])
            done = talk.until("done", f"c{number}")
            assert len(talk.told("started", f"c{number}")) == 1
            assert (done["num_bytes"], done["spoken"], done["failed"]) == (0, [], [])
            assert tiles([each[:2] for each in done["skipped"]], len(text))
            assert all(each[2] for each in done["skipped"])


def tiles(spans: list[list[int]], length: int) -> bool:
    """Whether spans cover a text, each character once."""
    places = [place for start, end in sorted(spans) for place in range(start, end)]
    return places == list(range(length))


def test_a_language_that_the_voice_lacks_is_told() -> None:
    """Wherever an answer has a place for it: how many characters were left out, and by which rule.

    Kokoro-FastAPI#236, #237, #327, #205: a sentence in the other language is missing, and nobody is told.
    sherpa-onnx#2248: it is read as "Chinese letter, Chinese letter".
    """
    text, missing = "Hello. 你好，世界。 Bye.", {"language_not_spoken": len("你好，世界。")}
    with english_only() as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:

        def speech(**fields: Any) -> httpx.Response:
            return client.post("/v1/audio/speech", json={"response_format": "pcm", **fields})

        while client.get("/ready").status_code != 200:
            pass
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
    """A server whose voice speaks no Mandarin; gives the port."""
    return serving(
        lambda: Speaker({"tone": lambda: ToneEngine(languages=("en",))}, {"en": {"en": "tone"}}, default="en")
    )


@pytest.mark.parametrize("number", range(1, 5))
def test_a_sentence_that_fails_is_named(number: int) -> None:
    """Nothing after it is spoken, and each character is either spoken or failed.

    Kokoro-FastAPI tts_service.py: an exception in a sentence is logged, the loop goes on: 200, and a sentence is
    missing. pocket-tts, speaches: what fails after the head ends the file as if it were whole.
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
def test_only_the_text_must_be_given(running: Running, fields: dict[str, Any]) -> None:
    """speaches#365: 422 where no model is named, for a voice that has none."""
    assert running.speech(input="hello", **fields).status_code == 200


@pytest.mark.parametrize("speed", [0, -1, 0.2, 4.1, 1e9, "fast", True])
def test_a_pace_that_cannot_be_is_refused_before_anything_is_sent(running: Running, speed: Any) -> None:
    """speaches: a speed out of range raises after the head: 200 and a broken body."""
    answer = running.speech(input="hello", speed=speed)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "speed")


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/realtime"), ("GET", "/v1/realtime"), ("POST", "/v1/audio/speeches"), ("GET", "/v1/download/x")],
)
def test_doors_that_are_not_there_say_so(running: Running, method: str, path: str) -> None:
    """speaches#585: a plugin posts to a path of another API; LocalAI#1549: what failed is a 404 on a file."""
    answer = running.client.request(method, path, json={"input": "hello"} if method == "POST" else None)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_sockets_of_other_apis_are_refused_at_once(running: Running) -> None:
    """With an answer that says which path there is, and not a connection on which nothing happens."""
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(f"ws://127.0.0.1:{running.port}/v1/realtime?model=tts-1", open_timeout=PATIENCE_S),
    ):
        pass
    assert refused.value.response.status_code == 404


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/v1/audio/voices", "/v1/presets", "/metrics", "/v1/stats"])
def test_ranges_cost_nothing(running: Running, path: str) -> None:
    """No path gives parts of files: a head of thousands of ranges is as good as none, or too large.

    CVE-2025-62727, by way of Kokoro-FastAPI's downloads: merging the ranges of one request takes minutes.
    """
    many = ",".join(f"{start}-" for start in range(4_000))
    for ranges, status in ((many, 200), (many * 4, 431)):
        answer = running.client.get(path, headers={"Range": f"bytes={ranges}"})
        assert answer.status_code == status
        assert "content-range" not in answer.headers


def test_a_flood_of_digits_is_spoken_while_others_are_served(running: Running) -> None:
    """Kokoro-FastAPI 0.7: 20,000 digits kept a regular expression busy, and with it the server."""
    raw = asked_for(running, "9" * 20_000)
    assert first_sound(raw)
    assert running.speech(input="hello", response_format="pcm").content == pcm_of(running, "hello")
    raw.close()
    running.wait_until(lambda: running.speaker.num_streams == 0)


def test_text_in_an_address_is_not_spoken(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """VibeVoice: the text is a part of the address, and so in the log of every proxy. Ours has one place for it."""
    for method, path in (("GET", "/v1/audio/speech"), ("POST", "/v1/audio/speech"), ("GET", "/v1/stream")):
        answer = running.client.request(method, f"{path}?input=secret&text=secret", headers=JSON, content="{}")
        assert 400 <= answer.status_code < 500
        assert "secret" not in answer.text
    answer = running.client.post("/v1/stream?text=secret", headers={"Content-Type": "text/plain"}, content="hello")
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "text")
    assert "secret" not in caplog.text


JSON = {"Content-Type": "application/json"}


def test_all_answers_are_told_alike(running: Running) -> None:
    """Whatever the format, and whether events or not: the same names of headers; none comes and goes.

    Kokoro-FastAPI#331, #314, #139: what captions are in, and which headers tell of them, changed between versions.
    """
    names = {
        frozenset(running.speech(input="hello", response_format=name, stream_format=kind).headers) - {"date"}
        for name in FORMATS
        for kind in ("audio", "sse")
    }
    assert len(names) == 1


def test_a_large_answer_and_a_small_one_end_alike(running: Running) -> None:
    """One last chunk, and no more bytes, for one word and for a minute (Kokoro-FastAPI#139: errors in the coding)."""
    for text in ("hi", SENTENCE * 60):
        raw = running.connect()
        raw.sendall(
            speech_bytes(input=text, response_format="opus") + b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        received = b""
        while b'{"status":"alive"}' not in received:
            received += raw.recv(65_536)
        first, _, second = received.partition(b"\r\n0\r\n\r\n")
        assert second.startswith(b"HTTP/1.1 200")
        assert unchunked(first + b"\r\n0\r\n\r\n") == running.speech(input=text, response_format="opus").content


def test_a_talk_is_never_late_for_its_own_text(gated: Running) -> None:
    """Sound of the first sentence is sent while the second is not even written.

    fish-speech#819 and #1020: "streaming" gives whole segments; vllm-omni#5316: nothing before the text has ended.
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
