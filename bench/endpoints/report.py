"""Page of the endpoint suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.endpoints import NOTES, formats_section
from yuliu.bench.report import cell, described, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Figures = Any  # JSON

TOKENS_NOTE = """\
A segment is complete with its last needed character, with the end of the text, or when its writer has paused for half a
second. `wait`: from there to its first audio, of all segments of all runs. `behind`: the maximum number of complete
segments that had not started when another became complete, that one included. `underrun`: silence of a listener in real
time that began when the text of the next audio was there. `text late`: the same, plus the part of other silences that
came after their text. `cut otherwise`: parts that the server did not cut as expected.
"""


def endpoint_suite_page(report: Figures) -> str:
    """Return the report of some parts as Markdown."""
    figures = f"Median (minimum-maximum) of {report['rounds']} rounds (tokens and encoding: a third of them)."
    load = f"Load average at the start: {report['machine']['load_average']:.1f}; duration: {report['took_s']:.0f} s."
    measured = f"Measured by `{report['command']}` on {described(report)} {figures} {load}\n"
    sections = [_SECTIONS[part](found) for part, found in report["parts"].items()]
    return "\n".join(["# Endpoints and formats\n", measured, NOTES, _targets(report["requirements"]), *sections])


def _targets(checks: Figures) -> str:
    rows = [[check["wanted"], check["reached"], "yes" if check["holds"] else "**no**"] for check in checks]
    return "## Targets\n\nMeasured is the worst case, of the medians unless stated otherwise.\n\n" + table(
        ["target", "measured", "met"], rows
    )


def _native(rows: Figures) -> str:
    body = [
        [row["lang"], row["length"], *(cell(row[key], 1) for key in ("floor_ms", "whole_ms", "written_ms"))]
        for row in rows
    ]
    note = (
        "`sent whole`: from sending the text to the first audio. `by token`: 30 tokens a second, from the token that"
        " completed the first segment (or the end of the text) to its first audio.\n"
    )
    head = ["language", "characters", "floor, ms", "sent whole, ms", "by token, ms"]
    return f"## The native WebSocket beside the engines alone\n\n{note}\n{table(head, body)}"


def _tokens(figures: Figures) -> str:
    paced = "The longer ones once more with the lead of the preset `dialogue`, which holds audio back:\n\n"
    paced += _tokens_table(figures["paced"], held_back=True)
    return f"## Tokens at 30 a second\n\n{TOKENS_NOTE}\n{_tokens_table(figures['unbound'])}\n{paced}"


def _tokens_table(rows: Figures, *, held_back: bool = False) -> str:
    """Return a table, without waits if audio is held back, because they mean nothing then."""
    head = ["text", "tokens", "segments", "underrun, ms", "text late, ms"]
    head += [] if held_back else ["wait, ms", "behind", "cut otherwise"]
    body = []
    for row in rows:
        silent = [f"{row['underrun_ms']:.1f}", f"{row['silence_ms']:.1f}"]
        wait = cell(row["wait_ms"], 1) if row["wait_ms"] else "nothing to say"
        waits = [] if held_back else [wait, str(row["behind"]), str(row["unforeseen"])]
        body.append([row["text"], str(row["pieces"]), str(row["segments"]), *silent, *waits])
    return table(head, body)


def _waterfall(rows: Figures) -> str:
    names = list(rows[0]["parts_ms"])
    head = ["language", *(name.replace("_", " ") for name in names), "sum", "whole", "off", "off, each run"]
    body = [
        [
            row["lang"],
            *(f"{row['parts_ms'][name]:.1f}" for name in names),
            f"{row['sum_ms']:.1f}",
            cell(row["whole_ms"], 1),
            f"{row['off_medians']:.1%}",
            f"{row['off']['median']:.1%}, at most {row['off']['max']:.1%}",
        ]
        for row in rows
    ]
    note = "Parts of the median run, ms; the median whole is measured independently, not computed from the parts.\n"
    return f"## The waterfall of `yuliu client --latency`\n\n{note}\n{table(head, body)}"


def _encoding(figures: Figures) -> str:
    rows = [
        [
            row["format"],
            cell(row["encoder_ms_per_s"], 2),
            f"{row['server_more_ms_per_s']:+.2f}",
            _lag_cell(row, "held"),
            _lag_cell(row, "in_loop"),
            cell(row["server_held_ms"], 1),
        ]
        for row in figures["formats"]
    ]
    head = ["format", "encoder", "server, more than PCM", "loop, threads encode: half, latest"]
    head += ["loop, if it encoded: half, latest", "loop of the server: latest"]
    idle = f"{figures['idle_p50_ms']['median']:.2f}, {figures['idle_ms']['median']:.1f}"
    note = (
        "CPU in ms for each second of audio, then the lag in ms of a task of the loop that looks at the clock every"
        f" 2 ms: of half of the ticks, and of the latest of each round (idle: {idle}). PCM and WAV are made in the"
        " loop. A server's loop is also blocked while its voice holds the interpreter's lock, for PCM too.\n"
    )
    return f"## Encoding {figures['audio_s']:.0f} s of audio\n\n{note}\n{table(head, rows)}"


def _lag_cell(row: Figures, kind: str) -> str:
    return f"{row[f'{kind}_p50_ms']['median']:.2f}, {cell(row[f'{kind}_ms'], 1)}"


_SECTIONS: Mapping[str, Callable[[Figures], str]] = {
    "formats": formats_section,
    "native": _native,
    "tokens": _tokens,
    "waterfall": _waterfall,
    "encoding": _encoding,
}
