"""``yuliu voices``: list, pull, verify and remove voices."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.console.errors import FAILED
from yuliu.cli.console.terminal import StatusLine, bar, is_terminal, num_columns, size, table
from yuliu.cli.options import Group, complete_voice, json_option, quiet_option
from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.cli.wiring import Wiring
    from yuliu.voices import VoiceInfo
    from yuliu.voices.progress import PullProgress

STATES = {"absent": "not pulled", "ready": "ready", "damaged": "damaged", "outdated": "outdated"}
STAGES = {"wait": "waiting for another program", "fetch": "fetching", "verify": "verifying", "derive": "building"}


@click.group(
    cls=Group,
    epilog="""\b
Examples:
  yuliu voices list
  yuliu voices pull               the default voice
  yuliu voices pull heart         another one
  yuliu voices info heart         description and terms of use
  yuliu voices verify             verify every file
  yuliu voices remove heart
""",
)
def command() -> None:
    """List, pull, verify and remove voices."""


_NAME = click.argument("name", shell_complete=complete_voice)
_NAMES = click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_voice)


@command.command("list", epilog="\b\nExample:\n  yuliu voices list --json")
@json_option()
@click.pass_obj
def list_voices(wiring: Wiring, /, as_json: bool) -> None:
    """List all voices, and their state on this machine."""
    infos = wiring.open_store().list()
    if as_json:
        _print_json([as_values(info) for info in infos])
        return
    rows = [("NAME", "SPEAKS", "STATE", "SIZE", "LICENCE"), *map(_row, infos)]
    click.echo(table(rows))
    if any(info.state != "ready" for info in infos):
        click.echo("\nTo get one: yuliu voices pull NAME")


@command.command(epilog="\b\nExamples:\n  yuliu voices info yuliu\n  yuliu voices info yuliu --json")
@_NAME
@json_option()
@click.pass_obj
def info(wiring: Wiring, /, name: str, as_json: bool) -> None:
    """Show a voice and its terms of use."""
    found = wiring.open_store().info(name)
    if as_json:
        _print_json(as_values(found))
        return
    width = min(num_columns(sys.stdout), 100)
    for key, value in described(found):
        indented = click.wrap_text(value, width, initial_indent=f"{key:13}", subsequent_indent=" " * 13)
        click.echo(indented)


@command.command(epilog="\b\nExamples:\n  yuliu voices pull\n  yuliu voices pull heart baker")
@_NAMES
@quiet_option
@click.pass_obj
def pull(wiring: Wiring, /, names: tuple[str, ...], quiet: bool) -> None:
    """Download or repair voices; without NAME, the default voice.

    An interrupted download resumes where it stopped. No file is used before it is verified.
    """
    store = wiring.open_store()
    for name in names or (_default_voice(),):
        store.info(name)  # report a wrong name before anything is fetched
    for name in names or (_default_voice(),):
        show = PullDisplay(quiet=quiet)
        try:
            store.pull(name, show)
        finally:
            show.close()
        if not quiet:
            click.echo(f"{name}: ready, {size(store.info(name).num_bytes_on_disk)}")


@command.command(epilog="\b\nExamples:\n  yuliu voices verify\n  yuliu voices verify heart --json")
@_NAMES
@json_option()
@click.pass_context
def verify(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Verify every file of voices against its hash; without NAME, of all pulled voices."""
    store = ctx.find_root().obj.open_store()
    pulled = [info.name for info in store.list() if info.state != "absent" and not info.parts]
    problems = {name: _problem(store.verify, name) for name in names or pulled}
    if as_json:
        _print_json([{"name": name, "ok": not problem, "problem": problem} for name, problem in problems.items()])
    elif not problems:
        click.echo("no voice has been pulled; to get one: yuliu voices pull")
    else:
        for name, problem in problems.items():
            click.echo(problem or f"{name}: every file is correct")
    if any(problems.values()):
        ctx.exit(FAILED)


@command.command(epilog="\b\nExample:\n  yuliu voices remove heart")
@_NAME
@click.pass_obj
def remove(wiring: Wiring, /, name: str) -> None:
    """Delete the files of a voice, including all its parts."""
    store = wiring.open_store()
    before = store.info(name)
    store.remove(name)
    parts = f", with {' and '.join(dict.fromkeys(part for _, part in before.parts))}" if before.parts else ""
    click.echo(f"{name}: removed{parts}, {size(before.num_bytes_on_disk)} freed")


