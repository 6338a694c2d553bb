"""Commands below a command."""

from __future__ import annotations

import click

MAX_SUMMARY_CHARS = 200


class Group(click.Group):
    """Its help tells the whole first sentence of each command; click would cut it at the end of the line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """In as many lines as it takes."""
        names = self.list_commands(ctx)
        commands = [(name, command) for name in names if (command := self.get_command(ctx, name)) is not None]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(MAX_SUMMARY_CHARS)) for name, command in commands])
