"""All of a bench, one after the other, into one report."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yuliu.bench.floor import alone
from yuliu.bench.measure import machine, measure_speech
from yuliu.bench.peers import compare, judge
from yuliu.bench.reading import read_articles
from yuliu.bench.report import spread, summarise
from yuliu.bench.texts import articles, short_texts
from yuliu.synthesizer import load_voice
from yuliu.voices import DEFAULT_VOICE, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Plan:
    """What a bench shall do."""

    command: str
    """As the person typed it, for the report."""
    reps: int = 9
    starts: int = 3
    harness: Path | None = None
    """Folder of a harness of other systems; None leaves the comparison and the judge out."""


def run(plan: Plan, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measure and report; takes one to ten minutes.

    Raises:
        VoiceNotReady: The default voice is not on disk.
        RuntimeError: A process of the bench failed.
    """
    engines = load_voice(VoiceStore(), DEFAULT_VOICE)
    for texts in short_texts().values():
        alone(engines, texts["64"])
    began = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = machine()
    speech = measure_speech(engines, DEFAULT_VOICE, reps=plan.reps, starts=plan.starts, progress=progress)
    for engine in engines.values():
        engine.close()
    with tempfile.TemporaryDirectory() as folder:
        reading = read_articles(Path(folder), progress=progress)
        verdicts = judge(plan.harness, Path(folder), articles(), progress=progress) if plan.harness else {}
    return {
        "at": began,
        "command": plan.command,
        "machine": about,
        "reps": plan.reps,
        "speech": summarise(speech.rows),
        "ready_s": spread(speech.ready_s),
        "rss_mb": speech.peak_rss_mb,
        "reading": reading,
        "judge": verdicts,
        "peers": compare(plan.harness, DEFAULT_VOICE, reps=plan.reps, progress=progress) if plan.harness else {},
    }
