"""``yuliu say`` as a program: pipes, files and signals."""

from __future__ import annotations

import os
import pty
import re
import resource
import signal
import subprocess
import sys
import termios
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from program import PROGRAM, wav_samples

from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from pathlib import Path

    from program import Start

    from yuliu.synthesizer import Synthesizer

TEXT = "你好，今天的天气很好。We go out, and walk along the river. 然后回家。\n"


def expected(synthesizer: Synthesizer, text: str) -> bytes:
    return to_s16le(synthesizer.speak(text).samples)


def wait_for_size(path: Path, num_bytes: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the program has written this many bytes. The deadline is the test's timeout."""
    while not (path.exists() and path.stat().st_size >= num_bytes):
        try:
            process.wait(timeout=0.01)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail("the program ended before it had written that much")


def test_audio_starts_before_the_text_ends(start: Start) -> None:
    """Piped text is spoken while the writer is still writing."""
    process = start("say", "-o", "-")
    assert process.stdin
    assert process.stdout
    process.stdin.write("你好，今天的天气很好。Then".encode())
    process.stdin.flush()
    header = process.stdout.read(44)
    assert header[:4] == b"RIFF"
    assert len(process.stdout.read(4800)) == 4800
    rest, errors = process.communicate(b" we went home.")
    assert process.returncode == 0
    assert len(rest) > 4800
    assert errors == b""


def test_file_is_spoken_into_a_file(start: Start, tmp_path: Path, tone_synthesizer: Synthesizer) -> None:
    """The file holds exactly the samples of the library for the whole text."""
    text = TEXT * 200
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    process = start("say", "-f", tmp_path / "in.txt", "-o", tmp_path / "out.wav")
    out, errors = process.communicate()
    assert (process.returncode, out, errors) == (0, b"", b"")
    assert wav_samples(tmp_path / "out.wav") == expected(tone_synthesizer, text)


def test_arguments_are_spoken_as_bare_samples(start: Start, tmp_path: Path, tone_synthesizer: Synthesizer) -> None:
    """Arguments are joined by spaces; --format pcm and the suffix .pcm write no header."""
    words = ["你好，", "my", "friend."]
    out, _ = start("say", "--format", "pcm", "-o", "-", *words).communicate()
    assert out == expected(tone_synthesizer, " ".join(words))
    start("say", "-o", tmp_path / "out.pcm", *words).communicate()
    assert (tmp_path / "out.pcm").read_bytes() == out


def test_speed_reaches_the_engine(start: Start) -> None:
    """Twice the speed gives about half the audio."""
    slow, _ = start("say", "--format", "pcm", "-o", "-", "one two three four").communicate()
    fast, _ = start("say", "--format", "pcm", "-o", "-", "--speed", "2", "one two three four").communicate()
    assert len(slow) * 0.4 < len(fast) < len(slow) * 0.7


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_early_end_leaves_a_valid_file(
    start: Start, tmp_path: Path, tone_synthesizer: Synthesizer, signal_number: signal.Signals
) -> None:
    """After any signal, the header has the true sizes, and the audio is the start of the whole."""
    path = tmp_path / "out.wav"
    process = start("say", "-o", path)
    assert process.stdin
    process.stdin.write(TEXT.encode())
    process.stdin.flush()
    wait_for_size(path, 20_000, process)
    process.send_signal(signal_number)
    _, errors = process.communicate()
    samples = wav_samples(path)
    assert len(samples) >= 19_000
    assert expected(tone_synthesizer, TEXT).startswith(samples)
    if signal_number != signal.SIGKILL:
        assert process.returncode == 130
        assert errors.decode().startswith(f"yuliu: interrupted; {path} holds the first ")
        assert errors.count(b"\n") == 1


def test_interrupt_ends_a_blocked_pipe(start: Start) -> None:
    """A reader that has stopped reading does not keep the program from ending."""
    process = start("say", "-o", "-", TEXT * 200)
    assert process.stdout
    process.stdout.read(44)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130


def test_reader_that_leaves_causes_no_message(start: Start) -> None:
    """``yuliu say -o - | head -c 1000`` ends quietly."""
    process = start("say", "-o", "-", TEXT * 200)
    assert process.stdout
    assert process.stderr
    process.stdout.read(1000)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 1


def test_engine_failure_keeps_the_audio_so_far(start: Start, tmp_path: Path) -> None:
    """The exit code is 1, and the message has the reason and the audio in the file, without a traceback."""
    path = tmp_path / "out.wav"
    process = start("say", "-o", path, TEXT * 5, TONE_FAIL_STEP="4")
    _, errors = process.communicate()
    assert process.returncode == 1
    assert wav_samples(path)
    assert f"yuliu: error: step 5 was told to fail; {path} holds the first " in errors.decode()
    assert "Traceback" not in errors.decode()


def test_debug_shows_the_traceback(start: Start, tmp_path: Path) -> None:
    """Only --debug shows a traceback before the message."""
    process = start("--debug", "say", "-o", tmp_path / "out.wav", TEXT, TONE_FAIL_STEP="0")
    _, errors = process.communicate()
    assert "Traceback" in errors.decode()
    assert errors.decode().splitlines()[-1] == "yuliu: error: step 1 was told to fail"


def test_full_disk_leaves_whole_samples(tmp_path: Path) -> None:
    """A file that cannot grow ends with a whole sample and has a correct header, and the error names it."""
    path = tmp_path / "out.wav"
    process = subprocess.run(
        [sys.executable, PROGRAM, "say", "-o", path, TEXT],
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30_001, 30_001)),
    )
    assert process.returncode == 1
    assert len(wav_samples(path)) == 30_000 - 44
    assert process.stderr.decode().startswith(f"yuliu: error: {path}: File too large; {path} holds the first ")


