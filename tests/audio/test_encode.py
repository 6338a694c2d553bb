"""Tests of encoders that write audio as it is made."""

from __future__ import annotations

import os
import subprocess
import sys
from shutil import which
from typing import TYPE_CHECKING

import numpy as np
import psutil
import pytest
from decoded import decoded
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.encode import Encoder, whole
from yuliu.audio.formats import FORMATS, Encoding, FormatName, choose_encoding
from yuliu.audio.gain import bend
from yuliu.audio.pcm import to_s16
from yuliu.errors import Closed, SynthesisFailed

if TYPE_CHECKING:
    from pathlib import Path

    from yuliu.types import Samples

RATE = 24_000
WRITE_S = 0.02
FIRST_AUDIO_S = {"mp3": 0.1, "aac": 0.1}
"""Audio written before any of it can be decoded, at most; 0.08 s for all other formats."""
PADDING_S = {"mp3": 0.075, "aac": 0.09, "mp4": 0.02}
"""Silence that a codec adds, at most; none for all other formats."""
EXACT: list[FormatName] = ["wav", "flac", "pcm"]


def speechlike(duration_s: float, sample_rate: int = RATE) -> Samples:
    """Return a buzz of changing loudness with some noise."""
    time_s = np.arange(round(duration_s * sample_rate)) / sample_rate
    buzz = sum(np.sin(2 * np.pi * 140 * k * time_s) / k for k in range(1, 20))
    noise = np.random.default_rng(3).standard_normal(len(time_s))
    sound: Samples = ((0.2 * buzz + 0.02 * noise) * np.sin(np.pi * 3 * time_s) ** 2).astype(np.float32)
    return sound


def encoded(samples: Samples, encoding: Encoding, cuts: list[int], source_rate: int = RATE) -> bytes:
    with Encoder(encoding, source_rate) as encoder:
        pieces = [encoder.write(piece) for piece in np.split(samples, sorted(cuts))]
        return b"".join([*pieces, encoder.finish()])


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=15)
@given(
    num_samples=st.integers(0, 9000),
    cuts=st.lists(st.integers(0, 9000), max_size=8),
    source_rate=st.sampled_from([22_050, 24_000]),
    num_channels=st.sampled_from([1, 2]),
)
def test_bytes_do_not_depend_on_the_cuts(
    name: FormatName, num_samples: int, cuts: list[int], source_rate: int, num_channels: int
) -> None:
    """The same audio gives the same bytes, however it is cut, every time."""
    encoding = choose_encoding(name, source_rate, num_channels=1 if name in ("mulaw", "alaw") else num_channels)
    samples = speechlike(0.4)[:num_samples]
    assert encoded(samples, encoding, cuts, source_rate) == encoded(samples, encoding, [], source_rate)


@pytest.mark.parametrize("sample_rate", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_resampling_does_not_clip_peaks(sample_rate: int) -> None:
    """Values between samples close to full scale exceed it; they are bent, and none is clipped."""
    hot = bend(speechlike(1.0) * np.float32(10))
    assert np.abs(hot).max() > 0.99
    encoding = choose_encoding("pcm", RATE, sample_rate=sample_rate)
    for body in (encoded(hot, encoding, [5, 700]), whole(hot, encoding, RATE)):
        assert 0.95 < np.abs(np.frombuffer(body, "<i2")).max() / 32767 < 1.0


@pytest.mark.parametrize("name", FORMATS)
def test_output_can_be_decoded_early_and_stays_close_to_the_input(name: FormatName) -> None:
    """Audio can be decoded after 80 ms of input (MP3, AAC: 100); later at most 100 ms are held back."""
    encoding, sent, first_s = choose_encoding(name, RATE), b"", None
    samples = speechlike(1.0)
    with Encoder(encoding, RATE) as encoder:
        for i, piece in enumerate(np.split(samples, round(1 / WRITE_S)), 1):
            sent += encoder.write(piece)
            num_decoded = decoded(sent, encoding).shape[1]
            if num_decoded and first_s is None:
                first_s = i * WRITE_S
            assert first_s is None or i * WRITE_S - num_decoded / encoding.sample_rate <= 0.1
    assert first_s is not None
    assert first_s <= FIRST_AUDIO_S.get(name, 0.08) + 1e-9


@pytest.mark.parametrize("sample_rate", [16_000, 44_100, 48_000])
@pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "webm", "mp4"])
def test_output_can_be_decoded_early_at_other_rates(name: FormatName, sample_rate: int) -> None:
    """Long frames at low rates and long filters at high rates still fit into the same time."""
    encoding = choose_encoding(name, RATE, sample_rate=None if sample_rate == 44_100 and name != "mp3" else sample_rate)
    with Encoder(encoding, RATE) as encoder:
        limit_s = FIRST_AUDIO_S.get(name, 0.08) + (0.04 if sample_rate == 16_000 else 0.0)
        sent = b"".join(encoder.write(piece) for piece in np.split(speechlike(limit_s), round(limit_s / WRITE_S)))
    assert decoded(sent, encoding).shape[1]


