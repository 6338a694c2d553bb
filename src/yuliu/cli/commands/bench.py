"""``yuliu bench``: latency by default, ``yuliu bench endpoints`` and ``yuliu bench load``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from yuliu.bench.texts import DEFAULT_SHARES, LENGTHS, STREAM_CLASSES
from yuliu.cli.commands.bench_output import (
    as_json,
    deliver,
    out_option,
    progress_to,
    table_option,
    typed_command,
)
from yuliu.cli.options import Group, quiet_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from yuliu.bench.load.point import LoadConfig, LoadShape


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    epilog="""\b
Examples:
  yuliu bench                     measure, and print the table
  yuliu bench --reps 3            a quick look
  yuliu bench --out report.json --table report.md
  yuliu bench endpoints           every format on every endpoint
  yuliu bench load --streams 20   many clients at once
  yuliu bench load --capacity     find the capacity of this machine
""",
)
@click.option(
    "--reps",
    type=click.IntRange(1, 100),
    default=9,
    show_default=True,
    metavar="N",
    help="Number of rounds over all texts.",
)
@out_option
@table_option
@quiet_option
@click.pass_context
def command(ctx: click.Context, /, reps: int, out: Path | None, table: Path | None, quiet: bool) -> None:
    """Benchmark this machine: time to first packet, speed and memory, at four text lengths in two languages.

    Starts its own server and takes one to five minutes. Keep the machine otherwise idle.
    """
    if ctx.invoked_subcommand:
        return
    from yuliu.bench.latency import run_latency
    from yuliu.bench.report import latency_page

    report = run_latency(typed_command(), num_rounds=reps, progress=progress_to(quiet=quiet))
    deliver(report, latency_page(report), out, table)


@command.command(
    "endpoints",
    epilog="""\b
Examples:
  yuliu bench endpoints              all formats, in about two minutes
  yuliu bench endpoints --rounds 2   a quick look
  yuliu bench endpoints --out endpoints.json --table endpoints.md
""",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=9,
    show_default=True,
    metavar="N",
    help="Number of rounds over all formats.",
)
@out_option
@table_option
@quiet_option
def endpoints(rounds: int, out: Path | None, table: Path | None, quiet: bool) -> None:
    """Measure the time to first packet of each format on each endpoint, with one client, compared with PCM.

    Starts its own server. Keep the machine otherwise idle.
    """
    from yuliu.bench.endpoints import EndpointConfig, endpoints_page, run_endpoints

    report = run_endpoints(EndpointConfig(rounds, progress=progress_to(quiet=quiet)), typed_command())
    deliver(report, endpoints_page(report), out, table)


@command.command(
    "load",
    epilog="""\b
Examples:
  yuliu bench load --streams 20 --voice baker   twenty players in real time
  yuliu bench load --rate 3 --voice heart       three new clients per second
  yuliu bench load --capacity --voice baker     find the number of players
  yuliu bench load --streams 20 -- --workers 1  yuliu serve options after --
""",
)
@click.option("--streams", type=click.IntRange(0), default=0, metavar="N", help="Number of concurrent players.")
@click.option(
    "--rate", type=click.FloatRange(0), default=0.0, metavar="N", help="New clients per second instead of players."
)
@click.option("--capacity", is_flag=True, help="Find the largest number of players without underruns.")
@click.option(
    "--seconds",
    type=click.FloatRange(1),
    default=15.0,
    show_default=True,
    metavar="S",
    help="Duration of each measurement.",
)
@click.option(
    "--warm-up",
    "warm_up_s",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    metavar="S",
    help="Duration of the load before the measurement.",
)
@click.option(
    "--voice",
    "voices",
    multiple=True,
    metavar="NAME",
    help="Voice; may be given several times. Default: yuliu; with --capacity, baker and heart.",
)
@click.option(
    "--length",
    "lengths",
    type=click.Choice(LENGTHS),
    multiple=True,
    help="Length of the texts; may be given several times.",
)
@click.option(
    "--class",
    "stream_class",
    type=click.Choice(STREAM_CLASSES),
    help="Stream class of all requests.",
)
@click.option("--seed", default="load", show_default=True, metavar="TEXT", help="Seed of the texts and arrival times.")
@click.option("--json", "as_json_text", is_flag=True, help="Print the report as JSON.")
@out_option
@table_option
@quiet_option
@click.argument("serve", nargs=-1, type=click.UNPROCESSED)
def load(as_json_text: bool, out: Path | None, table: Path | None, quiet: bool, **given: Any) -> None:  # noqa: ANN401
    """Load a server with many clients at once: latency, underruns, refusals, cost and capacity.

    Starts its own server. A load takes half a minute longer than --seconds. Keep the machine otherwise idle.
    """
    from yuliu.bench.load.capacity import run_capacity
    from yuliu.bench.load.point import run_point
    from yuliu.bench.load.report import load_page

    if not (given["capacity"] or given["streams"] or given["rate"]):
        raise click.UsageError("nothing to measure; give --streams N, --rate N or --capacity")
    config = _load_config(given, quiet=quiet)
    command = typed_command()
    report = run_capacity(config, command) if given["capacity"] else run_point(config, _load_shape(given), command)
    deliver(report, load_page(report), out, table, printed=as_json(report) if as_json_text else None)


def _load_config(given: dict[str, Any], *, quiet: bool) -> LoadConfig:
    from yuliu.bench.load.point import LoadConfig, LoadTiming

    return LoadConfig(
        voices=given["voices"] or LoadConfig().voices,
        timing=LoadTiming(given["seconds"], given["warm_up_s"]),
        serve=given["serve"],
        progress=progress_to(quiet=quiet),
    )


def _load_shape(given: dict[str, Any]) -> LoadShape:
    from yuliu.bench.load.point import LoadShape

    lengths: Sequence[Any] = given["lengths"]
    return LoadShape(
        given["voices"] or ("yuliu",),
        given["streams"],
        given["rate"],
        shares=tuple((length, 1) for length in lengths) or DEFAULT_SHARES,
        stream_class=given["stream_class"],
        seed=given["seed"],
    )
