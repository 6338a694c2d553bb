"""Page of a report under load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import percentile_of, shown
from yuliu.bench.report import described, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

POINT_HEAD = (
    *("voice", "streams", "TTFP p50, ms", "p95, ms", "p99, ms", "underran", "underrun, s", "refused", "failed"),
    *("audio s per s", "cores busy", "generator, CPU s", "CPU ratio", "memory, MB"),
)
NOTES = """\
Clients read over loopback as fast as audio arrives; the playback of a player that starts at the first packet is
computed from the arrival times. `TTFP` is from the first byte of a request sent to the first byte of audio. `underran`:
streams with a player that was silent for more than 10 ms; `refused`: answered 429. `cores busy` is the whole machine,
load generator included. `CPU ratio`: CPU seconds of the server for each second of audio, over those of the engines
alone.
"""


def load_page(report: Mapping[str, Any]) -> str:
    """Return the report of one load or of a search for the capacity as Markdown."""
    if "parts" not in report:
        return "\n".join([page_head(report), point_table([report])])
    return "\n".join([page_head(report), capacity_section(report["parts"]["capacity"])])


def page_head(report: Mapping[str, Any]) -> str:
    """Return the head of a page, with the notes on its terms."""
    measured = f"Measured by `{report['command']}` on {described(dict(report))}\n"
    return "\n".join(["# Performance under load\n", measured, NOTES])


def point_table(points: Iterable[Mapping[str, Any]]) -> str:
    """Return a table with one row for each load."""
    return table(POINT_HEAD, map(_point_row, points))


def percentile_cells(
    percentiles: Mapping[str, float] | None, names: Iterable[str] = ("p50", "p95", "p99")
) -> list[str]:
    """Return a cell for each of some percentiles."""
    return [shown(percentile_of(percentiles, name), 1) for name in names]


def capacity_section(voices: Sequence[Mapping[str, Any]]) -> str:
    """Return the section of a search for the capacity."""
    found = []
    for entry in voices:
        busy = entry["least_busy_with_underrun"]
        first = "no load had an underrun" if busy is None else f"the first underrun came at {busy:.0%} busy cores"
        best = entry["at_capacity"]
        cost = f" at {shown(best['cpu_ratio'], 2)} x the engines' own CPU time" if best else ""
        found.append(f"- {entry['voice']}: **{entry['streams']} streams**{cost}; {first}\n")
    points = [point for entry in voices for point in sorted(entry["points"], key=lambda point: int(point["streams"]))]
    return "## Capacity: real-time players without an underrun\n\n" + "".join(found) + "\n" + point_table(points)


def _point_row(point: Mapping[str, Any]) -> list[str]:
    streams = str(point["streams"]) if point["streams"] else f"{point['rate_per_s']:.2f} a second"
    return [
        "+".join(point["voices"]),
        streams,
        *percentile_cells(point["ttfp_ms"]),
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
