"""The runs of ``yuliu bench``: rounds over all texts, so that a drift of the machine hits all alike."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.bench.floor import alone
from yuliu.bench.probe import take
from yuliu.bench.process import ServerProcess
from yuliu.bench.texts import LANGUAGES, short_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.bench.floor import Alone
    from yuliu.bench.probe import Take
    from yuliu.engines.api import Engine
    from yuliu.types import Lang

Row = dict[str, float | str]
"""Figures of one round of one text."""
WARM_UP_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Speech:
    """Everything measured about speaking the short texts."""

    rows: list[Row]
    ready_s: list[float]
    """From start to ready, of each start of the server."""
    peak_rss_mb: float


def measure_speech(
    engines: Mapping[Lang, Engine], voice: str, *, reps: int, starts: int, progress: Callable[[str], None]
) -> Speech:
    """Each text, by the engines alone and by a server over loopback HTTP, ``reps`` times in turn.

    Args:
        engines: The engines of the voice by language, warm.
        voice: The voice that is asked of the server.
        reps: Rounds that count.
        starts: Starts of the server that are timed; the last one serves.
        progress: Called with a line for people.
    """
    ready_s: list[float] = []
    for _ in range(starts - 1):
        with ServerProcess() as server:
            ready_s.append(server.ready_s)
    rows: list[Row] = []
    with ServerProcess() as server:
        ready_s.append(server.ready_s)
        for rep in range(-WARM_UP_ROUNDS, reps):
            for lang in LANGUAGES:
                for length, text in short_texts()[lang].items():
                    figures = _figures(engines, server, text, voice)
                    if rep >= 0:
                        rows.append({"lang": lang, "length": length, "rep": rep, **figures})
            progress(f"round {rep + 1} of {reps}" if rep >= 0 else "warming up")
        return Speech(rows, ready_s, server.peak_rss / 2**20)


def _figures(engines: Mapping[Lang, Engine], server: ServerProcess, text: str, voice: str) -> Row:
    by_engine = alone(engines, text)
    cpu_before_s = server.cpu_s()
    served = take(server.port, text, voice)
    return figures_of(by_engine, served, server.cpu_s() - cpu_before_s)


def figures_of(by_engine: Alone, served: Take, server_cpu_s: float) -> Row:
    """The figures of one round, in the units of the report."""
    return {
        "floor_ms": by_engine.floor_s * 1e3,
        "ttfp_ms": served.ttfp_s * 1e3,
        "ttfs_ms": served.ttfs_s * 1e3,
        "last_byte_ms": served.last_byte_s * 1e3,
        "offline_ms": by_engine.offline_s * 1e3,
        "rtf": served.last_byte_s / served.audio_s,
        "underrun_s": served.underrun_s,
        "audio_s": served.audio_s,
        "chunks": len(served.arrivals),
        "engine_cpu_s_per_audio_s": by_engine.offline_cpu_s / by_engine.audio_s,
        "server_cpu_s_per_audio_s": server_cpu_s / served.audio_s,
    }


def machine() -> dict[str, str | float]:
    """What the figures were measured on."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count() or 0,
        "python": platform.python_version(),
        "system": platform.platform(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else -1.0,
    }


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
