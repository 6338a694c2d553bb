"""Speech that is not streamed has true sizes in its head."""

from __future__ import annotations

import wave
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import pytest
from decoded import decoded
from serving import running_server

from yuliu.audio.encode import whole
from yuliu.audio.formats import FORMATS, choose_encoding
from yuliu.audio.pcm import FULL_SCALE, to_s16
from yuliu.errors import SynthesisFailed
from yuliu.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

    from yuliu.audio.formats import FormatName

TEXT = "one two three four five six seven eight nine ten. " * 4
LONG = TEXT * 80
"""More than five minutes."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server with default limits, shared by the tests of this file."""
    with running_server() as server:
        yield server


@pytest.mark.parametrize("name", FORMATS)
def test_it_is_the_whole_file_with_its_length(running: Running, name: FormatName) -> None:
    """The body is the library's file with its content length."""
    answer = running.speech(input=TEXT, response_format=name, stream=False)
    samples = to_s16(running.synthesizer.speak(TEXT).samples).astype(np.float32) / np.float32(FULL_SCALE)
    assert answer.status_code == 200
    assert answer.content == whole(samples, choose_encoding(name, 24_000), running.synthesizer.sample_rate)
    assert answer.headers["content-length"] == str(len(answer.content))
    assert "transfer-encoding" not in answer.headers


def test_the_standard_library_reads_its_true_length(running: Running) -> None:
    """The head of a WAV has the true length."""
    with wave.open(BytesIO(running.speech(input=TEXT, stream=False).content)) as file:
        assert file.getnframes() == len(running.synthesizer.speak(TEXT).samples)
        assert len(file.readframes(1 << 30)) == 2 * file.getnframes()


def test_an_mp3_is_as_long_as_its_sound(running: Running) -> None:
    """An MP3 decodes to exactly its audio."""
    body = running.speech(input=TEXT, response_format="mp3", stream=False).content
    samples = decoded(body, choose_encoding("mp3", 24_000))
    assert samples.shape[1] == len(running.synthesizer.speak(TEXT).samples)


def test_too_long_audio_is_refused_with_a_remedy(running: Running) -> None:
    answer = running.speech(input=LONG, stream=False)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "stream"
    assert "leave 'stream' out" in answer.json()["error"]["message"]
    assert running.speech(input="one.", stream=False).status_code == 200


def test_held_audio_counts_and_is_released() -> None:
    """Audio beyond the memory is a 429, and memory is released."""
    with running_server(limits=Limits(max_body_bytes_held=100_000)) as server:
        for _ in range(2):
            answer = server.speech(input=TEXT, stream=False)
            assert answer.status_code == 429
            assert answer.json()["error"]["code"] == "overloaded"
            assert "retry-after" in answer.headers
        assert server.speech(input="one.", stream=False).status_code == 200


def test_a_failure_amid_the_sound_is_a_clean_error() -> None:
    """A failure amid the audio is a clean error."""
    with running_server(error=SynthesisFailed, fail_plans=frozenset({3, 4, 5, 6})) as server:
        answer = server.speech(input=TEXT, stream=False)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "synthesis_failed"


@pytest.mark.parametrize("fields", [{"stream": "no"}, {"stream": 0}, {"stream": False, "stream_format": "sse"}])
def test_contradictory_stream_fields_are_refused(running: Running, fields: dict[str, object]) -> None:
    answer = running.speech(input="one.", **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "stream"


def test_true_and_null_stream(running: Running) -> None:
    for stream in (True, None):
        assert running.speech(input="one.", stream=stream).headers["transfer-encoding"] == "chunked"
