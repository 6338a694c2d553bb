"""Faults that others had with containers, sizes, rates and answers without sound; the voice is a weightless one.

The fault and where it was reported stands with each test; docs/design/others-faults.md lists all of them.
"""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from decoded import decoded
from native import talking
from serving import running_server, speech_bytes, unchunked

from yuliu.audio.formats import FORMATS, SOUND_FORMATS, FormatName, choose_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

    from yuliu.types import Samples

SENTENCE = "one two three four five six seven eight nine ten. "
"""One second."""
AT_RATES = [
    (name, rate)
    for name in FORMATS
    for rate in (8_000, 16_000, 48_000)
    if rate in (SOUND_FORMATS[name].sample_rates or (rate,))
]
NOTHING_TO_SAY = ["😀", "！！！", "……", "   ", "* * *"]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server with nothing out of the ordinary, which the tests of this file share."""
    with running_server() as server:
        yield server


def test_other_texts_have_other_sounds(running: Running) -> None:
    """In each format that says nothing of itself, a reply is the text's own.

    openedai-speech#102: bare samples were read as what they were not, and every reply was the same wrong speech.
    """
    for name in ("pcm", "mulaw", "alaw", "aac"):
        assert len({running.speech(input=text, response_format=name).content for text in ("one", "two", "six")}) == 3


@pytest.mark.parametrize(("name", "rate"), AT_RATES)
def test_pitch_is_right_in_every_format_at_every_rate(running: Running, name: FormatName, rate: int) -> None:
    """A player that believes the head, or the headers, hears the tone that was made.

    invincible-voice#7: a fast, high voice, since the rate was not told and was guessed wrong.
    """
    answer = running.speech(input=SENTENCE, response_format=name, sample_rate=rate)
    told = int(answer.headers["x-sample-rate"])
    assert told == rate
    (heard,) = decoded(answer.content, choose_encoding(name, 24_000, sample_rate=told))
    assert pitch_hz(heard, rate) == pytest.approx(pitch_hz(running.synthesizer.speak(SENTENCE).samples, 24_000), abs=2)


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
    made = running.synthesizer.speak(text).samples
    for reader in (read_by_wave, read_by_ffmpeg):
        assert reader(body) == len(made)
    assert body.count(b"RIFF") == 1


def read_by_wave(body: bytes) -> int:
    with wave.open(io.BytesIO(body)) as file:
        samples: bytes = file.readframes(file.getnframes())
        return len(samples) // 2


def read_by_ffmpeg(body: bytes) -> int:
    return int(decoded(body, choose_encoding("wav", 24_000)).shape[1])


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
