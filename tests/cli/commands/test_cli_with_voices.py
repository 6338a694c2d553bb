"""The command line with real voices."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from program import wav_samples

import yuliu
from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.voices

TEXT = "你好，今天的天气很好。We go out, and walk along the river. 然后回家。"


def run_yuliu(*args: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "yuliu", *args], capture_output=True, check=False)


def test_say_speaks_a_file(tmp_path: Path) -> None:
    """The file holds exactly the samples of the library, and nothing is written to the terminal."""
    (tmp_path / "in.txt").write_text(TEXT, encoding="utf-8")
    done = run_yuliu("say", "-f", tmp_path / "in.txt", "-o", tmp_path / "out.wav")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    with yuliu.open() as synthesizer:
        assert wav_samples(tmp_path / "out.wav") == to_s16le(synthesizer.speak(TEXT).samples)


def test_doctor_tries_each_voice() -> None:
    """Each ready voice is reported with its latency and speed."""
    done = run_yuliu("doctor", "--json")
    assert done.returncode == 0, done.stdout.decode()
    findings = {finding["name"]: finding for finding in json.loads(done.stdout)}
    for voice in ("baker", "heart", "yuliu"):
        assert findings[f"voice {voice}"]["state"] == "ok"
        assert findings[f"voice {voice}"]["first_sound_s"] > 0
        assert 0 < findings[f"voice {voice}"]["rtf"] < 1