@pytest.mark.parametrize("num_channels", [1, 2])
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_the_last_sample_survives(name: FormatName, num_channels: int, *, is_whole: bool) -> None:
    """A click at the very end survives; nothing is missing before it, and only codec silence follows it."""
    if name in ("mulaw", "alaw") and num_channels == 2:
        pytest.skip("G.711 is mono")
    encoding = choose_encoding(name, RATE, num_channels=num_channels)
    samples = np.zeros(RATE // 2 + 123, np.float32)
    samples[-RATE // 100 :] = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(RATE // 100) / RATE)
    sound = whole(samples, encoding, RATE) if is_whole else encoded(samples, encoding, [777, 10_000])
    channels = decoded(sound, encoding, RATE)
    assert len(channels) == num_channels
    extra_s = channels.shape[1] / RATE - len(samples) / RATE
    assert -1e-4 <= extra_s <= PADDING_S.get(name, 0.0) + 1e-4
    for channel in channels:
        assert np.square(channel).sum() == pytest.approx(np.square(samples).sum(), rel=0.2)


@pytest.mark.parametrize("num_channels", [1, 2])
@pytest.mark.parametrize("name", EXACT)
def test_lossless_formats_are_exact(name: FormatName, num_channels: int) -> None:
    """The decoded samples equal the 16-bit samples of the input."""
    encoding, samples = choose_encoding(name, RATE, num_channels=num_channels), speechlike(0.5)
    channels = decoded(encoded(samples, encoding, [100, 5000]), encoding)
    for channel in channels:
        assert np.array_equal(np.rint(channel * 0x8000).astype(np.int16), to_s16(samples))


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in EXACT])
def test_lossy_formats_are_close_to_the_input(name: FormatName) -> None:
    """The error is small compared with the signal, once both are aligned."""
    encoding, samples = choose_encoding(name, RATE), speechlike(1.0)
    channel = decoded(encoded(samples, encoding, [4000]), encoding, RATE)[0]
    size = 1 << 17
    spectrum = np.fft.rfft(channel, size) * np.conj(np.fft.rfft(samples, size))
    delay = int(np.argmax(np.fft.irfft(spectrum)))
    assert delay / RATE < 0.06
    error = channel[delay : delay + len(samples)] - samples[: len(channel) - delay]
    assert 10 * np.log10(np.square(samples).sum() / np.square(error).sum()) > 10


