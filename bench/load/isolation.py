"""The part ``isolation``: interactive clients beside a bulk reader of a long text, and the reader's share."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import percentile_of, ratio, shown
from yuliu.bench.load.generator import closed_loop
from yuliu.bench.load.point import LoadShape, LoadTiming, observe
from yuliu.bench.texts import VOICE_LANGUAGES, LoadRequest, draw_text
from yuliu.wire.openai import SpeechLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.load.generator import LoadGenerator
    from yuliu.bench.load.point import LoadConfig, LoadDriver, LoadObservation
    from yuliu.bench.server_process import ServerHandle

NUM_PLAYERS = 8
"""Real-time players of short replies."""
DURATION_FACTOR = 2.0
"""Duration as a multiple of other loads: eight players send few requests."""
BULK_NUM_CHARS = 100_000
REQUEST_NUM_CHARS = min(BULK_NUM_CHARS, SpeechLimits().max_characters)
"""Characters of one request of the reader."""


def bulk_requests(voice: str) -> Iterator[LoadRequest]:
    """Yield a long text in consecutive requests, then another one."""
    draw = random.Random(f"bulk {voice}")  # noqa: S311 - repeatable, not secret
    lang = VOICE_LANGUAGES.get(voice, ("zh",))[0]
    while True:
        text = draw_text(lang, BULK_NUM_CHARS, draw)
        for start in range(0, BULK_NUM_CHARS, REQUEST_NUM_CHARS):
            yield LoadRequest(voice, text[start : start + REQUEST_NUM_CHARS], "bulk")


def measure_isolation(config: LoadConfig, voice: str) -> dict[str, Any]:
    """Measure the players' latency with and without the reader, and the reader's pace with and without the players."""
    timing = replace(config.timing, seconds=DURATION_FACTOR * config.timing.seconds)
    shape = LoadShape((voice,), NUM_PLAYERS, shares=(("short", 1),), stream_class="interactive")
    players = {"waiting": shape.driver(timing)}
    reader = {"reading": _reader(voice)}
    alone_timing = LoadTiming(config.timing.seconds / 2, timing.warm_up_s / 2)
    with config.server() as server:
        without = _observe(server, config, timing, players)
        alone = _observe(server, config, alone_timing, reader)
        both = _observe(server, config, timing, players | reader)
    figures = isolation_figures(without.figures("waiting"), alone.figures("reading"), both)
    config.progress(
        f"isolation, {voice}: TTFP p95 {shown(percentile_of(figures['without_ms'], 'p95'))} ms, with the reader"
        f" {shown(percentile_of(figures['with_ms'], 'p95'))} ms; the reader gets {shown(figures['bulk_share'], 2)}"
        " of the idle capacity"
    )
    return {"voice": voice, **figures}


def isolation_figures(without: dict[str, Any], alone: dict[str, Any], both: LoadObservation) -> dict[str, Any]:
    """Return the figures. Idle capacity is the reader's pace on an idle server, less the audio of the players."""
    waiting, reading = both.figures("waiting"), both.figures("reading")
    idle = alone["audio_s_per_s"] - waiting["audio_s_per_s"]
    return {
        "without_ms": without["ttfp_ms"],
        "with_ms": waiting["ttfp_ms"],
        "p95_to_without": ratio(percentile_of(waiting["ttfp_ms"], "p95"), percentile_of(without["ttfp_ms"], "p95")),
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


def _reader(voice: str) -> LoadDriver:
    async def read(generator: LoadGenerator, until_s: float) -> None:
        await closed_loop(generator, [bulk_requests(voice)], ramp_s=0.0, until_s=until_s, paced=False)

    return read


def _observe(
    server: ServerHandle, config: LoadConfig, timing: LoadTiming, drivers: dict[str, LoadDriver]
) -> LoadObservation:
    config.progress(f"isolation: {' and '.join(drivers)}")
    return observe(server, timing, drivers)
