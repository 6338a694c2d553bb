"""From figures to a table that a person can read. Medians, with minimum and maximum in brackets."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from yuliu.bench.measure import Row

COLUMNS = {
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
"""Key of a row: heading, digits."""


def summarise(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each language and length: {figure: {median, min, max}}."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((str(row["lang"]), str(row["length"])), []).append(row)
    return [
        {"lang": lang, "length": length}
        | {key: spread(float(row[key]) for row in group) for key in (*COLUMNS, "audio_s", "chunks")}
        for (lang, length), group in groups.items()
    ]


def spread(values: Iterable[float]) -> dict[str, float]:
    """Median, minimum and maximum."""
    ordered = sorted(values)
    return {"median": statistics.median(ordered), "min": ordered[0], "max": ordered[-1]}


def cell(figure: dict[str, float], digits: int) -> str:
    """``12.3 (11.9-14.0)``; one number where all are alike."""
    low, middle, high = (f"{figure[key]:.{digits}f}" for key in ("min", "median", "max"))
    return middle if low == high else f"{middle} ({low}-{high})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)) + "\n"


def speech_table(summary: Sequence[dict[str, Any]]) -> str:
    """One row a language and length."""
    head = ["language", "characters", *(heading for heading, _ in COLUMNS.values())]
    return table(
        head,
        (
            [group["lang"], group["length"], *(cell(group[key], digits) for key, (_, digits) in COLUMNS.items())]
            for group in summary
        ),
    )


def reading_table(rows: Sequence[dict[str, Any]], verdicts: dict[str, Any]) -> str:
    """One row an article, with what the judge heard where there was one."""
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


def peers_table(compared: dict[str, Any]) -> str:
    """One row a language, text and system: medians of the harness's own figures."""
    body = []
    for lang, result in compared.items():
        for text, content in result["texts"].items():
            for target in result["targets"]:
                taken = [r for r in result["alone"] if (r["target"], r["text"]) == (target["name"], text)]
                figures = [
                    f"{statistics.median(r[key] for r in taken):.{digits}f}"
                    for key, digits in (("ttfp_ms", 1), ("heard_ms", 1), ("total_ms", 0), ("cpu_rtf", 3))
                ]
                body.append([lang, str(len(content)), target["name"], *figures])
    head = ["language", "characters", "system", "TTFP, ms", "heard, ms", "last byte, ms", "CPU s per audio s"]
    return table(head, body)


def page(report: dict[str, Any]) -> str:
    """The whole report as Markdown."""
    machine = report["machine"]
    about = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, {report['at']}."
    parts = [
        "# Performance\n",
        f"Measured by `{report['command']}` on {about} Median (minimum-maximum) of {report['reps']} rounds.\n",
        "`floor` is plan and first step in process; everything else is over loopback HTTP with one client.\n",
        speech_table(report["speech"]),
        f"From start to ready: {cell(report['ready_s'], 2)} s. Peak resident memory: {report['rss_mb']:.0f} MB.\n",
        "## Whole articles, by `yuliu say -f`\n",
        reading_table(report["reading"], report["judge"]),
        "The judge is Whisper base: it mishears names, and rambles where a text switches languages.\n",
    ]
    if report["peers"]:
        parts += ["## Beside other systems, in the same run\n", peers_table(report["peers"])]
    return "\n".join(parts)