class PullDisplay:
    """Progress of a pull: a line with a bar on a terminal, a line for each file elsewhere.

    Args:
        quiet: Show nothing.
        clock: Monotonic clock, seconds.
    """

    def __init__(self, *, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._status = StatusLine(sys.stderr, enabled=not quiet, clock=clock)
        self._lines = not quiet and not is_terminal(sys.stderr)
        self._clock = clock
        self._told: tuple[str, str] | None = None
        self._start_s = 0.0
        self._start_bytes = 0

    def __call__(self, progress: PullProgress) -> None:
        """Show the progress."""
        if self._told != (progress.stage, progress.file):
            self._told = (progress.stage, progress.file)
            self._start_s, self._start_bytes = self._clock(), progress.bytes_done
            if self._lines:
                click.echo(f"{progress.voice}: {_doing(progress)}", err=True)
        self._status.show(pull_fields(progress, self._bytes_per_s(progress)))

    def close(self) -> None:
        """Wipe the line."""
        self._status.clear()

    def _bytes_per_s(self, progress: PullProgress) -> float:
        elapsed_s = self._clock() - self._start_s
        return (progress.bytes_done - self._start_bytes) / elapsed_s if elapsed_s > 0 else 0.0


def pull_fields(progress: PullProgress, bytes_per_s: float) -> list[str]:
    """Return the fields of the status line, the most important ones first."""
    done, total = progress.bytes_done, progress.bytes_total
    if progress.stage != "fetch":
        return [f"{progress.voice}: {_doing(progress)}"]
    if not total:
        return [f"{progress.voice}: {size(done)} fetched", progress.file]
    fields = [f"{progress.voice}: {bar(done / total)} {done / total:4.0%}", f"of {size(total)}"]
    if bytes_per_s > 0:
        fields += [f"{size(round(bytes_per_s))}/s", f"{(total - done) / bytes_per_s:.0f} s left"]
    return [*fields, progress.file]


def _doing(progress: PullProgress) -> str:
    total = f" ({size(progress.bytes_total)})" if progress.stage == "fetch" and progress.bytes_total else ""
    return f"{STAGES[progress.stage]} {progress.file}{total}".rstrip()


def _row(info: VoiceInfo) -> tuple[str, ...]:
    stored = size(info.num_bytes_on_disk) if info.state == "ready" else f"{size(info.num_bytes_to_fetch)} to fetch"
    return (info.name, " ".join(info.languages), STATES[info.state], stored, _terms(info))


def _terms(info: VoiceInfo) -> str:
    names = ", ".join(dict.fromkeys(licence.name for licence in info.licences))
    return names if info.commercial_use else f"{names}; non-commercial"


def described(info: VoiceInfo) -> list[tuple[str, str]]:
    """Return the headings and values that ``yuliu voices info`` shows."""
    exact = "exact (streamed samples equal offline ones)"
    lines = [
        ("name", info.name),
        ("description", info.description),
        ("languages", " ".join(info.languages)),
        *[("with", f"{name} for {lang}") for lang, name in info.parts],
        ("engine", info.engine),
        ("sample rate", f"{info.sample_rate:,} Hz"),
        ("streaming", exact if info.streaming == "exact" else "parts are cross-faded"),
        ("state", STATES[info.state]),
        ("on disk", size(info.num_bytes_on_disk)),
    ]
    if info.state != "ready":
        lines.append(("to fetch", f"{size(info.num_bytes_to_fetch)}; run: yuliu voices pull {info.name}"))
    lines.append(("commercial", "allowed" if info.commercial_use else "not allowed"))
    return lines + [("licence", f"{licence.name}. {licence.notice}") for licence in info.licences]


def as_values(info: VoiceInfo) -> dict[str, Any]:
    """Return the fields of ``VoiceInfo`` and ``commercial_use``, as values for JSON."""
    import msgspec

    values: dict[str, Any] = msgspec.to_builtins(info)
    return values | {"commercial_use": info.commercial_use}


def _problem(verify: Callable[[str], None], name: str) -> str:
    try:
        verify(name)
    except VoiceNotReady as error:
        return error.message
    return ""


def _default_voice() -> str:
    from yuliu.voices import DEFAULT_VOICE

    return DEFAULT_VOICE


def _print_json(values: Sequence[Any] | dict[str, Any]) -> None:
    click.echo(json.dumps(values, ensure_ascii=False, indent=2))
