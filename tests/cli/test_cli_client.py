"""``yuliu client`` beside a server on a real socket."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from native import TEXT, pcm_of
from program import wav_samples
from serving import running_server

from yuliu.audio.pcm import to_s16le
from yuliu.cli.commands.client import _table
from yuliu.cli.remote import PlaybackTarget, Played, play
from yuliu.client import AsyncClient, SoundDevice
from yuliu.types import Cancelled, Finished

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from program import Start
    from serving import Running

PATIENCE_S = 30.0
"""How long a program may run that must end; only met by a test that fails."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server() as server:
        yield server


def test_a_text_to_a_file(running: Running, start: Start, tmp_path: Path) -> None:
    """The same samples as here."""
    out = tmp_path / "out.wav"
    process = start("client", TEXT, "--url", running.url, "-o", out)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert wav_samples(out) == pcm_of(running, TEXT)


@pytest.mark.parametrize(
    ("name", "head"), [("a.mp3", b"\xff\xf3"), ("a.flac", b"fLaC"), ("a.ogg", b"OggS"), ("a.pcm", b"")]
)
def test_the_name_of_the_file_says_what_is_written(
    running: Running, start: Start, tmp_path: Path, name: str, head: bytes
) -> None:
    """As with ``yuliu say``."""
    process = start("client", TEXT, "--url", running.url, "-o", tmp_path / name)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    content = (tmp_path / name).read_bytes()
    assert content.startswith(head)
    assert (content == pcm_of(running, TEXT)) is (name == "a.pcm")


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("Good. \N{GRINNING FACE}", 0, b"yuliu: not spoken: 1 character (1 emoji)\n"),
        (
            "\N{GRINNING FACE}",
            1,
            b"yuliu: error: nothing was spoken: the text was left out: 1 character (1 emoji)\n",
        ),
    ],
)
def test_what_was_left_out_is_told(
    running: Running, start: Start, tmp_path: Path, text: str, code: int, told: bytes
) -> None:
    """By the names of the rules; ``-q`` asks for errors only."""
    arguments = ("client", text, "--url", running.url, "-o", tmp_path / "out.wav")
    _, errors = start(*arguments).communicate(timeout=PATIENCE_S)
    assert errors == told
    process = start(*arguments, "-q")
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (code, told if code else b"")


def test_standard_input_to_standard_output(running: Running, start: Start) -> None:
    """Bare samples, from what is piped in."""
    process = start("client", "--url", running.url, "-o", "-", "--format", "pcm")
    sound, errors = process.communicate(TEXT.encode(), timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert sound == pcm_of(running, TEXT)


def test_the_parts_of_the_time_add_up_to_the_whole(running: Running, start: Start, tmp_path: Path) -> None:
    """Within five parts of a hundred, in a single run; none is less than nothing but by rounding."""
    arguments = ("client", "Hello there.", "--url", running.url, "-o", tmp_path / "out.wav", "--latency", "--json")
    process = start(*arguments)
    told, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    figures = json.loads(told)
    assert sum(figures["parts_ms"].values()) == pytest.approx(figures["whole_ms"], rel=0.05)
    assert min(figures["parts_ms"].values()) >= -0.1
    assert figures["clock"]["uncertainty_ms"] > 0
    assert figures["resumed"] == 0


def test_the_parts_of_each_run_add_up(running: Running, start: Start) -> None:
    """All runs are there, the first has no connecting in it, and medians are of them."""
    process = start("client", TEXT, "--url", running.url, "-o", "/dev/null", "--latency", "--runs", "5", "--json")
    told, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    figures = json.loads(told)
    assert len(figures["each"]) == figures["runs"] == 5
    for run in figures["each"]:
        assert sum(run["parts_ms"].values()) == pytest.approx(run["whole_ms"], abs=0.02)
        assert min(run["parts_ms"].values()) >= -0.1
    assert sum(figures["parts_ms"].values()) == pytest.approx(figures["whole_ms"], abs=0.02)
    for name, part_ms in figures["medians_ms"].items():
        assert part_ms == sorted(run["parts_ms"][name] for run in figures["each"])[2]
    assert figures["whole_ms"] == sorted(run["whole_ms"] for run in figures["each"])[2]


def test_lost_connections_are_remarked_on() -> None:
    """They are in the figures."""
    clock = {"offset_ms": 0, "uncertainty_ms": 0.1, "round_trip_ms": 0.2}
    figures = {"runs": 3, "parts_ms": {"one": 10.0}, "sum_ms": 10.0, "whole_ms": 10.0, "network_back_ms": 0.0}
    assert "lost" not in _table({**figures, "clock": clock, "resumed": 0})
    assert "1 run lost the connection" in _table({**figures, "clock": clock, "resumed": 1})


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("Hello.", "--voice", "nobody", "-o", "/dev/null"), 2, b"voice"),
        (("Hello.", "--runs", "2", "-o", "/dev/null"), 2, b"go with --latency"),
        (("--latency", "-o", "/dev/null"), 2, b"needs TEXT"),
        (("Hello.", "--latency", "-o", "-"), 2, b"for the figures"),
        (("...", "-o", "/dev/null"), 1, b"nothing"),
    ],
)
def test_what_is_wrong_is_told(
    running: Running, start: Start, arguments: tuple[str, ...], code: int, words: bytes
) -> None:
    """On standard error, with the exit code."""
    process = start("client", "--url", running.url, *arguments)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, errors
    assert words in errors


