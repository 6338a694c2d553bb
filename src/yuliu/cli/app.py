"""The tree of commands. A command's module is imported when it is run, or when its own help is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.console.descriptors import open_closed_descriptors
from yuliu.cli.console.errors import report
from yuliu.cli.console.terminal import colours_wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.cli.wiring import Wiring

COMMANDS = {
    "say": "Speak a text, a file, or what is piped in while it is being written.",
    "serve": "Run the server.",
    "client": "Speak from a server elsewhere; show what its first sound waits for.",
    "explain": "Show how a text will be read, before any sound is made.",
    "lexicon": "Say how words are to be said: list, add, remove, import, export, check.",
    "voices": "List, pull, check and remove voices.",
    "keys": "Make and revoke the keys that a server wants of who calls.",
    "presets": "List the presets: how text is cut and scheduled for a kind of use.",
    "doctor": "Check whether everything works here, and say what to do if not.",
    "bench": "Measure what this machine reaches: time to first packet, speed, memory.",
    "simulate": "Find out on a virtual clock how many listeners a machine could carry.",
    "replay": "Show what the scheduler decided in a recorded run.",
    "completion": "Print the completion script for a shell.",
}
"""What is shown in ``yuliu --help``: so that it need not import the commands' modules."""


class LazyGroup(click.Group):
    """Knows its commands by name and imports ``yuliu.cli.commands.NAME`` for the one that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command object called ``command`` in its module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"yuliu.cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run the command; an interrupt is reported here, before click turns it into an error of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.exceptions.Exit(report(error, debug=ctx.params["debug"])) from error


EPILOG = """\b
Examples:
  yuliu voices pull                     get the voices, once
  yuliu say "你好，world."               speak
  some-llm | yuliu say                  speak while it is being written
  yuliu say -f chapter.txt -o chapter.wav
  yuliu serve

\b
Completion of commands, options and voices, for bash (zsh and fish likewise):
  yuliu completion bash >> ~/.bashrc
"""


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="yuliu", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show tracebacks of errors.")
def cli(debug: bool) -> None:
    """Streaming text-to-speech in Mandarin, English and both mixed.

    Text flows in while it is written, sound flows out while it is made.
    """


def run(args: Sequence[str] | None, obj: Wiring | None) -> int:
    """Run the command line and return its exit code."""
    from yuliu.cli.wiring import Wiring

    open_closed_descriptors()
    given = list(sys.argv[1:] if args is None else args)
    colour = None if colours_wanted(os.environ, sys.stdout) else False
    try:
        code = cli.main(given, "yuliu", standalone_mode=False, obj=obj or Wiring(), color=colour)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the boundary to the person: everything is told, nothing is hidden
        return report(error, debug="--debug" in given)
    return code if isinstance(code, int) else 0
