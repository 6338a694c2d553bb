"""Page of the load suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import shown
from yuliu.bench.load.report import capacity_section, page_head, percentile_cells, point_table
from yuliu.bench.report import table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Json = dict[str, Any]


def load_suite_page(report: Json) -> str:
    """Return the report of some parts as Markdown."""
    sections = [_SECTIONS[part](figures) for part, figures in report["parts"].items()]
    return "\n".join([page_head(report), *sections])


def _cliff(voices: list[Json]) -> str:
    head = ("voice", "alone p50, ms", "streams", "p95, ms", "p99, ms", "p95 to alone", "p99 to alone")
    rows = (
        [
            entry["voice"],
            *percentile_cells(entry["alone_ttfp_ms"], ["p50"]),
            str(entry["streams"]),
            *percentile_cells(entry["loaded"]["ttfp_ms"], ["p95", "p99"]),
            f"{shown(entry['p95_to_alone'], 1)} x",
            f"{shown(entry['p99_to_alone'], 1)} x",
        ]
        for entry in voices
    )
    return "## Latency at 80 % of the capacity\n\n" + table(head, rows)


def _isolation(voices: list[Json]) -> str:
    head = (
        *("voice", "TTFP p95 without, ms", "with a bulk reader, ms", "bulk alone, audio s per s"),
        *("bulk beside the others", "the others", "share of idle capacity"),
    )
    rows = (
        [
            entry["voice"],
            *percentile_cells(entry["without_ms"], ["p95"]),
            *percentile_cells(entry["with_ms"], ["p95"]),
            f"{entry['bulk_alone_audio_s_per_s']:.1f}",
            f"{entry['bulk_audio_s_per_s']:.1f}",
            f"{entry['interactive_audio_s_per_s']:.1f}",
            shown(entry["bulk_share"], 2),
        ]
        for entry in voices
    )
    note = (
        "Idle capacity is the pace of the reader alone, less the audio of the others; the share exceeds 1 if the"
        " reader alone leaves a core idle.\n"
    )
    return f"## Eight players of short replies beside a reader of 100,000 characters\n\n{table(head, rows)}\n{note}"


def _overload(voices: list[Json]) -> str:
    lines = []
    for entry in voices:
        point = entry["point"]
        share = "" if entry["goodput_share"] is None else f", {entry['goodput_share']:.0%} of that at capacity"
        waits = point["rejected_after_ms"]
        refused = f"; refusals came after {waits['p50']:.0f} ms (p95 {waits['p95']:.0f})" if waits else ""
        lines.append(f"- {entry['voice']}: goodput {point['goodput']:.1f} audio s per s{share}{refused}\n")
    points = point_table(entry["point"] for entry in voices)
    return "## Twice the capacity, arriving at random\n\n" + "".join(lines) + "\n" + points


def _cancel(figures: Json) -> str:
    cancel, vanish = figures["cancel"], figures["vanish"]
    p50, p99 = percentile_cells(cancel["ended_after_ms"], ["p50", "p99"])
    left = ", ".join(f"{name} {count:+g}" for name, count in vanish["left"].items())
    quiet = "never" if vanish["quiet_after_s"] is None else f"after {vanish['quiet_after_s']} s"
    return (
        "## Clients that leave\n\n"
        f"- {cancel['count']} left in the middle: all work for one was over after {p50} ms (p50), {p99} ms (p99);"
        f" {cancel['not_seen_to_end']} were not seen to end\n"
        f"- {vanish['count']} vanished: quiet {quiet}, memory {vanish['rss_mb']['before']} to"
        f" {vanish['rss_mb']['after']} MB, left behind: {left}\n"
    )


def _flat(figures: Json) -> str:
    return (
        "## Memory over a large number of requests\n\n"
        f"- {figures['requests']} short requests in {figures['seconds']:.0f} s, {figures['failed']} failed:"
        f" {figures['settled_mb']:.0f} MB after the first ones, {figures['end_mb']:.0f} MB at the end,"
        f" {figures['growth']:+.2%}\n"
    )


def _determinism(figures: Json) -> str:
    different = "".join(f"  - {each}\n" for each in figures["different"])
    return (
        "## The same audio alone and among others\n\n"
        f"- {figures['same']} of {figures['streams']} concurrent streams are byte-identical to each alone\n{different}"
    )


def _peers(figures: Json) -> str:
    head = (
        *("server", "next request", "requests", "TTFP p50, ms", "p95, ms", "audio s per s", "server, CPU s", "failed"),
    )
    rows = (
        [
            row["server"],
            "when played" if row["paced"] else "when served",
            str(row["requests"]),
            *percentile_cells(row["ttfp_ms"], ["p50", "p95"]),
            f"{row['audio_s_per_s']:.1f}",
            f"{row['server_cpu_s']:.1f}",
            str(row["failed"]),
        ]
        for row in figures["rows"]
    )
    title = f"## {figures['clients']} clients, `{figures['voice']}`, beside the hibari library behind plain HTTP"
    lower = f"TTFP p95 is {shown(figures['p95_ratio'], 1)} times lower for clients that do not pause."
    return f"{title}\n\n{table(head, rows)}\n{lower}\n"


_SECTIONS: Mapping[str, Callable[[Any], str]] = {
    "capacity": capacity_section,
    "cliff": _cliff,
    "isolation": _isolation,
    "overload": _overload,
    "cancel": _cancel,
    "flat": _flat,
    "determinism": _determinism,
    "peers": _peers,
}
