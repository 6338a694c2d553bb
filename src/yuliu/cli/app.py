"""Tree of commands. The module of a command is imported when the command runs or shows its help."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.console.errors import report
from yuliu.cli.console.terminal import colours_wanted
from yuliu.cli.process import open_closed_descriptors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.cli.wiring import Wiring

COMMANDS = {
    "say": "Speak a text, a file, or piped input while it is being written.",
    "serve": "Run the server.",
    "client": "Speak through a server; break down its latency.",
    "explain": "Show how a text will be read, without synthesizing it.",
    "lexicon": "Manage pronunciations: list, add, remove, import, export, check.",
    "voices": "List, pull, verify and remove voices.",
    "keys": "Add, list and revoke API keys.",
    "presets": "List the presets: text segmentation and scheduling for each use case.",
    "doctor": "Check the installation, and say how to fix what is broken.",
    "bench": "Benchmark this machine: time to first packet, speed, memory.",
    "simulate": "Estimate on a virtual clock how many listeners a machine can serve.",
    "replay": "Show the scheduler's decisions in a recorded run.",
    "completion": "Print the completion script for a shell.",
}
"""Commands with their summaries, so that ``yuliu --help`` need not import their modules."""


class LazyGroup(click.Group):
    """Group that imports ``yuliu.cli.commands.NAME`` only for the command that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the object ``command`` of the command's module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"yuliu.cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run the command, and report an interrupt before click turns it into an error of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.exceptions.Exit(report(error, debug=ctx.params["debug"])) from error


EPILOG = """\b
Examples:
  yuliu voices pull                     get the voices, once
  yuliu say "你好，world."               speak a text
  some-llm | yuliu say                  speak text as it is written
  yuliu say -f chapter.txt -o chapter.wav
  yuliu serve

\b
Completion of commands, options and voices in bash (also in zsh and fish):
  yuliu completion bash >> ~/.bashrc
"""


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="yuliu", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show tracebacks of errors.")
def cli(debug: bool) -> None:
    """Streaming text-to-speech in Mandarin, English and a mix of both.

    Text flows in while it is being written; audio flows out while it is being made.
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
    except Exception as error:  # noqa: BLE001 - the outermost boundary: every error is reported to the user
        return report(error, debug="--debug" in given)
    return code if isinstance(code, int) else 0
