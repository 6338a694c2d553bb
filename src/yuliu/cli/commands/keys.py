"""``yuliu keys``: who may use the server."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.group import Group
from yuliu.wire.keys import CLASSES, MAX_CHARACTERS, MAX_PER_MINUTE, MAX_STREAMS, SCOPES
from yuliu.wire.synthesis_options import MAX_WEIGHT, MIN_WEIGHT

if TYPE_CHECKING:
    from yuliu.access.key_store import KeyStore
    from yuliu.wire.keys import ApiKey


@click.group(
    cls=Group,
    epilog="""\b
Examples:
  yuliu keys add phone
  yuliu keys add shop --per-minute 60 --streams 4 --characters 500000
  yuliu keys add night --highest-class bulk
  yuliu keys add prometheus --scope metrics
  yuliu keys list
  yuliu keys revoke phone

\b
A running server sees changes within about a second. It wants keys if there
are any when it starts.
""",
)
def command() -> None:
    """Make and revoke the keys that a server wants of who calls."""


@command.command(epilog="\b\nExamples:\n  yuliu keys add phone\n  yuliu keys add shop --per-minute 60 --streams 4")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    default=("speak",),
    show_default=True,
    help="What it is for; may be given several times.",
)
@click.option(
    "--default-class", type=click.Choice(CLASSES), help="For requests that name neither a class nor a preset."
)
@click.option("--highest-class", type=click.Choice(CLASSES), help="More urgent requests are treated as this class.")
@click.option(
    "--weight",
    type=click.FloatRange(MIN_WEIGHT, MAX_WEIGHT),
    default=1.0,
    show_default=True,
    help="How much its streams count among those of their class.",
)
@click.option("--per-minute", type=click.IntRange(1, MAX_PER_MINUTE), metavar="N", help="Requests a minute.")
@click.option("--streams", type=click.IntRange(1, MAX_STREAMS), metavar="N", help="Streams at a time.")
@click.option("--characters", type=click.IntRange(1, MAX_CHARACTERS), metavar="N", help="Characters a day, by UTC.")
def add(name: str, scopes: tuple[str, ...], **terms: Any) -> None:  # noqa: ANN401 - the fields of a key
    """Make a key and print it. It is shown this once, and kept nowhere."""
    from yuliu.wire.keys import ApiKey

    created = time.strftime("%Y-%m-%d", time.gmtime())
    unique = tuple(dict.fromkeys(scopes))
    shown = _store().add(lambda digest: ApiKey(name, digest, scopes=unique, created=created, **terms))
    click.echo(shown)
    click.echo(f"this is the key {name}; it is not shown again", err=True)


@command.command("list", epilog="\b\nExamples:\n  yuliu keys list\n  yuliu keys list --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def list_keys(as_json: bool) -> None:
    """Show names and bounds of all keys; never the keys."""
    keys = _store().read()
    if as_json:
        click.echo(json.dumps([_values(key) for key in keys]))
    elif not keys:
        click.echo("there are no keys; to make one: yuliu keys add NAME")
    for key in () if as_json else keys:
        click.echo(f"{key.name}: {', '.join([*key.scopes, *_bounds(key)])}, made {key.created or 'at some time'}")


@command.command(epilog="\b\nExamples:\n  yuliu keys revoke phone")
@click.argument("name")
def revoke(name: str) -> None:
    """Forget a key. Streams that are being spoken go on to their end."""
    _store().revoke(name)
    click.echo(f"{name} is revoked")


def _values(key: ApiKey) -> dict[str, object]:
    fields = ("name", "scopes", "default_class", "highest_class", "weight", "per_minute", "streams", "characters")
    values = {name: getattr(key, name) for name in (*fields, "created")}
    return {name: value for name, value in values.items() if value is not None}


def _bounds(key: ApiKey) -> list[str]:
    values = {name: value for name, value in _values(key).items() if name not in ("name", "scopes", "created")}
    return [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in values.items()]


def _store() -> KeyStore:
    from yuliu.access.key_store import KeyStore

    return KeyStore()
