"""Player on a real sound path: PortAudio, ALSA, and a sound server whose output is recorded."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sound_server
from sound_server import SoundServer

from yuliu.audio.resample import Resampler
from yuliu.playback import device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.types import Samples

PROGRAM = Path(sound_server.__file__).with_name("play_samples.py")
SILENCE_S = 0.1
"""Silence before the audio, seconds: null sinks do not record the first 10 ms of a player."""
RATES = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]
NUM_TRIES = 3
"""Attempts of each test: a busy machine may play with gaps, but not three times."""

needs_sound = pytest.mark.skipif(bool(sound_server.missing()), reason=f"not installed: {sound_server.missing()}")


@pytest.fixture(scope="module")
def server() -> Iterator[SoundServer]:
    with_sound = SoundServer()
    yield with_sound
    with_sound.close()


@pytest.fixture
def mortal() -> Iterator[SoundServer]:
    """Sound server that a test may kill."""
    server = SoundServer()
    yield server
    server.close()


def ramp(num_samples: int) -> Samples:
    """Return different samples, none of which is silent."""
    return (np.arange(1, num_samples + 1) / (2 * num_samples)).astype(np.float32)


class Playing:
    """Program that plays samples."""

    def __init__(self, server: SoundServer, folder: Path, samples: Samples, sample_rate: int, *more: str) -> None:
        path = folder / "samples"
        path.write_bytes(np.concatenate([np.zeros(round(SILENCE_S * sample_rate), np.float32), samples]).tobytes())
        command = [sys.executable, str(PROGRAM), str(sample_rate), str(path), *more]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env={**os.environ, **server.environ}, stdout=pipe, stderr=pipe)

    def told(self) -> dict[str, Any]:
        """Return the report at its end."""
        out, errors = self.process.communicate(timeout=sound_server.PATIENCE_S)
        assert self.process.returncode == 0, errors
        told: dict[str, Any] = json.loads(out)
        return told


def tried(once: Callable[[], str]) -> None:
    """Repeat until an attempt reports no problem."""
    complaints = []
    for _ in range(NUM_TRIES):
        complaints.append(once())
        if not complaints[-1]:
            return
    raise AssertionError(complaints)


@needs_sound
@pytest.mark.parametrize("sample_rate", RATES)
def test_device_plays_exactly_the_samples(server: SoundServer, tmp_path: Path, sample_rate: int) -> None:
    """The recording equals the samples, without a gap."""
    samples = ramp(sample_rate)

    def once() -> str:
        sink = server.sink(sample_rate)
        told = Playing(server, tmp_path, samples, sample_rate).told()
        heard = sink.heard()
        sink.pull()
        assert told["position_s"] == pytest.approx(SILENCE_S + 1)
        assert "error" not in told
        return "" if np.array_equal(heard, samples) else f"{len(heard)} of {len(samples)}, {told}"

    tried(once)


@needs_sound
@pytest.mark.parametrize("device_rate", RATES[-2:])
def test_device_of_another_rate_plays_resampled_audio(server: SoundServer, tmp_path: Path, device_rate: int) -> None:
    """The recording has the same length, and correlates with the resampled audio."""
    t = np.arange(24_000) / 24_000
    window = np.hanning(24_000)
    samples = (0.2 * window * (np.sin(2 * np.pi * 220 * t) + np.sin(2 * np.pi * 337 * t))).astype(np.float32)
    resampler = Resampler(24_000, device_rate)
    wanted = np.concatenate([resampler.push(samples), resampler.flush()])

    def once() -> str:
        sink = server.sink(device_rate)
        Playing(server, tmp_path, samples, 24_000).told()
        heard = sink.heard()
        sink.pull()
        likeness = np.correlate(heard, wanted, "same").max() / (np.linalg.norm(heard) * np.linalg.norm(wanted))
        extra_s = (len(heard) - len(wanted)) / device_rate
        return "" if likeness > 0.999 and abs(extra_s) < 0.02 else f"likeness {likeness}, {extra_s} s more"

    tried(once)


@needs_sound
def test_stop_silences_the_device(server: SoundServer, tmp_path: Path) -> None:
    """Silence comes within 50 ms, and the position is what was heard."""
    samples = ramp(72_000)

    def once() -> str:
        sink = server.sink(24_000)
        told = Playing(server, tmp_path, samples, 24_000, "0.7").told()
        heard = sink.heard()
        sink.pull()
        heard_s = SILENCE_S + len(heard) / 24_000
        late_s, wrong_s = heard_s - told["stopping_at_s"], heard_s - told["position_s"]
        is_right = np.array_equal(heard, samples[: len(heard)]) and late_s < 0.05 and abs(wrong_s) < 0.03
        return "" if is_right else f"{told}, heard {heard_s}"

    tried(once)


@needs_sound
@pytest.mark.parametrize("how", ["pulled", "killed"])
def test_removed_device_is_reported(mortal: SoundServer, tmp_path: Path, how: str) -> None:
    """The program reports the error immediately, and ends normally."""
    sink = mortal.sink(24_000)
    playing = Playing(mortal, tmp_path, ramp(24_000 * 60), 24_000)
    sink.until_it_plays()
    if how == "pulled":
        sink.pull()
    else:
        mortal.close()
    told = playing.told()
    sink.close()
    assert "was removed" in told["error"]
    assert told["position_s"] < 30


@needs_sound
def test_hanging_sound_server_is_reported(mortal: SoundServer, tmp_path: Path) -> None:
    """Neither stopping nor the end of the program waits for the server, and the program does not crash."""
    sink = mortal.sink(24_000)
    playing = Playing(mortal, tmp_path, ramp(24_000 * 60), 24_000, "3")
    sink.until_it_plays()
    mortal.freeze()
    told = playing.told()
    mortal.close()
    sink.close()
    assert "takes no audio" in told["error"]


@needs_sound
def test_missing_sound_server_is_reported(mortal: SoundServer, tmp_path: Path) -> None:
    """Opening the device fails with a message."""
    mortal.close()
    playing = Playing(mortal, tmp_path, ramp(100), 24_000)
    _, errors = playing.process.communicate(timeout=sound_server.PATIENCE_S)
    assert b"SoundDeviceFailed: no usable sound device" in errors


def test_portaudio_is_not_closed_while_it_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """At exit, PortAudio is closed only if no device is open."""
    left: list[str] = []

    class Module:
        @staticmethod
        def _exit_handler() -> None:
            left.append("left")

    registered: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", registered.append)
    monkeypatch.setattr(device, "_exits", [])
    monkeypatch.setattr(device, "_open", set())
    device._leave_only_what_is_closed(Module)
    device._leave_only_what_is_closed(Module)
    assert len(registered) == 1
    registered[0]()
    assert left == ["left"]
    device._open.add(device.SoundDevice(None, 24_000))
    registered[0]()
    assert left == ["left"]
