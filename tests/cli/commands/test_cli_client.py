"""``yuliu client`` with a server on a real socket."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from native import TEXT, pcm_of
from program import wav_samples
from serving import running_server

from yuliu.audio.pcm import to_s16le
from yuliu.cli.audio_io.speak import speak
from yuliu.cli.audio_io.speech_output import DevicePlayback, SpeechOutput
from yuliu.cli.console.latency_table import latency_table, moments_of
from yuliu.client import AsyncClient, SoundDevice
from yuliu.types import Cancelled, Finished

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from program import Start
    from serving import Running

    from yuliu.client import ClientStream

PATIENCE_S = 30.0
"""Timeout of a program, reached only by failing tests, seconds."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server() as server:
        yield server


def test_file_has_the_samples_of_the_library(running: Running, start: Start, tmp_path: Path) -> None:
    """A WAV file holds exactly the samples that the library makes."""
    out = tmp_path / "out.wav"
    process = start("client", TEXT, "--url", running.url, "-o", out)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert wav_samples(out) == pcm_of(running, TEXT)


@pytest.mark.parametrize(
    ("name", "head"), [("a.mp3", b"\xff\xf3"), ("a.flac", b"fLaC"), ("a.ogg", b"OggS"), ("a.pcm", b"")]
)
def test_suffix_selects_the_format(running: Running, start: Start, tmp_path: Path, name: str, head: bytes) -> None:
    """The format follows the suffix, as with ``yuliu say``."""
    process = start("client", TEXT, "--url", running.url, "-o", tmp_path / name)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    content = (tmp_path / name).read_bytes()
    assert content.startswith(head)
    assert (content == pcm_of(running, TEXT)) is (name == "a.pcm")


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("Good. \N{GRINNING FACE}", 0, b"yuliu: not spoken: 1 character (1 emoji)\n"),
        (
            "\N{GRINNING FACE}",
            1,
            b"yuliu: error: nothing was spoken: the text was skipped: 1 character (1 emoji)\n",
        ),
    ],
)
def test_skipped_text_is_reported(
    running: Running, start: Start, tmp_path: Path, text: str, code: int, message: bytes
) -> None:
    """The report names the rules; ``-q`` shows errors only."""
    arguments = ("client", text, "--url", running.url, "-o", tmp_path / "out.wav")
    _, errors = start(*arguments).communicate(timeout=PATIENCE_S)
    assert errors == message
    process = start(*arguments, "-q")
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (code, message if code else b"")


def test_standard_input_to_standard_output(running: Running, start: Start) -> None:
    """Piped text becomes bare samples."""
    process = start("client", "--url", running.url, "-o", "-", "--format", "pcm")
    sound, errors = process.communicate(TEXT.encode(), timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert sound == pcm_of(running, TEXT)


def test_latency_parts_add_up_to_the_whole(running: Running, start: Start, tmp_path: Path) -> None:
    """In a single run, the sum is within 5 % of the whole, and no part is negative beyond rounding."""
    arguments = ("client", "Hello there.", "--url", running.url, "-o", tmp_path / "out.wav", "--latency", "--json")
    process = start(*arguments)
    out, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    figures = json.loads(out)
    assert sum(figures["parts_ms"].values()) == pytest.approx(figures["whole_ms"], rel=0.05)
    assert min(figures["parts_ms"].values()) >= -0.1
    assert figures["clock"]["uncertainty_ms"] > 0
    assert figures["resumed"] == 0


def test_latency_parts_of_each_run_add_up(running: Running, start: Start) -> None:
    """All runs are listed, the first one excludes connecting, and the medians are those of the runs."""
    process = start("client", TEXT, "--url", running.url, "-o", "/dev/null", "--latency", "--runs", "5", "--json")
    out, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    figures = json.loads(out)
    assert len(figures["each"]) == figures["runs"] == 5
    for run in figures["each"]:
        assert sum(run["parts_ms"].values()) == pytest.approx(run["whole_ms"], abs=0.02)
        assert min(run["parts_ms"].values()) >= -0.1
    assert sum(figures["parts_ms"].values()) == pytest.approx(figures["whole_ms"], abs=0.02)
    for name, part_ms in figures["medians_ms"].items():
        assert part_ms == sorted(run["parts_ms"][name] for run in figures["each"])[2]
    assert figures["whole_ms"] == sorted(run["whole_ms"] for run in figures["each"])[2]


def test_lost_connections_are_reported() -> None:
    """The table mentions runs that were resumed."""
    clock = {"offset_ms": 0, "uncertainty_ms": 0.1, "round_trip_ms": 0.2}
    figures = {"runs": 3, "parts_ms": {"one": 10.0}, "sum_ms": 10.0, "whole_ms": 10.0, "network_back_ms": 0.0}
    assert "lost" not in latency_table({**figures, "clock": clock, "resumed": 0})
    assert "1 run lost the connection" in latency_table({**figures, "clock": clock, "resumed": 1})


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("Hello.", "--voice", "nobody", "-o", "/dev/null"), 2, b"voice"),
        (("Hello.", "--runs", "2", "-o", "/dev/null"), 2, b"need --latency"),
        (("--latency", "-o", "/dev/null"), 2, b"needs TEXT"),
        (("Hello.", "--latency", "-o", "-"), 2, b"for the figures"),
        (("...", "-o", "/dev/null"), 1, b"nothing"),
    ],
)
def test_errors_are_reported(
    running: Running, start: Start, arguments: tuple[str, ...], code: int, words: bytes
) -> None:
    """The message goes to standard error, and the exit code shows the kind of error."""
    process = start("client", "--url", running.url, *arguments)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, errors
    assert words in errors


