"""Faults of other projects with containers, sizes, rates and empty responses; the engine is weightless.

Each test names the fault and where it was reported; docs/design/others-faults.md lists all of them.
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
    """An ordinary server, shared by the tests of this file."""
    with running_server() as server:
        yield server


def test_each_text_has_its_own_audio(running: Running) -> None:
    """In each format without a header, the audio depends on the text.

    openedai-speech#102: raw samples were misread, and every reply was the same wrong speech.
    """
    for name in ("pcm", "mulaw", "alaw", "aac"):
        assert len({running.speech(input=text, response_format=name).content for text in ("one", "two", "six")}) == 3


@pytest.mark.parametrize(("name", "rate"), AT_RATES)
def test_pitch_is_right_in_every_format_at_every_rate(running: Running, name: FormatName, rate: int) -> None:
    """A player that trusts the header of the file, or of the response, hears the right tone.

    invincible-voice#7: a fast, high voice, since the rate was not announced and was guessed wrong.
    """
    answer = running.speech(input=SENTENCE, response_format=name, sample_rate=rate)
    told = int(answer.headers["x-sample-rate"])
    assert told == rate
    (heard,) = decoded(answer.content, choose_encoding(name, 24_000, sample_rate=told))
    assert pitch_hz(heard, rate) == pytest.approx(pitch_hz(running.synthesizer.speak(SENTENCE).samples, 24_000), abs=2)


def pitch_hz(samples: Samples, sample_rate: int) -> float:
    """Return the strongest frequency."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 17))
    return float(np.argmax(spectrum)) * sample_rate / (1 << 17)


@pytest.mark.parametrize("text", [SENTENCE, SENTENCE * 90], ids=["a sentence", "a minute and a half"])
def test_a_streamed_wav_is_played_to_its_end(running: Running, text: str) -> None:
    """The sizes in its header are the maximum; readers that trust them do not stop before the last sample.

    speaches#341 and #493: about 30 s are played. XTTS: the header announces no data. piper#796: a player on a
    pipe stops after the first sentences. Kokoro-FastAPI#94: a header in every piece ends the audio after the first.
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
def test_a_text_without_speech_is_an_error(running: Running, name: FormatName, stream_format: str, text: str) -> None:
    """In every format the status is 400, never 200 with a header and nothing after it.

    CosyVoice: 200 without a byte for an emoji. piper http: 500 for an empty text. wyoming-piper: an end without a
    beginning. piper and Home Assistant (addons#3360): empty files.
    """
    answer = running.speech(input=text, response_format=name, stream_format=stream_format)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "nothing_to_speak")
    if stream_format == "audio":
        headers = {"Content-Type": "text/plain"}
        answer = running.client.post(f"/v1/stream?format={name}", content=text.encode(), headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "nothing_to_speak")


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/stream?lead_in_ms=200&format=opus"])
def test_a_lead_in_without_speech_is_not_a_whole_response(running: Running, path: str) -> None:
    """The lead-in is sent before it is known that nothing follows; the body then has no proper end, at both endpoints.

    CosyVoice and others: 200 without any speech.
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
    """Return the arguments of httpx for the request."""
    if path.startswith("/v1/stream"):
        return {"content": text.encode(), "headers": {"Content-Type": "text/plain"}}
    return {"json": {"input": text, "response_format": "opus", "lead_in_ms": 200}}


def test_a_stream_without_audio_names_the_rules(running: Running) -> None:
    """Each has ``started`` and ``done``, and every character was skipped by a named rule.

    pipecat counts contexts without audio, since services return none silently. wyoming-piper: an empty text
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
    """Return whether spans cover each character of a text once."""
    places = [place for start, end in sorted(spans) for place in range(start, end)]
    return places == list(range(length))


def test_all_responses_have_the_same_headers(running: Running) -> None:
    """The names of the headers are the same in every format, with and without events.

    Kokoro-FastAPI#331, #314, #139: the place of captions, and the headers for them, changed between versions.
    """
    names = {
        frozenset(running.speech(input="hello", response_format=name, stream_format=kind).headers) - {"date"}
        for name in FORMATS
        for kind in ("audio", "sse")
    }
    assert len(names) == 1


def test_large_and_small_responses_end_alike(running: Running) -> None:
    """There is one last chunk and no further byte, for one word and for a minute.

    Kokoro-FastAPI#139: errors in the transfer coding.
    """
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
