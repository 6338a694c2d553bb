"""``yuliu bench doors``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from yuliu.bench.doors import PARTS
from yuliu.cli.commands.bench_output import deliver, out_option, progress_to, quiet_option, table_option, typed

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from yuliu.bench.doors import Part

EXAMPLES = """\b
Examples:
  yuliu bench doors               everything, in six minutes or so
  yuliu bench doors --rounds 2    a quick look
  yuliu bench doors --part formats --part encoding
  yuliu bench doors --out doors.json --table doors.md
"""


@click.command("doors", epilog=EXAMPLES)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=9,
    show_default=True,
    metavar="N",
    help="How often each part is measured; two parts a third as often.",
)
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="Only this part; may be repeated.")
@out_option
@table_option
@quiet_option
def doors(rounds: int, parts: Collection[Part], *, out: Path | None, table: Path | None, quiet: bool) -> None:
    """Measure every way in and every format, for one listener.

    How soon each format sounds at each door, beside PCM; the native WebSocket beside the engines alone; whether sound
    keeps up with the tokens of a language model; what the time to the first sound goes into; what encoding takes. What
    was wanted stands beside what was reached. Leave the machine alone meanwhile.
    """
    from yuliu.bench.doors.report import page
    from yuliu.bench.doors.setting import Setting
    from yuliu.bench.doors.suite import run_doors

    report = run_doors(Setting(rounds, progress=progress_to(quiet=quiet)), parts or PARTS, typed())
    deliver(report, page(report), out, table)
