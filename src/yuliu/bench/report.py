"""Figures, tables and the page of the latency report. Each cell is a median with minimum and maximum in brackets."""

from __future__ import annotations

import os
import platform
import statistics
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LatencyRow = dict[str, float | str]
"""Figures of one text in one round."""
LATENCY_COLUMNS = {
    "floor_ms": ("floor, ms", 1),
    "ttfp_ms": ("TTFP, ms", 1),
    "ttfs_ms": ("TTFS, ms", 1),
    "last_byte_ms": ("last byte, ms", 0),
    "offline_ms": ("offline, ms", 0),
    "rtf": ("RTF", 3),
    "underrun_s": ("underrun, s", 3),
    "engine_cpu_s_per_audio_s": ("engine CPU s per audio s", 3),
    "server_cpu_s_per_audio_s": ("server CPU s per audio s", 3),
}
"""Heading and number of digits by key of a row."""


def started_report(command: str) -> dict[str, Any]:
    """Return the head of a report that starts now: time, command and machine."""
    return {"at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "command": command, "machine": machine()}


def machine() -> dict[str, str | float]:
    """Describe this machine."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count() or 0,
        "python": platform.python_version(),
        "system": platform.platform(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else -1.0,
    }


def described(report: dict[str, Any]) -> str:
    """Return the machine and the time of a report in words."""
    about = report["machine"]
    return f"{about['cpu']}, {about['cores']} cores, Python {about['python']}, {report['at']}."


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def spread(values: Iterable[float]) -> dict[str, float]:
    """Return median, minimum and maximum."""
    ordered = sorted(values)
    return {"median": statistics.median(ordered), "min": ordered[0], "max": ordered[-1]}


def cell(figure: dict[str, float], digits: int) -> str:
    """Format a spread as ``12.3 (11.9-14.0)``, or as one number if all values are equal."""
    low, middle, high = (f"{figure[key]:.{digits}f}" for key in ("min", "median", "max"))
    return middle if low == high else f"{middle} ({low}-{high})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)) + "\n"


def summarise(rows: Sequence[LatencyRow]) -> list[dict[str, Any]]:
    """Return the spread of each figure for each language and length."""
    groups: dict[tuple[str, str], list[LatencyRow]] = {}
    for row in rows:
        groups.setdefault((str(row["lang"]), str(row["length"])), []).append(row)
    return [
        {"lang": lang, "length": length}
        | {key: spread(float(row[key]) for row in group) for key in (*LATENCY_COLUMNS, "audio_s", "chunks")}
        for (lang, length), group in groups.items()
    ]


def latency_table(summary: Sequence[dict[str, Any]]) -> str:
    """Return a table with one row for each language and length."""
    head = ["language", "characters", *(heading for heading, _ in LATENCY_COLUMNS.values())]
    return table(
        head,
        (
            [
                group["lang"],
                group["length"],
                *(cell(group[key], digits) for key, (_, digits) in LATENCY_COLUMNS.items()),
            ]
            for group in summary
        ),
    )


def latency_page(report: dict[str, Any]) -> str:
    """Return the latency report as Markdown."""
    figures = f"Median (minimum-maximum) of {report['reps']} rounds."
    return "\n".join(
        [
            "# Performance\n",
            f"Measured by `{report['command']}` on {described(report)} {figures}\n",
            "`floor` is plan and first step in process; everything else is over loopback HTTP with one client.\n",
            latency_table(report["speech"]),
            f"From start to ready: {cell(report['ready_s'], 2)} s. Peak resident memory: {report['rss_mb']:.0f} MB.\n",
        ]
    )
