"""``yuliu bench load``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from yuliu.bench.load import PARTS
from yuliu.bench.load.texts import DEFAULT_SHARES, LENGTHS, STREAM_CLASSES
from yuliu.cli.commands.bench_output import deliver, out_option, progress_to, quiet_option, table_option, typed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from yuliu.bench.load.point import Shape
    from yuliu.bench.load.setting import Setting

EXAMPLES = """\b
Examples:
  yuliu bench load --streams 20 --voice baker   twenty players in real time
  yuliu bench load --rate 3 --voice heart       three newcomers a second
  yuliu bench load --suite                      all parts, in 15 minutes or so
  yuliu bench load --part cliff --streams 40    one part; 40 is the capacity
  yuliu bench load --streams 20 -- --workers 1    behind --: for yuliu serve
"""


@click.command("load", epilog=EXAMPLES)
@click.option(
    "--streams",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Players at a time; with parts: the known capacity.",
)
@click.option(
    "--rate", type=click.FloatRange(0), default=0.0, metavar="N", help="Newcomers a second instead of players."
)
@click.option(
    "--seconds",
    type=click.FloatRange(1),
    default=15.0,
    show_default=True,
    metavar="S",
    help="How long each load is measured.",
)
@click.option(
    "--warm-up",
    "warm_up_s",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    metavar="S",
    help="How long it runs before that.",
)
@click.option(
    "--voice",
    "voices",
    multiple=True,
    metavar="NAME",
    help="May be repeated. Default: yuliu; baker and heart for parts.",
)
@click.option(
    "--length", "lengths", type=click.Choice(LENGTHS), multiple=True, help="How long the texts are; may be repeated."
)
@click.option("--class", "stream_class", type=click.Choice(STREAM_CLASSES), help="The class of all requests.")
@click.option(
    "--seed",
    default="load",
    show_default=True,
    metavar="TEXT",
    help="Draws the texts and moments; another one, others.",
)
@click.option("--suite", is_flag=True, help="All parts.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="This part; may be given several times.")
@click.option(
    "--requests",
    type=click.IntRange(2),
    default=20_000,
    show_default=True,
    metavar="N",
    help="How many the part flat makes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@out_option
@table_option
@quiet_option
@click.argument("serve", nargs=-1, type=click.UNPROCESSED)
def load(as_json: bool, out: Path | None, table: Path | None, quiet: bool, **given: Any) -> None:  # noqa: ANN401
    """Let many listeners ask a server at once: what they feel, what it costs, how many are carried.

    Starts a server of its own. One load lasts as long as --seconds says and half a minute more. Leave the machine
    alone meanwhile.
    """
    from yuliu.bench.load.report import page
    from yuliu.bench.load.suite import run_parts, run_point

    parts = PARTS if given["suite"] else given["parts"]
    if not (parts or given["streams"] or given["rate"]):
        raise click.UsageError("say what to do: --streams N, --rate R, --part NAME or --suite")
    setting = _setting(given, quiet=quiet)
    report = run_parts(setting, parts, typed()) if parts else run_point(setting, _shape(given), typed())
    written = json.dumps(report, ensure_ascii=False, indent=1)
    deliver(report, page(report), out, table, printed=written if as_json else None)


def _setting(given: dict[str, Any], *, quiet: bool) -> Setting:
    from yuliu.bench.load.point import Timing
    from yuliu.bench.load.setting import Setting

    return Setting(
        voices=given["voices"] or Setting().voices,
        timing=Timing(given["seconds"], given["warm_up_s"]),
        streams=given["streams"],
        requests=given["requests"],
        serve=given["serve"],
        progress=progress_to(quiet=quiet),
    )


def _shape(given: dict[str, Any]) -> Shape:
    from yuliu.bench.load.point import Shape

    lengths: Sequence[Any] = given["lengths"]
    return Shape(
        given["voices"] or ("yuliu",),
        given["streams"],
        given["rate"],
        shares=tuple((length, 1) for length in lengths) or DEFAULT_SHARES,
        stream_class=given["stream_class"],
        seed=given["seed"],
    )
