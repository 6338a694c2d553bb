"""Whole articles read to WAV by ``yuliu say``, as a person would: speed, memory, and what is heard."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from yuliu.bench.texts import articles

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE_EVERY_S = 0.05


def read_articles(folder: Path, *, progress: Callable[[str], None]) -> list[dict[str, float | str]]:
    """Read each article into ``folder``; rows with length, real-time factor and memory.

    ``rss_mb_half`` and ``rss_mb_end`` are the resident memory half-way and at the end: reading must not pile up.
    """
    rows = []
    for name, text in articles().items():
        with tempfile.TemporaryDirectory() as home:
            source = Path(home) / f"{name}.txt"
            source.write_text(text, encoding="utf-8")
            rows.append(_read(source, folder / f"yuliu.{name}.wav", len(text)))
        progress(f"read {name}")
    return rows


def _read(source: Path, target: Path, num_chars: int) -> dict[str, float | str]:
    command = [sys.executable, "-m", "yuliu", "say", "-q", "-f", str(source), "-o", str(target)]
    began = time.perf_counter()
    process = subprocess.Popen(command)
    rss = _watch(process)
    took_s = time.perf_counter() - began
    if process.returncode:
        raise RuntimeError(f"yuliu say ended with {process.returncode}; run: yuliu doctor")
    with wave.open(str(target)) as file:
        audio_s = file.getnframes() / file.getframerate()
    return {
        "article": source.stem,
        "chars": num_chars,
        "audio_s": audio_s,
        "took_s": took_s,
        "rtf": took_s / audio_s,
        "rss_mb_half": rss[len(rss) // 2] / 2**20,
        "rss_mb_end": rss[-1] / 2**20,
        "peak_rss_mb": max(rss) / 2**20,
    }


def _watch(process: subprocess.Popen[bytes]) -> list[int]:
    watched, rss = psutil.Process(process.pid), [0]
    while process.poll() is None:
        try:
            rss.append(watched.memory_info().rss or rss[-1])  # 0 while it is ending
        except psutil.NoSuchProcess:
            break
        time.sleep(SAMPLE_EVERY_S)
    process.wait()
    return rss[1:] or rss
