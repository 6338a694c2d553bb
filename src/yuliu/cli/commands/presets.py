"""``yuliu presets``: settings of streams by use case."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from yuliu.cli.console.terminal import duration, num_columns, table
from yuliu.cli.options import json_option

if TYPE_CHECKING:
    from yuliu.presets import Bounds, Preset

HEADINGS = ("NAME", "FIRST PACKET", "CLASS", "SEGMENTS", "WORKERS", "QUEUE", "LEAD")


@click.command(
    epilog="""\b
Examples:
  yuliu presets
  yuliu presets --json
  yuliu presets --file ours.toml    check a file, and show the result
"""
)
@click.option(
    "-f",
    "--file",
    "path",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Show the presets as changed by this file.",
)
@json_option()
def command(path: Path | None, as_json: bool) -> None:
    """List the presets: text segmentation and scheduling for each use case."""
    from yuliu.presets import as_values, load_presets, presets

    found = list((load_presets(path) if path else presets()).values())
    if as_json:
        click.echo(json.dumps([as_values(preset) for preset in found], ensure_ascii=False, indent=2))
        return
    click.echo(table([HEADINGS, *map(_row, found)]))
    width = min(num_columns(sys.stdout), 100)
    indent = max(len(preset.name) for preset in found) + 2
    for preset in found:
        head = f"{preset.name}:".ljust(indent)
        click.echo(
            "\n" + click.wrap_text(preset.description, width, initial_indent=head, subsequent_indent=" " * indent)
        )


def _row(preset: Preset) -> tuple[str, ...]:
    low, high = preset.chunking.weights
    return (
        preset.name,
        f"{preset.first_packet_s * 1000:g} ms",
        preset.stream_class.value,
        f"{preset.chunking.strategy} {low:g}-{high:g}",
        _span(preset.workers, "all"),
        _span(preset.queue, "memory"),
        "unbounded" if preset.max_lead_s is None else duration(preset.max_lead_s),
    )


def _span(bounds: Bounds, unbounded: str) -> str:
    return unbounded if bounds.most is None else f"{bounds.least}-{bounds.most}"
