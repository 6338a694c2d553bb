"""Encoded files and pipes, as other programs read them."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest
from decoded import decoded

from yuliu.audio.formats import FORMATS, choose_encoding
from yuliu.cli.audio_io.sinks import open_path
from yuliu.cli.audio_io.speech_options import SUFFIXES

if TYPE_CHECKING:
    from pathlib import Path

    from yuliu.audio.formats import FormatName
    from yuliu.types import Samples

RATE = 24_000
TONE: Samples = np.sin(np.arange(2 * RATE) * np.float32(0.05), dtype=np.float32) * np.float32(0.5)
CODED: list[FormatName] = [name for name in FORMATS if name not in ("wav", "pcm")]
PADDING_S = 0.1


def test_every_format_has_a_suffix() -> None:
    """Each audio format can be selected by its name as the suffix of a file."""
    assert set(FORMATS) == set(SUFFIXES.values())
    assert all(SUFFIXES[f".{name}"] == name for name in FORMATS)


@pytest.mark.parametrize("abandoned", [False, True])
@pytest.mark.parametrize("name", CODED)
def test_file_plays_to_its_end(tmp_path: Path, name: FormatName, abandoned: bool) -> None:
    """All written samples can be decoded, even after an early end."""
    path = tmp_path / f"sound.{name}"
    sink = open_path(str(path), RATE, name)
    for start in range(0, len(TONE), 7_001):
        sink.write(TONE[start : start + 7_001])
    (sink.abandon if abandoned else sink.finish)()
    encoding = choose_encoding(name, RATE)
    heard = decoded(path.read_bytes(), encoding)
    assert 2.0 - 0.001 <= heard.shape[1] / encoding.sample_rate <= 2.0 + PADDING_S


@pytest.mark.parametrize("name", ["mp3", "flac", "webm"])
def test_header_has_the_duration(tmp_path: Path, name: FormatName) -> None:
    """Players can show the duration before playing the file."""
    path = tmp_path / f"sound.{name}"
    sink = open_path(str(path), RATE, name)
    sink.write(TONE)
    sink.finish()
    with av.open(str(path)) as container:
        assert container.duration is not None
        assert container.duration / 1e6 == pytest.approx(2.0, abs=0.06)


@pytest.mark.parametrize("name", CODED)
def test_nothing_is_written_before_the_first_samples(tmp_path: Path, name: FormatName) -> None:
    """An error before the first samples leaves an older file alone."""
    path = tmp_path / "older"
    path.write_bytes(b"older")
    open_path(str(path), RATE, name).abandon()
    assert path.read_bytes() == b"older"


def test_named_pipe_receives_a_stream(tmp_path: Path) -> None:
    """A named pipe receives the same audio as a file, without corrections."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    sink = open_path(str(path), RATE, "flac")
    sink.write(TONE)
    sink.finish()
    reader.join()
    assert decoded(received[0], choose_encoding("flac", RATE)).shape[1] == len(TONE)
