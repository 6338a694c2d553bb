"""FFmpeg as the player at the end of a pipe: it plays during synthesis, completely, and without warnings."""

from __future__ import annotations

import contextlib
import select
import subprocess
import threading
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest
from serving import running_server
from third_party_clients import PATIENCE_S, ffmpeg, needs

from yuliu.audio.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from serving import Running

    from yuliu.audio.formats import FormatName
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Samples

pytestmark = needs("ffmpeg")
TEXT = "one two three four five six seven eight nine ten. " * 4
EAGER = ["-probesize", "32", "-analyzeduration", "0", "-threads", "1"]
"""Options to start with the first bytes."""
RAW = {
    "pcm": ["-f", "s16le", "-ar", "24000", "-channel_layout", "mono"],
    "mulaw": ["-f", "mulaw", "-ar", "8000", "-channel_layout", "mono"],
    "alaw": ["-f", "alaw", "-ar", "8000", "-channel_layout", "mono"],
}
"""Options for formats without a header."""
PADDING_S = {"mp3": 0.1, "aac": 0.1, "mp4": 0.014}
"""Maximum silence before and after the audio, both together."""
FIRST_STEPS = {"pcm": 1, "mulaw": 1, "alaw": 1, "wav": 8}
"""Steps after which FFmpeg plays something, if not two: it reads any WAV in pieces of 65,536 bytes."""
OUT = ["-f", "s16le", "-ac", "1", "-ar", "24000", "-flush_packets", "1", "pipe:1"]


class Player:
    """FFmpeg with a response on its standard input."""

    def __init__(self, process: subprocess.Popen[bytes], answer: httpx.Response) -> None:
        self._process = process
        self._feeding = threading.Thread(target=self._feed, args=(answer,))
        self._feeding.start()

    def first(self) -> bytes:
        """Return the first audio that it plays."""
        assert self._process.stdout is not None
        assert select.select([self._process.stdout], [], [], PATIENCE_S)[0], "it plays nothing yet"
        return self._process.stdout.read(65_536)

    def rest(self) -> tuple[bytes, str]:
        """Return the rest of the audio and the warnings; FFmpeg must succeed."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        sound, warnings = self._process.stdout.read(), self._process.stderr.read().decode()
        self._feeding.join(PATIENCE_S)
        assert self._process.wait(PATIENCE_S) == 0
        return sound, warnings

    def _feed(self, answer: httpx.Response) -> None:
        assert self._process.stdin is not None
        with self._process.stdin as pipe, contextlib.suppress(BrokenPipeError):
            for piece in answer.iter_raw():
                pipe.write(piece)


@contextlib.contextmanager
def playing(answer: httpx.Response, name: str) -> Iterator[Player]:
    """Run a player for the duration of the block."""
    command = ffmpeg(*EAGER, *RAW.get(name, []), "-i", "pipe:0", *OUT)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        try:
            yield Player(process, answer)
        finally:
            process.kill()


def request(running: Running, name: str, path: str = "/v1/audio/speech") -> AbstractContextManager[httpx.Response]:
    """Request the text at an endpoint."""
    if path == "/v1/audio/speech":
        return running.client.stream("POST", path, json={"input": TEXT, "response_format": name})
    headers = {"Content-Type": "text/plain"}
    return running.client.stream("POST", f"{path}?format={name}", content=TEXT.encode(), headers=headers)


def assert_heard(sound: bytes, made: Samples, name: str) -> None:
    """Assert that all audio was heard, with no more than the codec's padding."""
    heard = np.frombuffer(sound, np.int16) / np.float32(32_768)
    assert -0.0001 <= (len(heard) - len(made)) / 24_000 <= PADDING_S.get(name, 0.0001)
    assert np.sum(heard**2) == pytest.approx(np.sum(made**2), rel=0.1)
    if name in ("wav", "pcm", "flac"):
        assert np.abs(heard - made).max() < 1 / 16_384


def warnings_about_own_wav(made: bytes) -> list[str]:
    """Return FFmpeg's warnings about a WAV that FFmpeg itself streamed."""
    wav = subprocess.run(
        ffmpeg(*RAW["pcm"], "-i", "pipe:0", "-f", "wav", "pipe:1"), input=made, capture_output=True, check=True
    ).stdout
    return warning_lines(subprocess.run(ffmpeg("-i", "pipe:0", *OUT), input=wav, capture_output=True).stderr.decode())


def warning_lines(said: str) -> list[str]:
    """Return the lines without addresses, sorted."""
    return sorted(line.partition("] ")[2] or line for line in said.splitlines() if line)


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/stream"])
@pytest.mark.parametrize("name", FORMATS)
def test_playback_starts_during_synthesis(running: Running, name: FormatName, path: str) -> None:
    """Audio is played after two steps, before the third is done; then all of it, without a warning.

    About a WAV of unknown length FFmpeg warns even if it streamed the file itself; there must be no other warnings.
    """
    made = running.synthesizer.speak(TEXT).samples
    num_steps = FIRST_STEPS.get(name, 2)
    with running_server() as held:
        held.gate.close()
        for _ in range(num_steps):
            held.gate.pass_one()
        with request(held, name, path) as answer, playing(answer, name) as player:
            try:
                sound = player.first()
                assert held.engine.num_steps <= num_steps + 1  # one waits
            finally:
                held.gate.open()
            rest, warnings = player.rest()
    assert_heard(sound + rest, made, name)
    if name == "wav":
        assert warning_lines(warnings) == warnings_about_own_wav(sound + rest)
    else:
        assert warnings == ""


@pytest.mark.voices
@pytest.mark.parametrize("name", FORMATS)
def test_real_voices(voices: tuple[str, Synthesizer], name: FormatName) -> None:
    """There are no other warnings about speech."""
    url, synthesizer = voices
    text = "三点半见。See you there."
    body = {"input": text, "response_format": name}
    with (
        httpx.stream("POST", f"{url}/v1/audio/speech", json=body, timeout=PATIENCE_S) as answer,
        playing(answer, name) as player,
    ):
        sound, warnings = player.rest()
    assert_heard(sound, synthesizer.speak(text).samples, name)
    assert name == "wav" or warnings == ""
