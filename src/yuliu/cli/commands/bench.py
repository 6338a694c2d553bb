"""``yuliu bench``: speech by default, ``yuliu bench text``, ``yuliu bench doors`` and ``yuliu bench load``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from yuliu.cli.commands.bench_doors import doors
from yuliu.cli.commands.bench_load import load
from yuliu.cli.commands.bench_output import deliver, out_option, progress_to, quiet_option, table_option, typed
from yuliu.cli.group import Group

_HARNESS = click.Path(exists=True, file_okay=False, path_type=Path)
_PEERS = click.option(
    "--peers", "harness", type=_HARNESS, help="Folder of a harness of other systems (bench.py, judge.py)."
)


@click.group(
    cls=Group,
    invoke_without_command=True,
    epilog="""\b
Examples:
  yuliu bench                     measure, print the table
  yuliu bench --reps 3            a quick look
  yuliu bench --out report.json --table report.md
  yuliu bench text                how text is read, and what it costs
  yuliu bench doors               every way in, every format
  yuliu bench load --streams 20   many listeners at once
""",
)
@click.option(
    "--reps", type=click.IntRange(1, 100), default=9, show_default=True, metavar="N", help="Rounds over all texts."
)
@out_option
@table_option
@_PEERS
@quiet_option
@click.pass_context
def command(ctx: click.Context, /, reps: int, out: Path | None, table: Path | None, **others: Any) -> None:  # noqa: ANN401
    """Measure what this machine reaches: time to first packet, speed, memory, at four lengths in two languages.

    Takes one to ten minutes. Leave the machine alone meanwhile.
    """
    if ctx.invoked_subcommand:
        return
    from yuliu.bench.report import page
    from yuliu.bench.run import Plan, run

    report = run(Plan(typed(), reps, harness=others["harness"]), progress_to(quiet=others["quiet"]))
    deliver(report, page(report), out, table)


@command.command(
    "text",
    epilog="""\b
Examples:
  yuliu bench text                cases, cost, random and arriving texts
  yuliu bench text --fuzz 100000  more random texts
  yuliu bench text --peers DIR    let the judge there write down what it hears
""",
)
@click.option(
    "--fuzz", type=click.IntRange(0), default=2000, show_default=True, metavar="N", help="Random texts that are read."
)
@out_option
@table_option
@_PEERS
@quiet_option
def text(fuzz: int, out: Path | None, table: Path | None, harness: Path | None, quiet: bool) -> None:
    """Measure how text is read: written cases, cost, random texts, arriving texts, and what a judge hears."""
    from yuliu.bench.text import measure_text, page

    progress = progress_to(quiet=quiet)
    report = measure_text(num_fuzzed=fuzz, progress=progress)
    if harness:
        import yuliu
        from yuliu.bench.ears import listen

        with yuliu.open() as synthesizer:
            report["heard"] = listen(synthesizer, harness, progress=progress)
    deliver(report | {"command": typed()}, page(report), out, table)


command.add_command(doors)
command.add_command(load)
