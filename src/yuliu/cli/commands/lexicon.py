"""``yuliu lexicon``: pronunciations of words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from yuliu.cli.console.errors import FAILED, CommandError
from yuliu.cli.console.terminal import count
from yuliu.cli.options import Group, json_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.lexicon_store import LexiconStore
    from yuliu.text.lexicon import Entry
    from yuliu.text.lexicon.problems import Parsed

GLOBAL = "default"
"""Same as :data:`yuliu.lexicon_store.GLOBAL`, which is not imported just to show help."""


@click.group(
    cls=Group,
    epilog="""\b
Examples:
  yuliu lexicon add SQL sequel
  yuliu lexicon add 行业 "hang2 ye4" --options pinyin
  yuliu lexicon add GPT 吉皮提 --options "zh case" --to games
  yuliu lexicon list
  yuliu lexicon import words.tsv --to games
  yuliu lexicon export games > words.tsv
  yuliu lexicon check words.tsv

\b
The lexicon "default" applies to all speech; others apply to streams that name
them. A running server sees changes at the next stream.
""",
)
def command() -> None:
    """Manage pronunciations of words."""


_TO = click.option("--to", "name", default=GLOBAL, show_default=True, metavar="NAME", help="Lexicon to change.")
_FORMAT = click.option(
    "--format",
    "file_format",
    type=click.Choice(["tsv", "pls"]),
    help="Format of the file.  [default: by the suffix, or tsv]",
)
_FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))


@command.command("list", epilog="\b\nExamples:\n  yuliu lexicon list\n  yuliu lexicon list games --json")
@click.argument("name", required=False)
@json_option()
def list_lexicons(name: str | None, as_json: bool) -> None:
    """List all lexicons, or the entries of one."""
    store = _store()
    if name is not None:
        stored = store.get(name)
        if as_json:
            from yuliu.wire.lexicons import entry_values

            _print_json([entry_values(entry) for entry in stored.entries])
        else:
            click.echo(_tsv(stored.entries), nl=False)
        return
    found = [store.get(each) for each in store.names()]
    if as_json:
        _print_json([{"name": each.name, "version": each.version, "entries": len(each.entries)} for each in found])
    elif not found:
        click.echo("there are no lexicons; to create one: yuliu lexicon add TEXT READING")
    for each in () if as_json else found:
        click.echo(f"{each.name}: {_entries(len(each.entries))}, version {each.version}")


@command.command(
    epilog='\b\nExamples:\n  yuliu lexicon add SQL sequel\n  yuliu lexicon add 行业 "hang2 ye4" --options pinyin'
)
@click.argument("text")
@click.argument("reading")
@click.option(
    "--options",
    default="",
    metavar="WORDS",
    help="Any of: pinyin, ipa or x-misaki (the reading is phonemes); zh or en (only in that language); case; word or "
    "anywhere; after.",
)
@_TO
def add(text: str, reading: str, options: str, name: str) -> None:
    """Pronounce TEXT as READING, replacing an earlier entry for it."""
    from yuliu.text.lexicon import Entry
    from yuliu.text.lexicon.check import unspeakable
    from yuliu.text.lexicon.tsv import parse_options

    entry = Entry(text, reading, **parse_options(options))
    if problem := unspeakable(entry):
        raise CommandError(f"the reading {problem}")
    stored = _store().add(name, [entry])
    click.echo(f"{name}: {_entries(len(stored.entries))}, version {stored.version}")


@command.command(epilog="\b\nExamples:\n  yuliu lexicon remove SQL\n  yuliu lexicon remove --all --to games")
@click.argument("text", required=False)
@click.option("--all", "is_all", is_flag=True, help="Remove the whole lexicon.")
@_TO
def remove(text: str | None, is_all: bool, name: str) -> None:
    """Remove the entries for TEXT, or a whole lexicon."""
    if (text is None) != is_all:
        raise click.UsageError("give either TEXT or --all")
    store = _store()
    if text is None:
        store.delete(name)
        click.echo(f"{name}: removed")
        return
    stored, num_removed = store.discard(name, text)
    if not num_removed:
        raise CommandError(f"{name} has no entry for this text; see: yuliu lexicon list {name}")
    click.echo(f"{name}: {_entries(len(stored.entries))}, version {stored.version}")


@command.command("import", epilog="\b\nExamples:\n  yuliu lexicon import words.tsv\n  yuliu lexicon import words.pls")
@_FILE
@_FORMAT
@click.option("--replace", is_flag=True, help="Replace the existing entries.")
@_TO
def import_file(file: str, file_format: str | None, replace: bool, name: str) -> None:
    """Add the entries of a file, TSV or W3C PLS. Nothing is added if a line is invalid."""
    from yuliu.text.lexicon.check import checked_phonemes
    from yuliu.text.lexicon.problems import refuse

    parsed = _parsed(file, file_format)
    refuse([*parsed.problems, *checked_phonemes(parsed)])
    store = _store()
    stored = (store.put if replace else store.add)(name, parsed.entries)
    click.echo(f"{name}: {_entries(len(stored.entries))}, version {stored.version}")


@command.command(epilog="\b\nExamples:\n  yuliu lexicon export > words.tsv\n  yuliu lexicon export games --format pls")
@click.argument("name", default=GLOBAL)
@click.option("--format", "file_format", type=click.Choice(["tsv", "pls"]), default="tsv", show_default=True)
def export(name: str, file_format: str) -> None:
    """Print a lexicon in a format that `import` reads."""
    from yuliu.text.lexicon.pls import write_pls

    entries = _store().get(name).entries
    click.echo(_tsv(entries) if file_format == "tsv" else write_pls(entries), nl=False)


@command.command(epilog="\b\nExample:\n  yuliu lexicon check words.tsv")
@_FILE
@_FORMAT
@click.pass_context
def check(ctx: click.Context, file: str, file_format: str | None) -> None:
    """Report problems in a file, line by line, without changing anything."""
    from yuliu.text.lexicon.check import checked_phonemes
    from yuliu.text.lexicon.problems import conflicts

    parsed = _parsed(file, file_format)
    wrong = [*parsed.problems, *checked_phonemes(parsed)]
    for problem in sorted([*wrong, *conflicts(parsed)], key=lambda each: each.line):
        click.echo(str(problem))
    if wrong:
        ctx.exit(FAILED)
    click.echo(f"{_entries(len(parsed.entries))}: every line is valid")


def _store() -> LexiconStore:
    from yuliu.lexicon_store import LexiconStore

    return LexiconStore()


def _parsed(file: str, file_format: str | None) -> Parsed:
    from yuliu.text.lexicon.pls import parse_pls
    from yuliu.text.lexicon.problems import MAX_FILE_BYTES
    from yuliu.text.lexicon.tsv import parse_tsv

    with sys.stdin.buffer if file == "-" else Path(file).open("rb") as opened:
        data = opened.read(MAX_FILE_BYTES + 1)
    is_pls = Path(file).suffix.lower() in (".pls", ".xml") if file_format is None else file_format == "pls"
    return parse_pls(data) if is_pls else parse_tsv(data)


def _tsv(entries: Sequence[Entry]) -> str:
    from yuliu.text.lexicon.tsv import write_tsv

    return write_tsv(entries)


def _entries(number: int) -> str:
    return count(number, "entry") if number == 1 else f"{number:,} entries"


def _print_json(values: Sequence[dict[str, object]]) -> None:
    click.echo(json.dumps(values, ensure_ascii=False, indent=2))