def test_what_is_piped_slowly_is_spoken_meanwhile(running: Running, start: Start) -> None:
    """Sound of the first sentence comes while the pipe is open and silent; the rest follows."""
    process = start("client", "--url", running.url, "-o", "-", "--format", "pcm")
    assert process.stdin is not None
    assert process.stdout is not None
    for piece in ("Hel", "lo there, how ", "are you? "):
        process.stdin.write(piece.encode())
        process.stdin.flush()
    first = os.read(process.stdout.fileno(), 2_000)  # past the buffer, which communicate() does not know
    assert first
    rest, errors = process.communicate(b"I am fine.", timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert first + rest == pcm_of(running, "Hello there, how are you? I am fine.")


def test_no_server(start: Start) -> None:
    """Says where it looked."""
    process = start("client", "Hello.", "--url", "http://127.0.0.1:9", "-o", "/dev/null")
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert b"no server answers at ws://127.0.0.1:9" in errors


class FakeStream:
    """As a ``sounddevice.OutputStream`` that plays at once."""

    latency = 0.07

    def __init__(self) -> None:
        self.samples: list[float] = []
        self.done: list[str] = []

    def write(self, samples: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        self.samples += samples[:, 0].tolist()

    def __getattr__(self, name: str) -> Any:
        return lambda: self.done.append(name)


def to(device: FakeStream) -> PlaybackTarget:
    return PlaybackTarget(open_sink=lambda rate: SoundDevice(device, rate))


async def pieces(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        yield text


async def test_a_device_gets_all_of_it(running: Running) -> None:
    """In order; silence may stand between, if the device was quicker."""
    device, played = FakeStream(), Played()
    async with AsyncClient(running.url) as client:
        stream = client.stream(times=True)
        await play(stream, pieces(TEXT[:9], TEXT[9:]), to(device), played=played)
    expected = running.synthesizer.speak(TEXT).samples
    heard = to_s16le(np.array([each for each in device.samples if each], np.float32))
    assert heard == to_s16le(expected[np.abs(expected) > 0.5 / 32767])
    assert device.done == ["start", "stop", "close"]
    assert isinstance(played.ending, Finished)
    assert played.moments is not None
    assert played.times is not None
    assert played.moments.heard_s >= played.moments.given_s >= played.moments.received_s


async def test_an_unreadable_text_silences_the_device(running: Running) -> None:
    """What was read of it does not go on."""

    async def broken() -> AsyncIterator[str]:
        yield TEXT
        raise OSError("gone")

    device, played = FakeStream(), Played()
    async with AsyncClient(running.url) as client:
        with pytest.raises(OSError, match="gone"):
            await play(client.stream(), broken(), to(device), played=played)
    assert isinstance(played.ending, Cancelled)
    assert "stop" not in device.done
