"""A listener at a terminal stops ``yuliu client`` with a key, and continues typing."""

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
"""Latency of the fake device, seconds."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server() as server:
        yield server


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """File of the samples that the fake device played."""
    path = tmp_path / "played.f32"
    path.touch()
    return path


@pytest.fixture
def sit(running: Running, tmp_path: Path, device: Path) -> Iterator[Sit]:
    """Start ``yuliu client`` at a terminal, with a fake sound device."""
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
    """Wait until the device has received this much audio, seconds."""
    at.until_keys_are_read()
    for _ in range(3_000):
        if device.stat().st_size >= 4 * seconds * RATE:
            return
        at.look(0.01)
    raise AssertionError(at.seen)


def told(at: TerminalProgram) -> tuple[float, int, int]:
    """Return the seconds heard, the position in the text, and its length, as shown."""
    at.until("heard ")
    at.until("\n")
    found = re.search(r"heard ([\d,]+) ms, to character ([\d,]+) of ([\d,]+): ", "heard " + at.last)
    assert found, at.last
    ms, place, length = (int(each.replace(",", "")) for each in found.groups())
    return ms / 1000, place, length


@pytest.mark.parametrize("key", [" ", "\x1b"])
def test_key_stops_the_voice(sit: Sit, device: Path, running: Running, key: str) -> None:
    """The reported position is that of the device less its latency, and matches the library's word timings."""
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


def test_piped_text_is_interrupted_from_the_terminal(sit: Sit, device: Path) -> None:
    """A key interrupts while the pipe is still open, and the program ends."""
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


def test_conversation_continues_after_an_interruption(sit: Sit, device: Path) -> None:
    """The line being typed stays, waiting lines are dropped, and the next line is spoken."""
    at = sit()
    at.until("Ctrl-D ends.")
    at.type("one two three four five six seven eight nine ten\n")
    until_heard(at, device, 0.4)
    at.type("never spoken\nnext li")
    at.until("next li")
    at.type("\x1b")
    assert told(at)[2] == len("one two three four five six seven eight nine ten")
    at.until("not spoken: 1 waiting line")
    at.until("> next li")
    size = device.stat().st_size
    at.type("ne\n")
    until_heard(at, device, size / 4 / RATE + 0.3)
    at.type("\x04")
    assert at.end() == 0
    assert at.is_as_before
    assert "heard" not in at.seen


def test_line_that_cannot_be_spoken_is_reported(sit: Sit, device: Path) -> None:
    """The conversation continues after the error."""
    at = sit("--voice", "nobody")
    at.until("Ctrl-D ends.")
    at.type("Hello.\n")
    at.until("error: ")
    at.type("\x04")
    assert at.end() == 0
    assert at.is_as_before
    assert not device.stat().st_size


@pytest.mark.parametrize("how", ["ctrl-c", "SIGTERM", "SIGHUP"])
def test_terminal_is_restored(sit: Sit, device: Path, how: str) -> None:
    """The terminal is restored after every kind of interruption."""
    at = sit(LONG)
    until_heard(at, device, 0.3)
    if how == "ctrl-c":
        at.type("\x03")
    else:
        at.process.send_signal(getattr(signal, how))
    at.until("interrupted")
    assert at.end() == 130
    assert at.is_as_before


def test_terminal_is_restored_after_an_internal_error(sit: Sit) -> None:
    """The terminal is restored even after an unexpected exception."""
    at = sit(LONG, environ={"FAKE_FAULT": "1"})
    at.until("RuntimeError")
    assert at.end() == 1
    assert at.is_as_before


def test_no_keys_leaves_the_terminal_alone(sit: Sit, device: Path) -> None:
    """With --no-keys, keys are left to other programs."""
    at = sit("--no-keys", "one two three")
    for _ in range(3_000):
        if device.stat().st_size:
            break
        at.look(0.01)
    assert at.is_as_before
    at.type(" ")
    assert at.end() == 0
    assert "not heard" not in at.seen


def test_heard_text_is_shown_on_the_terminal_only(sit: Sit, device: Path, tmp_path: Path) -> None:
    """Standard error stays empty, and --quiet shows nothing."""
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
    """A key leads to silence at the device, and the reported position is what was heard."""
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
def test_skipped_text_is_reported_on_the_terminal(sit: Sit, arguments: tuple[str, ...]) -> None:
    """The report names the rule, for typed and for given texts."""
    at = sit(*arguments)
    if not arguments:
        at.until_keys_are_read()
        at.type("Good. \N{GRINNING FACE}\r")
    at.until("not spoken: 1 character (1 emoji)")
    if not arguments:
        at.type("\4")
    assert at.end() == 0
