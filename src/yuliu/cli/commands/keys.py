"""``yuliu keys``: API keys of the server."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.options import Group, json_option
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
A running server sees changes within about a second. It requires keys if any
exist when it starts.
""",
)
def command() -> None:
    """Add, list and revoke API keys."""


@command.command(epilog="\b\nExamples:\n  yuliu keys add phone\n  yuliu keys add shop --per-minute 60 --streams 4")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    default=("speak",),
    show_default=True,
    help="Scope of the key; may be given several times.",
)
@click.option(
    "--default-class",
    type=click.Choice(CLASSES),
    help="Stream class of requests that name neither a class nor a preset.",
)
@click.option(
    "--highest-class", type=click.Choice(CLASSES), help="Highest stream class; more urgent requests are lowered to it."
)
@click.option(
    "--weight",
    type=click.FloatRange(MIN_WEIGHT, MAX_WEIGHT),
    default=1.0,
    show_default=True,
    help="Scheduling weight of its streams within their class.",
)
@click.option("--per-minute", type=click.IntRange(1, MAX_PER_MINUTE), metavar="N", help="Maximum requests per minute.")
@click.option("--streams", type=click.IntRange(1, MAX_STREAMS), metavar="N", help="Maximum concurrent streams.")
@click.option(
    "--characters", type=click.IntRange(1, MAX_CHARACTERS), metavar="N", help="Maximum characters per day (UTC)."
)
def add(name: str, scopes: tuple[str, ...], **terms: Any) -> None:  # noqa: ANN401 - the fields of a key
    """Create a key and print it. It is shown only once, and stored nowhere."""
    from yuliu.wire.keys import ApiKey

    created = time.strftime("%Y-%m-%d", time.gmtime())
    unique = tuple(dict.fromkeys(scopes))
    shown = _store().add(lambda digest: ApiKey(name, digest, scopes=unique, created=created, **terms))
    click.echo(shown)
    click.echo(f"this is the key {name}; it will not be shown again", err=True)


@command.command("list", epilog="\b\nExamples:\n  yuliu keys list\n  yuliu keys list --json")
@json_option()
def list_keys(as_json: bool) -> None:
    """List all keys by name, with their limits. The keys themselves are never shown."""
    keys = _store().read()
    if as_json:
        click.echo(json.dumps([_values(key) for key in keys]))
    elif not keys:
        click.echo("there are no keys; to create one: yuliu keys add NAME")
    for key in () if as_json else keys:
        click.echo(
            f"{key.name}: {', '.join([*key.scopes, *_bounds(key)])}, created {key.created or 'at an unknown time'}"
        )


@command.command(epilog="\b\nExamples:\n  yuliu keys revoke phone")
@click.argument("name")
def revoke(name: str) -> None:
    """Revoke a key. Its open streams continue to their end."""
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
