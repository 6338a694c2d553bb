"""Sinks for audio. Files after an early end of the program are tested with the program."""

from __future__ import annotations

import io
import os
import sys
import threading
import wave
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import wav_samples

from yuliu.audio.pcm import to_s16le
from yuliu.audio.wav import HEADER_NUM_BYTES, UNKNOWN_NUM_BYTES
from yuliu.cli.audio_io import sinks
from yuliu.cli.audio_io.device import NoSoundDevice, default_device_name, open_device
from yuliu.cli.audio_io.sinks import Pipe, RawFile, WavFile, open_path
from yuliu.errors import InvalidRequest
from yuliu.playback.device import DEVICE_LATENCY_S

if TYPE_CHECKING:
    from pathlib import Path

RAMP = np.linspace(-1, 1, 1000, dtype=np.float32)


@given(st.lists(st.integers(0, 1000), max_size=5))
def test_wav_file_is_valid_after_every_write(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    """The header always has the true sizes."""
    path = tmp_path_factory.mktemp("wav") / "out.wav"
    sink = WavFile(str(path), 24_000)
    expected = b""
    for size in sizes:
        sink.write(RAMP[:size])
        expected += to_s16le(RAMP[:size])
        assert wav_samples(path) == expected
    sink.finish()
    assert path.exists() == bool(sizes)


def test_full_wav_file_refuses_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A WAV file holds at most 4 GiB: further samples are refused, earlier ones stay."""
    monkeypatch.setattr(sinks, "MAX_WAV_DATA_BYTES", 5000)
    sink = WavFile(str(tmp_path / "out.wav"), 24_000)
    sink.write(RAMP)
    sink.write(RAMP)
    with pytest.raises(InvalidRequest, match="4 GiB"):
        sink.write(RAMP)
    sink.abandon()
    assert len(wav_samples(tmp_path / "out.wav")) == 4000


def test_largest_wav_file_is_not_a_stream() -> None:
    """The maximum size is even, and differs from the size that means "unknown"."""
    assert sinks.MAX_WAV_DATA_BYTES % 2 == 0
    assert sinks.MAX_WAV_DATA_BYTES + HEADER_NUM_BYTES < UNKNOWN_NUM_BYTES


def test_pipe_starts_with_an_open_ended_header(tmp_path: Path) -> None:
    """The header comes once, with sizes that mean "until the end"."""
    with (tmp_path / "pipe").open("wb", buffering=0) as file:
        sink = Pipe(file, 24_000)
        sink.write(RAMP)
        sink.write(RAMP)
        sink.finish()
    content = (tmp_path / "pipe").read_bytes()
    assert content[44:] == 2 * to_s16le(RAMP)
    with wave.open(io.BytesIO(content)) as wav:
        assert wav.getframerate() == 24_000


def test_non_blocking_pipe_loses_nothing() -> None:
    """Another program may have made the shared pipe non-blocking; the sink waits for room."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    received = []

    def read() -> None:
        while block := os.read(reading, 999):
            received.append(block)

    reader = threading.Thread(target=read)
    with os.fdopen(writing, "wb", buffering=0) as file:
        sink = Pipe(file, None)
        reader.start()
        for _ in range(200):
            sink.write(RAMP)
    reader.join()
    os.close(reading)
    assert b"".join(received) == 200 * to_s16le(RAMP)


def test_path_selects_the_sink(tmp_path: Path) -> None:
    """A regular file has a header that is updated; other files cannot be updated."""
    assert isinstance(open_path(str(tmp_path / "new.wav"), 24_000, "wav"), WavFile)
    assert isinstance(open_path(str(tmp_path / "new.pcm"), 24_000, "pcm"), RawFile)
    null = open_path(os.devnull, 24_000, "wav")
    assert isinstance(null, Pipe)
    null.abandon()


DEVICE = """
class PortAudioError(Exception):
    pass

calls = []

def query_devices(kind):
    return {"name": "loudspeaker"}

class OutputStream:
    def __init__(self, **options):
        calls.append(("open", options["samplerate"], options["channels"]))
    def start(self):
        calls.append(("start",))
    def write(self, samples):
        calls.append(("write", samples.shape))
    def stop(self):
        calls.append(("stop",))
    def abort(self):
        calls.append(("abort",))
    def close(self):
        calls.append(("close",))
"""


@pytest.fixture
def device_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fake ``sounddevice.py``, which is imported instead of the real one."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    return tmp_path / "sounddevice.py"


def played() -> list[Any]:
    calls: list[Any] = sys.modules["sounddevice"].calls
    return calls


def test_device_plays_to_the_end(device_module: Path) -> None:
    """Silence follows the last samples, since some drivers drop their buffer when stopped."""
    device_module.write_text(DEVICE)
    device = open_device(24_000)
    device.write(RAMP)
    device.finish()
    silence = ("write", (round(2 * DEVICE_LATENCY_S * 24_000), 1))
    assert played() == [("open", 24_000, 1), ("start",), ("write", (1000, 1)), silence, ("stop",), ("close",)]


def test_device_falls_silent_immediately(device_module: Path) -> None:
    """The device's buffer is dropped; a device that never played is only closed."""
    device_module.write_text(DEVICE)
    device = open_device(24_000)
    device.abandon()
    assert played() == [("open", 24_000, 1), ("close",)]
    device = open_device(24_000)
    device.write(RAMP)
    device.abandon()
    assert played()[-2:] == [("abort",), ("close",)]


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("raise ImportError", r"pip install 'yuliu\[play\]'"),
        ("raise OSError('PortAudio library not found')", "libportaudio2"),
        (DEVICE.replace('return {"name"', 'raise PortAudioError; return {"name"'), "plug one in"),
    ],
)
def test_missing_device_is_reported_with_a_remedy(device_module: Path, module: str, advice: str) -> None:
    """The remedy depends on the missing part, and writing a file is always offered."""
    device_module.write_text(module)
    with pytest.raises(NoSoundDevice, match=f"{advice}.*-o out.wav"):
        default_device_name()


def test_unsupported_format_is_reported_like_a_missing_device(device_module: Path) -> None:
    """The message is the same in both cases."""
    device_module.write_text(DEVICE.replace('calls.append(("open"', 'raise PortAudioError(("open"'))
    with pytest.raises(NoSoundDevice, match="plug one in"):
        open_device(24_000)
