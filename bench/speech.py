"""``python -m bench speech``: latency, whole articles by ``yuliu say``, the judge's verdicts, and other systems."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from bench.corpus import articles
from bench.judge import judge_articles
from bench.peers import compare_peers, peers_table
from yuliu.bench.latency import run_latency
from yuliu.bench.load.monitor import BYTES_PER_MB
from yuliu.bench.report import latency_page, table
from yuliu.voices import DEFAULT_VOICE

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE_INTERVAL_S = 0.05


@dataclass(frozen=True, slots=True)
class SpeechPlan:
    """Sizes of the run."""

    command: str
    """The command as typed, for the report."""
    num_rounds: int = 9
    harness: Path | None = None
    """Folder of a harness of other systems; None leaves out the comparison and the judge."""


def run_speech(plan: SpeechPlan, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measure and return the report; takes one to ten minutes.

    Raises:
        VoiceNotReady: The default voice is not installed.
        RuntimeError: A process of the bench failed.
    """
    report = run_latency(plan.command, num_rounds=plan.num_rounds, progress=progress)
    with tempfile.TemporaryDirectory() as folder:
        reading = read_articles(Path(folder), progress=progress)
        verdicts: dict[str, Any] = {}
        compared: dict[str, Any] = {}
        if plan.harness is not None:
            verdicts = judge_articles(plan.harness, Path(folder), articles(), progress=progress)
            compared = compare_peers(plan.harness, DEFAULT_VOICE, num_rounds=plan.num_rounds, progress=progress)
    return report | {"reading": reading, "judge": verdicts, "peers": compared}


def read_articles(folder: Path, *, progress: Callable[[str], None]) -> list[dict[str, float | str]]:
    """Read each article into ``folder`` and return a row with length, real-time factor and memory.

    ``rss_mb_half`` and ``rss_mb_end`` are the resident memory half-way and at the end: it must not accumulate.
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
        "rss_mb_half": rss[len(rss) // 2] / BYTES_PER_MB,
        "rss_mb_end": rss[-1] / BYTES_PER_MB,
        "peak_rss_mb": max(rss) / BYTES_PER_MB,
    }


def _watch(process: subprocess.Popen[bytes]) -> list[int]:
    """Sample the resident memory of a process until it ends."""
    watched, rss = psutil.Process(process.pid), [0]
    while process.poll() is None:
        try:
            rss.append(watched.memory_info().rss or rss[-1])  # 0 while it is ending
        except psutil.NoSuchProcess:
            break
        time.sleep(SAMPLE_INTERVAL_S)
    process.wait()
    return rss[1:] or rss


def articles_table(rows: list[dict[str, Any]], verdicts: dict[str, Any]) -> str:
    """Return a table with one row for each article, with the judge's verdict if there is one."""
    head = ["article", "characters", "audio, s", "RTF", "memory half-way, MB", "at the end, MB"]
    head += ["WER", "CER", "pinyin error rate", "DistillMOS"]
    body = []
    for row in rows:
        verdict = verdicts.get(row["article"], {})
        rates = [f"{verdict[key]:.1%}" if key in verdict else "-" for key in ("wer", "cer", "pinyin_er")]
        memory = [f"{row['rss_mb_half']:.0f}", f"{row['rss_mb_end']:.0f}"]
        figures = [f"{row['audio_s']:.1f}", f"{row['rtf']:.3f}", *memory]
        mos = f"{verdict['mos']:.2f}" if "mos" in verdict else "-"
        body.append([row["article"], str(row["chars"]), *figures, *rates, mos])
    return table(head, body)


def speech_page(report: dict[str, Any]) -> str:
    """Return the whole report as Markdown."""
    parts = [
        latency_page(report),
        "## Whole articles, by `yuliu say -f`\n",
        articles_table(report["reading"], report["judge"]),
        "The judge is Whisper base: it mishears names, and rambles where a text switches languages.\n",
    ]
    if report["peers"]:
        parts += ["## Beside other systems, in the same run\n", peers_table(report["peers"])]
    return "\n".join(parts)
