"""The bench suite: ``python -m bench COMMAND``, run from the root of the repository."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bench.endpoints import ENDPOINT_PARTS
from bench.load import LOAD_PARTS
from yuliu.cli.commands.bench_output import deliver, out_option, progress_to, table_option, typed_command
from yuliu.cli.options import quiet_option

if TYPE_CHECKING:
    from collections.abc import Collection

    from bench.endpoints import EndpointPart
    from bench.load import LoadPart

_F = TypeVar("_F", bound=Callable[..., Any])
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
peers_option = click.option(
    "--peers", "harness", type=_FOLDER, help="Folder of a harness of other systems (bench.py, judge.py)."
)


def _typed() -> str:
    return typed_command("python -m bench")


def _rounds_option(name: str, text: str) -> Callable[[_F], _F]:
    return click.option(name, type=click.IntRange(1, 100), default=9, show_default=True, metavar="N", help=text)


@click.group()
def main() -> None:
    """Measure what docs/performance*.md shows. Leave the machine alone meanwhile."""


@main.command()
@_rounds_option("--reps", "Rounds over all texts.")
@out_option
@table_option
@peers_option
@quiet_option
def speech(reps: int, out: Path | None, table: Path | None, harness: Path | None, quiet: bool) -> None:
    """Measure latency, whole articles and, with --peers, other systems and the judge's verdicts."""
    from bench.speech import SpeechPlan, run_speech, speech_page

    report = run_speech(SpeechPlan(_typed(), reps, harness), progress_to(quiet=quiet))
    deliver(report, speech_page(report), out, table)


@main.command()
@click.option(
    "--fuzz", type=click.IntRange(0), default=2000, show_default=True, metavar="N", help="Number of random texts."
)
@out_option
@table_option
@peers_option
@quiet_option
def text(fuzz: int, out: Path | None, table: Path | None, harness: Path | None, quiet: bool) -> None:
    """Measure how text is read: written cases, cost, random and arriving texts, and the judge's verdicts."""
    from bench.text import measure_text, text_page

    progress = progress_to(quiet=quiet)
    report = measure_text(num_fuzzed=fuzz, progress=progress)
    if harness:
        import yuliu
        from bench.judge import judge_sentences

        with yuliu.open() as synthesizer:
            report["heard"] = judge_sentences(synthesizer, harness, progress=progress)
    deliver(report | {"command": _typed()}, text_page(report), out, table)


@main.command()
@_rounds_option("--rounds", "Rounds of each part; slow parts take a third of them.")
@click.option("--part", "parts", type=click.Choice(ENDPOINT_PARTS), multiple=True, help="A part; may be repeated.")
@out_option
@table_option
@quiet_option
def endpoints(
    rounds: int, parts: Collection[EndpointPart], *, out: Path | None, table: Path | None, quiet: bool
) -> None:
    """Measure each endpoint and format for one client, and check the targets; all parts take six minutes."""
    from bench.endpoints.report import endpoint_suite_page
    from bench.endpoints.suite import EndpointSuite, run_endpoint_suite
    from yuliu.bench.endpoints import EndpointConfig

    suite = EndpointSuite(EndpointConfig(rounds, progress=progress_to(quiet=quiet)))
    report = run_endpoint_suite(suite, parts or ENDPOINT_PARTS, _typed())
    deliver(report, endpoint_suite_page(report), out, table)


@main.command()
@click.option("--part", "parts", type=click.Choice(LOAD_PARTS), multiple=True, help="A part; may be repeated.")
@click.option(
    "--streams", type=click.IntRange(0), default=0, metavar="N", help="Known capacity, so that it is not measured."
)
@click.option("--seconds", type=click.FloatRange(1), default=15.0, show_default=True, metavar="S", help="Each load.")
@click.option("--voice", "voices", multiple=True, metavar="NAME", help="May be repeated. Default: baker and heart.")
@click.option(
    "--requests",
    type=click.IntRange(2),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Requests of the part flat.",
)
@out_option
@table_option
@quiet_option
@click.argument("serve", nargs=-1, type=click.UNPROCESSED)
def load(parts: Collection[LoadPart], *, out: Path | None, table: Path | None, quiet: bool, **given: Any) -> None:  # noqa: ANN401
    """Measure capacity and the behaviour near it and beyond it, in 15 minutes or so.

    Arguments after -- are options of yuliu serve.
    """
    from bench.load.report import load_suite_page
    from bench.load.suite import LoadSuite, run_load_suite
    from yuliu.bench.load.point import LoadConfig, LoadTiming

    config = LoadConfig(
        voices=given["voices"] or LoadConfig().voices,
        timing=LoadTiming(given["seconds"]),
        serve=given["serve"],
        progress=progress_to(quiet=quiet),
    )
    report = run_load_suite(LoadSuite(config, given["streams"], given["requests"]), parts or LOAD_PARTS, _typed())
    deliver(report, load_suite_page(report), out, table)


@main.command()
@click.argument("old", metavar="PYTHON", type=click.Path(exists=True, dir_okay=False))
@_rounds_option("--reps", "Rounds over all texts.")
@out_option
@table_option
@quiet_option
def compare(old: str, reps: int, out: Path | None, table: Path | None, *, quiet: bool) -> None:
    """Compare this installation with an older one, in which PYTHON runs: the same requests in turn."""
    from bench.compare import ComparePlan, compare_page, run_compare

    plan = ComparePlan(_typed(), {"old": old, "new": sys.executable}, reps)
    report = run_compare(plan, progress_to(quiet=quiet))
    deliver(report, compare_page(report), out, table)


@main.command()
@click.argument("voices", nargs=-1, required=True)
def loudness(voices: tuple[str, ...]) -> None:
    """Measure the loudness of voices and the gain_db that would bring them to the common one."""
    from bench.loudness import report_loudness

    for lines in report_loudness(voices):
        sys.stdout.write(lines)


if __name__ == "__main__":
    main(prog_name="python -m bench")
