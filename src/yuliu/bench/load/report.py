"""From figures to a page that a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import of, shown
from yuliu.bench.report import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Figures = dict[str, Any]
POINT_HEAD = (
    *("voice", "streams", "TTFP p50, ms", "p95, ms", "p99, ms", "underran", "underrun, s", "refused", "failed"),
    *("audio s per s", "cores busy", "generator, CPU s", "CPU ratio", "memory, MB"),
)


def page(report: Figures) -> str:
    """A report of one load or of several parts, as Markdown."""
    machine = report["machine"]
    about = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, {report['at']}."
    head = ["# Performance under load\n", f"Measured by `{report['command']}` on {about}\n", GLOSSARY]
    if "parts" not in report:
        return "\n".join([*head, point_table([report])])
    sections = [_SECTIONS[part](figures) for part, figures in report["parts"].items()]
    return "\n".join([*head, *sections])


GLOSSARY = """\
Clients read over loopback as fast as sound comes; what a player hears that starts at the first packet is computed from
when it came. `TTFP` is from the first byte of a request sent to the first byte of sound. `underran`: streams whose
player stood still for more than 10 ms; `refused`: answered 429. `cores busy` is the whole machine, load generator
included. `CPU ratio`: CPU seconds of the server for each second of sound, over those of the engines alone.
"""


def point_table(points: Iterable[Figures]) -> str:
    """One row a load."""
    return table(POINT_HEAD, map(_point_row, points))


def _point_row(point: Figures) -> list[str]:
    streams = str(point["streams"]) if point["streams"] else f"{point['rate_per_s']:.2f} a second"
    return [
        "+".join(point["voices"]),
        streams,
        *_waits(point["ttfp_ms"]),
        f"{point['underrun']['streams']} of {point['underrun']['of']}",
        f"{point['underrun']['seconds']:.2f}",
        f"{point['rejected']} of {point['requests']}",
        str(point["failed"]),
        f"{point['audio_s_per_s']:.1f}",
        f"{point['cores_busy']:.2f} of {point['cores']}",
        f"{point['generator_cpu_s']:.2f} in {point['seconds']:.0f} s",
        shown(point["cpu_ratio"], 2),
        f"{point['rss_mb']['max']:.0f}",
    ]


def _waits(spread: Mapping[str, float] | None, names: Iterable[str] = ("p50", "p95", "p99")) -> list[str]:
    return [shown(of(spread, name), 1) for name in names]


def _capacity(voices: list[Figures]) -> str:
    found = []
    for entry in voices:
        busy = entry["least_busy_with_underrun"]
        first = "no load had an underrun" if busy is None else f"the first underrun came at {busy:.0%} busy cores"
        best = entry["at_capacity"]
        cost = f" at {shown(best['cpu_ratio'], 2)} x the engines' own CPU time" if best else ""
        found.append(f"- {entry['voice']}: **{entry['streams']} streams**{cost}; {first}\n")
    points = [point for entry in voices for point in sorted(entry["points"], key=lambda point: point["streams"])]
    return "## Capacity: real-time players without an underrun\n\n" + "".join(found) + "\n" + point_table(points)


def _cliff(voices: list[Figures]) -> str:
    head = ("voice", "alone p50, ms", "streams", "p95, ms", "p99, ms", "p95 to alone", "p99 to alone")
    rows = (
        [
            entry["voice"],
            *_waits(entry["alone_ttfp_ms"], ["p50"]),
            str(entry["streams"]),
            *_waits(entry["loaded"]["ttfp_ms"], ["p95", "p99"]),
            f"{shown(entry['p95_to_alone'], 1)} x",
            f"{shown(entry['p99_to_alone'], 1)} x",
        ]
        for entry in voices
    )
    return "## Waits at 80 % of the capacity\n\n" + table(head, rows)


def _isolation(voices: list[Figures]) -> str:
    head = (
        *("voice", "TTFP p95 without, ms", "with a bulk reader, ms", "bulk alone, audio s per s"),
        *("bulk beside the others", "the others", "share of idle capacity"),
    )
    rows = (
        [
            entry["voice"],
            *_waits(entry["without_ms"], ["p95"]),
            *_waits(entry["with_ms"], ["p95"]),
            f"{entry['bulk_alone_audio_s_per_s']:.1f}",
            f"{entry['bulk_audio_s_per_s']:.1f}",
            f"{entry['interactive_audio_s_per_s']:.1f}",
            shown(entry["bulk_share"], 2),
        ]
        for entry in voices
    )
    note = (
        "Idle capacity is the pace of the reader alone, less the sound that the others were given: the share is more"
        " than 1 where a reader alone leaves a core idle.\n"
    )
    return f"## Eight players of short replies beside a reader of 100,000 characters\n\n{table(head, rows)}\n{note}"


def _overload(voices: list[Figures]) -> str:
    lines = []
    for entry in voices:
        point = entry["point"]
        share = "" if entry["goodput_share"] is None else f", {entry['goodput_share']:.0%} of that at capacity"
        waits = point["rejected_after_ms"]
        refused = f"; refusals came after {waits['p50']:.0f} ms (p95 {waits['p95']:.0f})" if waits else ""
        lines.append(f"- {entry['voice']}: goodput {point['goodput']:.1f} audio s per s{share}{refused}\n")
    table_of_points = point_table(entry["point"] for entry in voices)
    return "## Twice the capacity, arriving at random\n\n" + "".join(lines) + "\n" + table_of_points


def _cancel(figures: Figures) -> str:
    cancel, vanish = figures["cancel"], figures["vanish"]
    p50, p99 = _waits(cancel["ended_after_ms"], ["p50", "p99"])
    left = ", ".join(f"{name} {count:+g}" for name, count in vanish["left"].items())
    quiet = "never" if vanish["quiet_after_s"] is None else f"after {vanish['quiet_after_s']} s"
    return (
        "## Listeners who leave\n\n"
        f"- {cancel['count']} left in the middle: all work for one was over after {p50} ms (p50), {p99} ms (p99);"
        f" {cancel['not_seen_to_end']} were not seen to end\n"
        f"- {vanish['count']} vanished: quiet {quiet}, memory {vanish['rss_mb']['before']} to"
        f" {vanish['rss_mb']['after']} MB, left behind: {left}\n"
    )


def _flat(figures: Figures) -> str:
    return (
        "## Memory over very many requests\n\n"
        f"- {figures['requests']} short requests in {figures['seconds']:.0f} s, {figures['failed']} failed:"
        f" {figures['settled_mb']:.0f} MB after the first ones, {figures['end_mb']:.0f} MB at the end,"
        f" {figures['growth']:+.2%}\n"
    )


def _determinism(figures: Figures) -> str:
    different = "".join(f"  - {each}\n" for each in figures["different"])
    return (
        "## The same sound alone and among others\n\n"
        f"- {figures['same']} of {figures['streams']} concurrent streams are byte-identical to each alone\n{different}"
    )


def _peers(figures: Figures) -> str:
    head = ("server", "asks again", "requests", "TTFP p50, ms", "p95, ms", "audio s per s", "server, CPU s", "failed")
    rows = (
        [
            row["server"],
            "when played" if row["paced"] else "when served",
            str(row["requests"]),
            *_waits(row["ttfp_ms"], ["p50", "p95"]),
            f"{row['audio_s_per_s']:.1f}",
            f"{row['server_cpu_s']:.1f}",
            str(row["failed"]),
        ]
        for row in figures["rows"]
    )
    title = f"## {figures['clients']} clients, `{figures['voice']}`, beside the hibari library behind plain HTTP"
    lower = f"TTFP p95 is {shown(figures['p95_ratio'], 1)} times lower where clients do not pause."
    return f"{title}\n\n{table(head, rows)}\n{lower}\n"


_SECTIONS: Mapping[str, Callable[[Any], str]] = {
    "capacity": _capacity,
    "cliff": _cliff,
    "isolation": _isolation,
    "overload": _overload,
    "cancel": _cancel,
    "flat": _flat,
    "determinism": _determinism,
    "peers": _peers,
}
