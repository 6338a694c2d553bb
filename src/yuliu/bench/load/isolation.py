"""Whether a long text that nobody waits for slows down those who wait, and how much of the machine it still gets."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.crowd import closed_loop
from yuliu.bench.load.figures import of, ratio, shown
from yuliu.bench.load.point import Shape, Timing, observe
from yuliu.bench.load.texts import LANGUAGES, Ask, text
from yuliu.wire.openai import SpeechLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.load.crowd import Crowd
    from yuliu.bench.load.point import Drive, Observed
    from yuliu.bench.load.setting import Setting
    from yuliu.bench.process import Running

PLAYERS = 8
"""Who wait: real-time players of short replies."""
WAITING_FACTOR = 2.0
"""How many times longer than other loads it lasts: eight players ask seldom."""
BULK_NUM_CHARS = 100_000
PIECE_NUM_CHARS = min(BULK_NUM_CHARS, SpeechLimits().max_characters)
"""Characters of one request of the reader."""


def bulk_asks(voice: str) -> Iterator[Ask]:
    """The long text, in requests one after the other; then another such text."""
    draw = random.Random(f"bulk {voice}")  # noqa: S311 - repeatable, not secret
    lang = LANGUAGES.get(voice, ("zh",))[0]
    while True:
        whole = text(lang, BULK_NUM_CHARS, draw)
        for at in range(0, BULK_NUM_CHARS, PIECE_NUM_CHARS):
            yield Ask(voice, whole[at : at + PIECE_NUM_CHARS], "bulk")


def measure_isolation(setting: Setting, voice: str) -> dict[str, Any]:
    """Waits with and without the reader, and the reader's pace with and without those who wait."""
    timing = replace(setting.timing, seconds=WAITING_FACTOR * setting.timing.seconds)
    shape = Shape((voice,), PLAYERS, shares=(("short", 1),), stream_class="interactive")
    waiting = {"waiting": shape.drive(timing)}
    reading = {"reading": _reader(voice)}
    with setting.server() as server:
        without = _observed(server, setting, timing, waiting)
        alone = _observed(server, setting, Timing(setting.timing.seconds / 2, timing.warm_up_s / 2), reading)
        both = _observed(server, setting, timing, waiting | reading)
    figures = isolation_figures(without.figures("waiting"), alone.figures("reading"), both)
    setting.progress(
        f"isolation, {voice}: TTFP p95 {shown(of(figures['without_ms'], 'p95'))} ms, with the reader"
        f" {shown(of(figures['with_ms'], 'p95'))} ms; the reader gets {shown(figures['bulk_share'], 2)} of what is idle"
    )
    return {"voice": voice, **figures}


def isolation_figures(without: dict[str, Any], alone: dict[str, Any], both: Observed) -> dict[str, Any]:
    """Idle capacity is the reader's pace on an idle server, less the sound that the others were given meanwhile."""
    waiting, reading = both.figures("waiting"), both.figures("reading")
    idle = alone["audio_s_per_s"] - waiting["audio_s_per_s"]
    return {
        "without_ms": without["ttfp_ms"],
        "with_ms": waiting["ttfp_ms"],
        "p95_to_without": ratio(of(waiting["ttfp_ms"], "p95"), of(without["ttfp_ms"], "p95")),
        "underrun": waiting["underrun"],
        "rejected": waiting["rejected"],
        "failed": waiting["failed"] + reading["failed"],
        "bulk_alone_audio_s_per_s": alone["audio_s_per_s"],
        "bulk_audio_s_per_s": reading["audio_s_per_s"],
        "interactive_audio_s_per_s": waiting["audio_s_per_s"],
        "idle_audio_s_per_s": round(idle, 3),
        "bulk_share": ratio(reading["audio_s_per_s"], max(0.0, idle), digits=3),
        "cores_busy": both.machine["cores_busy"],
    }


def _reader(voice: str) -> Drive:
    async def read(crowd: Crowd, until_s: float) -> None:
        await closed_loop(crowd, [bulk_asks(voice)], ramp_s=0.0, until_s=until_s, paced=False)

    return read


def _observed(server: Running, setting: Setting, timing: Timing, drives: dict[str, Drive]) -> Observed:
    setting.progress(f"isolation: {' and '.join(drives)}")
    return observe(server, timing, drives)
