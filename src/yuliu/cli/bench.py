"""``yuliu bench``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  yuliu bench                                  measure, print the table
  yuliu bench --reps 3                         a quick look
  yuliu bench --out report.json --table report.md
"""
)
@click.option("--reps", type=click.IntRange(1, 100), default=9, show_default=True, help="Rounds over all texts.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the report as JSON here.")
@click.option("--table", type=click.Path(dir_okay=False, path_type=Path), help="Write the table (Markdown) here.")
@click.option(
    "--peers",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a harness of other systems (bench.py, judge.py), measured in the same run.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(reps: int, out: Path | None, table: Path | None, peers: Path | None, quiet: bool) -> None:
    """Measure what this machine reaches: time to first packet, speed, memory, at four lengths in two languages.

    Takes one to ten minutes. Leave the machine alone meanwhile.
    """
    from yuliu.bench.report import page
    from yuliu.bench.run import Plan, run

    typed = " ".join(["yuliu", *sys.argv[1:]])
    report = run(Plan(typed, reps, harness=peers), lambda line: None if quiet else click.echo(line, err=True))
    written = page(report)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if table:
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text(written, encoding="utf-8")
    click.echo(written)
