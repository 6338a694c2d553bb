"""The player on a real sound path: PortAudio, ALSA, a sound server, and an ear at its device."""

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
"""Before the sound: sinks that lead nowhere let the first 10 ms of any player go by unrecorded."""
RATES = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]
NUM_TRIES = 3
"""A machine that is too busy to play in time does play with gaps; it is not so three times."""

needs_sound = pytest.mark.skipif(bool(sound_server.missing()), reason=f"not installed: {sound_server.missing()}")


@pytest.fixture(scope="module")
def server() -> Iterator[SoundServer]:
    with_sound = SoundServer()
    yield with_sound
    with_sound.close()


@pytest.fixture
def mortal() -> Iterator[SoundServer]:
    """One that a test may kill."""
    server = SoundServer()
    yield server
    server.close()


def ramp(num_samples: int) -> Samples:
    """Each sample is another, and none is silence."""
    return (np.arange(1, num_samples + 1) / (2 * num_samples)).astype(np.float32)


class Playing:
    """The program, playing."""

    def __init__(self, server: SoundServer, folder: Path, samples: Samples, sample_rate: int, *more: str) -> None:
        path = folder / "samples"
        path.write_bytes(np.concatenate([np.zeros(round(SILENCE_S * sample_rate), np.float32), samples]).tobytes())
        command = [sys.executable, str(PROGRAM), str(sample_rate), str(path), *more]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env={**os.environ, **server.environ}, stdout=pipe, stderr=pipe)

    def told(self) -> dict[str, Any]:
        """What it tells at its end."""
        out, errors = self.process.communicate(timeout=sound_server.PATIENCE_S)
        assert self.process.returncode == 0, errors
        told: dict[str, Any] = json.loads(out)
        return told


def tried(once: Callable[[], str]) -> None:
    """Until there is nothing to complain about."""
    complaints = []
    for _ in range(NUM_TRIES):
        complaints.append(once())
        if not complaints[-1]:
            return
    raise AssertionError(complaints)


@needs_sound
@pytest.mark.parametrize("sample_rate", RATES)
def test_what_is_heard_is_what_was_put(server: SoundServer, tmp_path: Path, sample_rate: int) -> None:
    """To the sample, without a gap."""
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
def test_a_device_of_another_rate(server: SoundServer, tmp_path: Path, device_rate: int) -> None:
    """The same to resampling: as long, and alike."""
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
def test_stopping_is_silence(server: SoundServer, tmp_path: Path) -> None:
    """Within a few hundredths of a second; the position told is what was heard."""
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
def test_a_device_that_goes_away_is_told(mortal: SoundServer, tmp_path: Path, how: str) -> None:
    """As such, at once, by a program that ends as it should."""
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
def test_a_sound_server_that_hangs_is_told(mortal: SoundServer, tmp_path: Path) -> None:
    """Nobody waits for it: neither who stops, nor the end of the program, which does not crash either."""
    sink = mortal.sink(24_000)
    playing = Playing(mortal, tmp_path, ramp(24_000 * 60), 24_000, "3")
    sink.until_it_plays()
    mortal.freeze()
    told = playing.told()
    mortal.close()
    sink.close()
    assert "takes no audio" in told["error"]


@needs_sound
def test_no_device(mortal: SoundServer, tmp_path: Path) -> None:
    """Where no server answers."""
    mortal.close()
    playing = Playing(mortal, tmp_path, ramp(100), 24_000)
    _, errors = playing.process.communicate(timeout=sound_server.PATIENCE_S)
    assert b"SoundDeviceFailed: no usable sound device" in errors


def test_portaudio_is_left_alone_while_it_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the program; it is closed where nothing hangs."""
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