def test_slow_pipe_is_spoken_as_it_arrives(running: Running, start: Start) -> None:
    """Audio of the first sentence arrives while the pipe is open and silent; the rest follows."""
    process = start("client", "--url", running.url, "-o", "-", "--format", "pcm")
    assert process.stdin is not None
    assert process.stdout is not None
    for piece in ("Hel", "lo there, how ", "are you? "):
        process.stdin.write(piece.encode())
        process.stdin.flush()
    first = os.read(process.stdout.fileno(), 2_000)  # unbuffered, since communicate() ignores the buffer
    assert first
    rest, errors = process.communicate(b"I am fine.", timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert first + rest == pcm_of(running, "Hello there, how are you? I am fine.")


def test_missing_server_is_reported_with_its_address(start: Start) -> None:
    """The message names the address."""
    process = start("client", "Hello.", "--url", "http://127.0.0.1:9", "-o", "/dev/null")
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert b"no server answers at ws://127.0.0.1:9" in errors


class FakeStream:
    """``sounddevice.OutputStream`` that plays instantly."""

    latency = 0.07

    def __init__(self) -> None:
        self.samples: list[float] = []
        self.done: list[str] = []

    def write(self, samples: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        self.samples += samples[:, 0].tolist()

    def __getattr__(self, name: str) -> Any:
        return lambda: self.done.append(name)


def output_to(device: FakeStream, stream: ClientStream) -> SpeechOutput:
    playback = DevicePlayback(lambda rate: SoundDevice(device, rate))
    return SpeechOutput(partial(playback.open, stream.played))


async def pieces(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        yield text


async def test_device_plays_all_audio(running: Running) -> None:
    """Samples are played in order; silence may fill gaps where the device was faster."""
    device = FakeStream()
    async with (
        AsyncClient(running.url) as client,
        client.stream(times=True) as stream,
        output_to(device, stream) as output,
    ):
        await speak(stream, pieces(TEXT[:9], TEXT[9:]), output)
    expected = running.synthesizer.speak(TEXT).samples
    heard = to_s16le(np.array([each for each in device.samples if each], np.float32))
    assert heard == to_s16le(expected[np.abs(expected) > 0.5 / 32767])
    assert device.done == ["start", "stop", "close"]
    assert isinstance(stream.ending, Finished)
    assert stream.done is not None
    assert stream.done.times is not None
    moments = moments_of(stream, output)
    assert moments is not None
    assert moments.heard_s >= moments.given_s >= moments.received_s


async def test_unreadable_text_silences_the_device(running: Running) -> None:
    """The audio of the text read so far is stopped."""

    async def broken() -> AsyncIterator[str]:
        yield TEXT
        raise OSError("gone")

    device = FakeStream()
    async with AsyncClient(running.url) as client:
        with pytest.raises(OSError, match="gone"):
            async with client.stream() as stream, output_to(device, stream) as output:
                await speak(stream, broken(), output)
    assert isinstance(stream.ending, Cancelled)
    assert "stop" not in device.done