@pytest.mark.parametrize("suffix", ["mp3", "flac", "webm", "opus", "aac", "mp4"])
def test_full_disk_is_reported_for_every_format(tmp_path: Path, suffix: str) -> None:
    """The message blames the disk, not the encoder, and is the only one."""
    path = tmp_path / f"out.{suffix}"
    process = subprocess.run(
        [sys.executable, PROGRAM, "say", "-o", path, TEXT * 20],
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30_001, 30_001)),
    )
    assert process.returncode == 1
    assert path.stat().st_size == 30_001
    errors = process.stderr.decode()
    assert errors.startswith(f"yuliu: error: {path}: File too large; {path} holds the first ")
    assert errors.count("\n") == 1


def test_text_without_words_keeps_an_older_file(start: Start, tmp_path: Path) -> None:
    """A text without words is an error, and overwrites nothing."""
    path = tmp_path / "out.wav"
    path.write_bytes(b"older")
    process = start("say", "-o", path, "...")
    _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.decode() == "yuliu: error: nothing was spoken: the text has nothing that the voice can speak\n"
    assert path.read_bytes() == b"older"


def test_progress_on_a_terminal(tmp_path: Path) -> None:
    """The status line fits into 60 columns, and only the summary is left on the screen."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (24, 60))
    (tmp_path / "in.txt").write_text(TEXT * 6, encoding="utf-8")
    command = [sys.executable, str(PROGRAM), "say", "-f", "in.txt", "-o", "out.wav"]
    environ = os.environ | {"TONE_STEP_S": "0.001"}
    process = subprocess.Popen(command, cwd=tmp_path, stderr=its, env=environ)
    os.close(its)
    shown = ""
    with suppress(OSError):  # how Linux reports that the other side is closed
        while block := os.read(ours, 4096):
            shown += block.decode()
    os.close(ours)
    assert process.wait() == 0
    lines = shown.replace("\r\n", "\n").split("\r")
    assert lines[1].rstrip() == "loading the voice"
    progress = rf" *[0-9]+% of {len(TEXT) * 6} characters  .* left  .* of audio(  .*x real time)? *"
    assert any(re.fullmatch(progress, line) for line in lines)
    assert max(map(len, lines)) <= 59
    assert set(lines[-2]) == {" "}
    assert re.fullmatch(r"out.wav: \d+ s of audio, \d+x real time\n", lines[-1])


def test_audio_does_not_overwrite_the_text(start: Start, tmp_path: Path) -> None:
    """One file for both text and audio is refused."""
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    process = start("say", "-f", tmp_path / "a.txt", "-o", tmp_path / "a.txt")
    assert b"would overwrite the text" in process.communicate()[1]
    assert process.returncode == 2


def test_unspoken_characters_are_reported(start: Start) -> None:
    """Characters in a language that the voice does not speak are counted by rule, except with --quiet."""
    args = ("say", "-o", "-", "你好。Good morning.")
    _, errors = start(*args, TONE_LANGUAGES="zh").communicate()
    assert errors.decode().startswith("yuliu: not spoken: ")
    assert "language_not_spoken" in errors.decode()
    _, errors = start(*args, "-q", TONE_LANGUAGES="zh").communicate()
    assert errors == b""
