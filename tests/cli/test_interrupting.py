"""A listener at a terminal silences ``yuliu client`` by a key, and goes on typing."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sound_server
from native import LONG
from serving import running_server
from terminal_program import FAKE_SOUNDDEVICE, TerminalProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from serving import Running

    Sit = Callable[..., TerminalProgram]

RATE = 24_000
LATENCY_S = 0.1
"""Of the fake device."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server() as server:
        yield server


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """What the fake device played."""
    path = tmp_path / "played.f32"
    path.touch()
    return path


@pytest.fixture
def sit(running: Running, tmp_path: Path, device: Path) -> Iterator[Sit]:
    """Starts ``yuliu client`` at a terminal, with a fake sound device."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "sounddevice.py").write_text(FAKE_SOUNDDEVICE)
    sat = []

    def sit(*arguments: str, environ: dict[str, str] | None = None, **options: Any) -> TerminalProgram:
        of_device = {"PYTHONPATH": str(tmp_path / "modules"), "FAKE_DEVICE": str(device), **(environ or {})}
        at = TerminalProgram("client", "--url", running.url, *arguments, environ=of_device, **options)
        sat.append(at)
        return at

    yield sit
    for each in sat:
        each.close()


def until_heard(at: TerminalProgram, device: Path, seconds: float) -> None:
    """Wait until the device was given so much."""
    at.until_keys_are_read()
    for _ in range(3_000):
        if device.stat().st_size >= 4 * seconds * RATE:
            return
        at.look(0.01)
    raise AssertionError(at.seen)


def told(at: TerminalProgram) -> tuple[float, int, int]:
    """Seconds heard, the place in the text, and its length, as shown."""
    at.until("heard ")
    at.until("\n")
    found = re.search(r"heard ([\d,]+) ms, to character ([\d,]+) of ([\d,]+): ", "heard " + at.last)
    assert found, at.last
    ms, place, length = (int(each.replace(",", "")) for each in found.groups())
    return ms / 1000, place, length


@pytest.mark.parametrize("key", [" ", "\x1b"])
def test_a_key_stops_the_voice(sit: Sit, device: Path, running: Running, key: str) -> None:
    """What was heard is what the device was given less what it held; the text there is that of the library."""
    at = sit(LONG)
    until_heard(at, device, 1.0)
    at.type(key)
    heard_s, place, length = told(at)
    at.until("not heard: ")
    assert at.end() == 0
    assert at.is_as_before
    given_s = device.stat().st_size / 4 / RATE
    assert heard_s == pytest.approx(given_s - LATENCY_S, abs=0.03)
    assert length == len(LONG)
    timings = [each for each in running.synthesizer.speak(LONG[:100]).timings if each.start_s < heard_s]
    assert place == timings[-1].source.end
    played = np.fromfile(device, np.float32)
    assert played.any()


def test_a_pipe_is_interrupted_from_the_terminal(sit: Sit, device: Path) -> None:
    """While it is still being written; then the program ends."""
    at = sit(piped=True)
    assert at.process.stdin is not None
    at.process.stdin.write(LONG[:200].encode())
    at.process.stdin.flush()
    until_heard(at, device, 0.5)
    at.type(" ")
    _, place, length = told(at)
    assert 0 < place < length == 200
    assert at.end() == 0
    assert at.is_as_before


def test_the_conversation_goes_on(sit: Sit, device: Path) -> None:
    """Lines are spoken one after the other; a line typed meanwhile stays; those that waited are dropped."""
    at = sit()
    at.until("Ctrl-D ends.")
    at.type("one two three four five six seven eight nine ten\n")
    until_heard(at, device, 0.4)
    at.type("never spoken\nnext li")
    at.until("next li")
    at.type("\x1b")
    assert told(at)[2] == len("one two three four five six seven eight nine ten")
    at.until("not spoken: 1 line that waited")
    at.until("> next li")
    size = device.stat().st_size
    at.type("ne\n")
    until_heard(at, device, size / 4 / RATE + 0.3)
    at.type("\x04")
    assert at.end() == 0
    assert at.is_as_before
    assert "heard" not in at.seen


def test_a_line_that_cannot_be_spoken(sit: Sit, device: Path) -> None:
    """Is told, and the next one is spoken."""
    at = sit("--voice", "nobody")
    at.until("Ctrl-D ends.")
    at.type("Hello.\n")
    at.until("error: ")
    at.type("\x04")
    assert at.end() == 0
    assert at.is_as_before
    assert not device.stat().st_size


@pytest.mark.parametrize("how", ["ctrl-c", "SIGTERM", "SIGHUP"])
def test_the_terminal_is_given_back(sit: Sit, device: Path, how: str) -> None:
    """However it ends."""
    at = sit(LONG)
    until_heard(at, device, 0.3)
    if how == "ctrl-c":
        at.type("\x03")
    else:
        at.process.send_signal(getattr(signal, how))
    at.until("interrupted")
    assert at.end() == 130
    assert at.is_as_before


def test_the_terminal_is_given_back_after_a_fault(sit: Sit) -> None:
    """Also one that should not happen."""
    at = sit(LONG, environ={"FAKE_FAULT": "1"})
    at.until("RuntimeError")
    assert at.end() == 1
    assert at.is_as_before


def test_keys_may_be_left_to_others(sit: Sit, device: Path) -> None:
    """The terminal is not touched."""
    at = sit("--no-keys", "one two three")
    for _ in range(3_000):
        if device.stat().st_size:
            break
        at.look(0.01)
    assert at.is_as_before
    at.type(" ")
    assert at.end() == 0
    assert "not heard" not in at.seen


def test_the_text_is_shown_on_the_terminal_only(sit: Sit, device: Path, tmp_path: Path) -> None:
    """Not where errors are written to; and nothing with --quiet."""
    at = sit(LONG, stderr=tmp_path / "errors")
    until_heard(at, device, 0.5)
    at.type(" ")
    told(at)
    assert at.end() == 0
    assert (tmp_path / "errors").read_bytes() == b""
    at = sit(LONG, "--quiet")
    until_heard(at, device, device.stat().st_size / 4 / RATE + 0.5)
    at.type(" ")
    assert at.end() == 0
    assert at.seen == ""


@pytest.mark.skipif(bool(sound_server.missing()), reason=f"not installed: {sound_server.missing()}")
def test_with_a_real_sound_server(running: Running) -> None:
    """From the key to the ear: silence, and the position told is what was heard."""
    server = sound_server.SoundServer()
    sink = server.sink(RATE)
    at = TerminalProgram("client", "--url", running.url, LONG, environ=server.environ)
    try:
        at.until_keys_are_read()
        sink.until_it_plays()
        at.look(1.0)
        at.type(" ")
        heard_s, _, length = told(at)
        assert at.end() == 0
        assert at.is_as_before
        samples = sink.heard()
    finally:
        at.close()
        sink.close()
        server.close()
    assert length == len(LONG)
    expected = running.synthesizer.speak(LONG[:500]).samples
    first = int(np.flatnonzero(expected)[0])
    assert heard_s == pytest.approx((first + len(samples)) / RATE, abs=0.06)


@pytest.mark.parametrize("arguments", [(), ("Good. \N{GRINNING FACE}",)], ids=["typed", "given"])
def test_what_was_left_out_is_told_though_nobody_interrupted(sit: Sit, arguments: tuple[str, ...]) -> None:
    """By the name of the rule."""
    at = sit(*arguments)
    if not arguments:
        at.until_keys_are_read()
        at.type("Good. \N{GRINNING FACE}\r")
    at.until("not spoken: 1 character (1 emoji)")
    if not arguments:
        at.type("\4")
    assert at.end() == 0
