"""Groups, options and completion shared by commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from yuliu.errors import YuliuError

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.cli.wiring import Wiring

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

MAX_SUMMARY_CHARS = 200

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Show no progress, only errors.")


def json_option(text: str = "Print JSON.") -> Decorator:
    """Add ``--json``, with a help text, to a command."""
    return click.option("--json", "as_json", is_flag=True, help=text)


class Group(click.Group):
    """Group whose help shows the whole first sentence of each command; click would truncate it."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands with their full summaries."""
        names = self.list_commands(ctx)
        commands = [(name, command) for name in names if (command := self.get_command(ctx, name)) is not None]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(MAX_SUMMARY_CHARS)) for name, command in commands])


def complete_voice(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the voices whose names start with ``incomplete``; for click's ``shell_complete``."""
    wiring: Wiring = ctx.find_root().obj
    try:
        known = wiring.open_store().list()
    except (YuliuError, OSError):  # no message can be shown in the middle of a command line
        return []
    return [CompletionItem(voice.name, help=voice.description) for voice in known if voice.name.startswith(incomplete)]
