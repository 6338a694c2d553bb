"""From figures to a page that a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.doors.ways import HEADINGS
from yuliu.bench.report import cell, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Figures = Any  # JSON

GLOSSARY = """\
One listener, over loopback. A time to the first packet (TTFP) is from sending the request, on a connection that is
there already, to the first byte of sound; the head of a container is not sound. `floor`: plan and first step by the
engines alone, in this process, in the same rounds.
"""


def page(report: Figures) -> str:
    """A report of some parts, as Markdown."""
    machine = report["machine"]
    about = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, {report['at']}."
    figures = f"Median (minimum-maximum) of {report['rounds']} rounds (tokens and encoding: a third of them)."
    load = f"Load average when it began: {machine['load_average']:.1f}; it took {report['took_s']:.0f} s."
    head = ["# Doors and formats\n", f"Measured by `{report['command']}` on {about} {figures} {load}\n", GLOSSARY]
    sections = [_SECTIONS[part](found) for part, found in report["parts"].items()]
    return "\n".join([*head, _requirements(report["requirements"]), *sections])


def _requirements(lines: Figures) -> str:
    rows = [[line["wanted"], line["reached"], "yes" if line["holds"] else "**no**"] for line in lines]
    return "## What was wanted\n\nReached is the worst case, of the medians where nothing else is said.\n\n" + table(
        ["wanted", "reached", "holds"], rows
    )


def _formats(figures: Figures) -> str:
    texts = []
    for lang, found in figures.items():
        floor = (
            f"Floor: {cell(found['floor_ms'], 1)} ms. In brackets: after PCM (median of three) there, in each round."
        )
        texts += [f"### {lang}\n", floor + "\n", _formats_table(found["ways"]), _decodable(found["ways"])]
    return "## Time to the first packet, ms\n\n" + "\n".join(texts)


def _formats_table(ways: Figures) -> str:
    doors, names = (list(dict.fromkeys(way[key] for way in ways)) for key in ("door", "format"))
    found = {(way["door"], way["format"]): way for way in ways}
    rows = [[name, *(_way(found[door, name]) for door in doors)] for name in names]
    return table(["format", *(HEADINGS[door] for door in doors)], rows)


def _way(way: Figures) -> str:
    ttfp = f"{way['ttfp_ms']['median']:.1f}"
    return ttfp if way["format"] == "pcm" else f"{ttfp} ({way['more_than_pcm_ms']['median']:+.1f})"


def _decodable(ways: Figures) -> str:
    """Where the first bytes of sound do not decode to a sample yet."""
    later = [way for way in ways if way["decodable_ms"]["median"] > way["ttfp_ms"]["median"]]
    if not later:
        return "At each door the first bytes of sound of every format can be decoded when they arrive.\n"
    rows = [
        [way["format"], HEADINGS[way["door"]], cell(way["ttfp_ms"], 1), cell(way["decodable_ms"], 1)] for way in later
    ]
    return "Where a decoder gives nothing at the first bytes:\n\n" + table(
        ["format", "door", "first byte, ms", "first sample, ms"], rows
    )


def _native(rows: Figures) -> str:
    body = [
        [row["lang"], row["length"], *(cell(row[key], 1) for key in ("floor_ms", "whole_ms", "written_ms"))]
        for row in rows
    ]
    note = (
        "`sent whole`: from sending the text to the first sound. `written`: 30 pieces a second, from the piece that"
        " made the first segment certain (or the end of the text) to its first sound.\n"
    )
    head = ["language", "characters", "floor, ms", "sent whole, ms", "written, ms"]
    return f"## The native WebSocket beside the engines alone\n\n{note}\n{table(head, body)}"


TOKENS_NOTE = """\
A segment is certain with its last needed character, or with the end of the text, or when its writer has paused for
half a second. `wait`: from there to its first sound, of all segments of all runs. `behind`: the most segments that were
certain and did not sound when another became certain, that one included. `underrun`: silence of a listener in real time
that began when the text of the next sound was there. `text late`: all silence after the text was there, be it that it
came when the listener had run dry already. `cut otherwise`: parts that the server did not cut as expected.
"""


def _tokens(figures: Figures) -> str:
    paced = "The longer ones once more with the lead of the preset `dialogue`, which holds sound back:\n\n"
    paced += _spoken(figures["paced"], held_back=True)
    return f"## Tokens at 30 a second\n\n{TOKENS_NOTE}\n{_spoken(figures['unbound'])}\n{paced}"


def _spoken(rows: Figures, *, held_back: bool = False) -> str:
    """Where sound is held back, waits say nothing."""
    head = ["text", "pieces", "segments", "underrun, ms", "text late, ms"]
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
    note = "Parts of the median run, ms; the median whole is by a stopwatch of its own, not computed from the parts.\n"
    return f"## The waterfall of `yuliu client --latency`\n\n{note}\n{table(head, body)}"


def _encoding(figures: Figures) -> str:
    rows = [
        [
            row["format"],
            cell(row["encoder_ms_per_s"], 2),
            f"{row['server_more_ms_per_s']:+.2f}",
            _late(row, "held"),
            _late(row, "in_loop"),
            cell(row["server_held_ms"], 1),
        ]
        for row in figures["formats"]
    ]
    head = ["format", "encoder", "server, more than PCM", "loop, threads encode: half, latest"]
    head += ["loop, if it encoded: half, latest", "loop of the server: latest"]
    idle = f"{figures['idle_p50_ms']['median']:.2f}, {figures['idle_ms']['median']:.1f}"
    note = (
        "CPU in ms for each second of sound, then how many ms later than due a task of the loop was woken that looks at"
        f" the clock every 2 ms: half of the ticks, and the latest of each round (idle: {idle}). PCM and WAV are made"
        " in the loop. A server's loop is also held while its voice has the interpreter's lock, for PCM too.\n"
    )
    return f"## Encoding {figures['audio_s']:.0f} s of sound\n\n{note}\n{table(head, rows)}"


def _late(row: Figures, kind: str) -> str:
    return f"{row[f'{kind}_p50_ms']['median']:.2f}, {cell(row[f'{kind}_ms'], 1)}"


_SECTIONS: Mapping[str, Callable[[Figures], str]] = {
    "formats": _formats,
    "native": _native,
    "tokens": _tokens,
    "waterfall": _waterfall,
    "encoding": _encoding,
}