@pytest.mark.parametrize("name", FORMATS)
def test_samples_beyond_full_scale_are_clipped_not_wrapped(name: FormatName) -> None:
    """A tone of three times full scale becomes a square wave, not noise."""
    tone = (3 * np.sin(2 * np.pi * 200 * np.arange(RATE // 2) / RATE)).astype(np.float32)
    encoding = choose_encoding(name, RATE)
    channel = decoded(encoded(tone, encoding, []), encoding, RATE)[0]
    spectrum = np.abs(np.fft.rfft(channel * np.hanning(len(channel)))) ** 2
    frequencies = np.fft.rfftfreq(len(channel), 1 / RATE)
    is_odd_multiple = np.abs((frequencies + 200) % 400 - 200 - 200 * np.sign((frequencies + 200) % 400 - 200)) < 20
    assert spectrum[is_odd_multiple].sum() > 0.98 * spectrum.sum()


def test_a_closed_encoder_rejects_writes() -> None:
    """A finished encoder raises ``Closed``; closing it again is allowed."""
    encoder = Encoder(choose_encoding("mp3", RATE), RATE)
    encoder.write(speechlike(0.1))
    encoder.finish()
    encoder.close()
    for call in (encoder.finish, lambda: encoder.write(speechlike(0.1))):
        with pytest.raises(Closed):
            call()


@pytest.mark.parametrize("name", FORMATS)
def test_closing_an_unfinished_encoder_releases_it(name: FormatName) -> None:
    """A hundred abandoned encoders leave neither threads nor memory."""
    process = psutil.Process()

    def abandon(num_encoders: int) -> None:
        for _ in range(num_encoders):
            with Encoder(choose_encoding(name, RATE), RATE) as encoder:
                encoder.write(speechlike(0.1))

    abandon(20)
    num_threads, num_bytes = process.num_threads(), process.memory_info().rss
    abandon(100)
    assert process.num_threads() <= num_threads
    assert process.memory_info().rss - num_bytes < 4 << 20


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="thread affinity exists on Linux only")
@pytest.mark.parametrize("name", FORMATS)
def test_an_encoder_starts_no_threads(name: FormatName) -> None:
    """An encoder runs without threads, and the thread that opens it may use the same cores afterwards."""
    encoded(speechlike(0.1), choose_encoding(name, RATE), [])  # loads PyAV
    process, cores = psutil.Process(), os.sched_getaffinity(0)
    num_threads = process.num_threads()
    with Encoder(choose_encoding(name, RATE), RATE) as encoder:
        encoder.write(speechlike(0.3))
        assert process.num_threads() == num_threads
    assert process.num_threads() == num_threads
    assert os.sched_getaffinity(0) == cores


def test_a_sandbox_may_forbid_choosing_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes stay the same; only idle threads are started."""
    encoding = choose_encoding("opus", RATE)
    usual = encoded(speechlike(0.3), encoding, [])

    def forbidden(*_: object) -> None:
        raise PermissionError("not here")

    monkeypatch.setattr(os, "sched_setaffinity", forbidden, raising=False)
    assert encoded(speechlike(0.3), encoding, []) == usual


def test_a_system_without_thread_affinity_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Linux lets a thread choose its cores."""
    encoding = choose_encoding("opus", RATE)
    usual = encoded(speechlike(0.3), encoding, [])
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert encoded(speechlike(0.3), encoding, []) == usual


@pytest.mark.parametrize("encoding", [Encoding("mp3", 9_000, 1, 64), Encoding("opus", 22_050, 1, 48)])
def test_an_encoder_error_is_a_synthesis_failure(encoding: Encoding) -> None:
    """The error names the format and nothing of the audio."""
    with pytest.raises(SynthesisFailed, match=f"the {encoding.name} encoder failed"):
        encoded(speechlike(0.1), encoding, [])


@pytest.mark.parametrize("module", ["encode", "formats", "resample", "codecs", "g711"])
def test_importing_a_module_does_not_load_pyav(module: str) -> None:
    """The codecs are large and load with the first encoder only."""
    script = f"import sys, yuliu, yuliu.audio.{module}; print('av' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("sample_rate", [8_000, 24_000, 48_000])
def test_an_mp4_states_one_rate_in_both_places(sample_rate: int) -> None:
    """Chromium's MediaSource rejects it otherwise; the sample entry of Opus is always 48 kHz."""
    sound = encoded(speechlike(0.1), choose_encoding("mp4", RATE, sample_rate=sample_rate), [])
    entry = sound.partition(b"Opus\0")[2][23:27]
    specific = sound.partition(b"dOps")[2][4:8]
    assert (int.from_bytes(entry) >> 16, int.from_bytes(specific)) == (48_000, 48_000)


@pytest.mark.skipif(which("ffmpeg") is None, reason="ffmpeg is not installed")
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("pcm", "mulaw", "alaw")])
def test_ffmpeg_reads_every_format_without_errors(name: FormatName, tmp_path: Path, *, is_whole: bool) -> None:
    """The installed ffmpeg is another build and release than PyAV's."""
    encoding, samples = choose_encoding(name, RATE), speechlike(0.7)
    file = tmp_path / f"sound{encoding.suffix}"
    file.write_bytes(whole(samples, encoding, RATE) if is_whole else encoded(samples, encoding, [99]))
    command = ["ffmpeg", "-v", "error", "-i", str(file), "-f", "s16le", "-ac", "1", "-ar", str(RATE), "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b""
    assert -1e-4 <= len(done.stdout) / 2 / RATE - 0.7 <= PADDING_S.get(name, 0.0) + 1e-4
