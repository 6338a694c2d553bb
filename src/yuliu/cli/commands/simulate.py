"""``yuliu simulate``: capacity of a machine, estimated without the machine."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.console.terminal import count, table
from yuliu.cli.options import json_option
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from yuliu.scheduler.simulation.rates import Rates
    from yuliu.scheduler.simulation.simulate import Load, Result

PARTS = {"yuliu": ("baker", "heart")}
"""Voices composed of other voices."""


@click.command(
    epilog="""\b
Examples:
  yuliu simulate --streams 50                  the default voice, two workers
  yuliu simulate --streams 50 --voice baker --workers 4 --bulk 1
  yuliu simulate --rate 3 --seconds 300        random arrivals
  yuliu simulate --capacity --workers 8        find the capacity
  yuliu simulate --streams 400 --voice gpu-assumed --workers 1
  yuliu simulate --streams 200 --workers 8 --rtf table.toml --json
"""
)
@click.option(
    "--streams",
    type=click.IntRange(0, 10_000),
    default=0,
    metavar="N",
    help="Number of listeners that request one stream after another.",
)
@click.option(
    "--rate", type=click.FloatRange(0, 1000), default=0.0, metavar="N", help="Additional random streams per second."
)
@click.option("--bulk", type=click.IntRange(0, 1000), default=0, metavar="N", help="Number of endless bulk streams.")
@click.option("--workers", type=click.IntRange(1, 1024), default=2, show_default=True, help="Number of worker threads.")
@click.option(
    "--seconds",
    type=click.FloatRange(1, 86_400),
    default=60.0,
    show_default=True,
    help="Time in which new streams start.",
)
@click.option(
    "--audio",
    type=click.FloatRange(0.5, 3600),
    default=8.0,
    show_default=True,
    help="Average audio per stream, seconds.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of the random arrivals.",
)
@click.option("--voice", default="yuliu", show_default=True, metavar="NAME", help="Engine of the table to use.")
@click.option(
    "--rtf",
    "path",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Your own table of engines, all of which are used.",
)
@click.option("--control", is_flag=True, help="Let the controller adapt its parameters.")
@click.option("--capacity", "find", is_flag=True, help="Find the maximum number of listeners.")
@json_option()
def command(voice: str, path: Path | None, find: bool, as_json: bool, **options: Any) -> None:  # noqa: ANN401 - the load's
    """Simulate many listeners on a virtual clock: the real scheduler, engines timed by a table, and real-time players.

    A simulated minute takes about a second, and the same options give the same numbers.
    """
    from yuliu.scheduler.simulation.simulate import Load, capacity

    rates, workers = _rates(voice, path), options["workers"]
    load = Load(
        num_streams=options["streams"],
        rate_per_s=options["rate"],
        num_bulk=options["bulk"],
        seconds=options["seconds"],
        audio_s=options["audio"],
        seed=options["seed"],
    )
    if find:
        found = capacity(rates, load, num_workers=workers)
        click.echo(
            json.dumps({"capacity": found}) if as_json else f"{count(workers, 'worker')} can serve {found:,} listeners"
        )
        return
    if not (load.num_streams or load.rate_per_s or load.num_bulk):
        raise click.UsageError("there is no load; give --streams, --rate, --bulk or --capacity")
    result = _run(rates, load, workers, control=options["control"])
    values = as_values(result, load, workers)
    click.echo(json.dumps(values, indent=2) if as_json else _page(values))


def _rates(voice: str, path: Path | None) -> dict[str, Rates]:
    from yuliu.scheduler.simulation import simulate
    from yuliu.scheduler.simulation.rates import read_rates

    source = path or Path(simulate.__file__).with_name("rates.toml")
    try:
        found = read_rates(tomllib.loads(source.read_text(encoding="utf-8")), source.name)
    except ValueError as error:
        raise InvalidRequest(f"{source.name}: {error}", param="rtf") from error
    if path is not None:
        return found
    names = PARTS.get(voice, (voice,))
    if unknown := [name for name in names if name not in found]:
        known = ", ".join([*PARTS, *found])
        raise InvalidRequest(f"no rates for {unknown[0]!r}; known are {known}; give your own with --rtf", param="voice")
    return {name: found[name] for name in names}


def _run(rates: dict[str, Rates], load: Load, workers: int, *, control: bool) -> Result:
    from yuliu.scheduler.policy.autotune import Controller
    from yuliu.scheduler.policy.tuning import Tuning
    from yuliu.scheduler.simulation.simulate import simulate

    targets = {each: rules.ttfp_target_s for each, rules in Tuning().classes.items()}
    controller = Controller(targets, 1, workers) if control else None
    return simulate(rates, load, num_workers=workers, controller=controller)


def as_values(result: Result, load: Load, workers: int) -> dict[str, Any]:
    """Return the result as values for JSON."""
    return {
        "workers": workers,
        "seconds": round(result.seconds, 3),
        "seed": load.seed,
        "streams": result.num_streams,
        "admitted": result.num_admitted,
        "rejected": result.num_rejected,
        "completed": result.num_completed,
        "ttfp_ms": {f"p{round(100 * share)}": round(result.ttfp_ms(share), 1) for share in (0.5, 0.95, 0.99)},
        "underrun": {"streams": len(result.underrun_s), "seconds": round(sum(result.underrun_s), 3)},
        "audio_s": round(result.audio_s, 3),
        "bulk_audio_s": round(result.bulk_s, 3),
        "load": round(result.load, 4),
        "tunings": result.num_tunings,
    }


def _page(values: dict[str, Any]) -> str:
    ttfp, underrun = values["ttfp_ms"], values["underrun"]
    rows = [
        ("FIGURE", "VALUE"),
        ("streams", f"{values['streams']:,} started, {values['admitted']:,} admitted, {values['rejected']:,} rejected"),
        ("first packet", f"p50 {ttfp['p50']:g} ms, p95 {ttfp['p95']:g} ms, p99 {ttfp['p99']:g} ms"),
        ("underruns", f"{underrun['streams']:,} streams, {underrun['seconds']:g} s"),
        ("audio", f"{values['audio_s']:,.0f} s for listeners, {values['bulk_audio_s']:,.0f} s of bulk work"),
        ("workers", f"{values['workers']}, busy {values['load']:.0%} of {values['seconds']:,.0f} s"),
    ]
    return table(rows)
