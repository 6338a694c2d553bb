"""``yuliu bench``: speech by default, and ``yuliu bench text``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE = click.Path(dir_okay=False, path_type=Path)
_HARNESS = click.Path(exists=True, file_okay=False, path_type=Path)
_QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress.")
_OUT = click.option("--out", type=_FILE, help="Write the report as JSON here.")
_TABLE = click.option("--table", type=_FILE, help="Write the table (Markdown) here.")
_PEERS = click.option(
    "--peers", "harness", type=_HARNESS, help="Folder of a harness of other systems (bench.py, judge.py)."
)


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  yuliu bench                     measure, print the table
  yuliu bench --reps 3            a quick look
  yuliu bench --out report.json --table report.md
  yuliu bench text                how text is read, and what it costs
""",
)
@click.option("--reps", type=click.IntRange(1, 100), default=9, show_default=True, help="Rounds over all texts.")
@_OUT
@_TABLE
@_PEERS
@_QUIET
@click.pass_context
def command(ctx: click.Context, /, reps: int, out: Path | None, table: Path | None, **others: Any) -> None:  # noqa: ANN401
    """Measure what this machine reaches: time to first packet, speed, memory, at four lengths in two languages.

    Takes one to ten minutes. Leave the machine alone meanwhile.
    """
    if ctx.invoked_subcommand:
        return
    from yuliu.bench.report import page
    from yuliu.bench.run import Plan, run

    report = run(Plan(_typed(), reps, harness=others["harness"]), _progress(quiet=others["quiet"]))
    _deliver(report, page(report), out, table)


@command.command(
    "text",
    epilog="""\b
Examples:
  yuliu bench text                cases, cost, random and arriving texts
  yuliu bench text --fuzz 100000  more random texts
  yuliu bench text --peers DIR    let the judge there write down what it hears
""",
)
@click.option("--fuzz", type=click.IntRange(0), default=2000, show_default=True, help="Random texts that are read.")
@_OUT
@_TABLE
@_PEERS
@_QUIET
def text(fuzz: int, out: Path | None, table: Path | None, harness: Path | None, quiet: bool) -> None:
    """Measure how text is read: written cases, cost, random texts, arriving texts, and what a judge hears."""
    from yuliu.bench.text import measure_text, page

    progress = _progress(quiet=quiet)
    report = measure_text(num_fuzzed=fuzz, progress=progress)
    if harness:
        import yuliu
        from yuliu.bench.ears import listen

        with yuliu.open() as speaker:
            report["heard"] = listen(speaker, harness, progress=progress)
    _deliver(report | {"command": _typed()}, page(report), out, table)


def _typed() -> str:
    """The command as typed, but for the places of folders, which say nothing to others."""
    words = ["yuliu", *sys.argv[1:]]
    return " ".join("DIR" if before == "--peers" else word for before, word in zip(["", *words], words, strict=False))


def _progress(*, quiet: bool) -> Callable[[str], None]:
    return lambda line: None if quiet else click.echo(line, err=True)


def _deliver(report: dict[str, Any], page: str, out: Path | None, table: Path | None) -> None:
    for path, content in ((out, json.dumps(report, ensure_ascii=False, indent=1) + "\n"), (table, page)):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    click.echo(page)
