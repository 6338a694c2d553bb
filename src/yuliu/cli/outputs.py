"""Where commands that speak let their sound go: the option, and what can be found wrong with it beforehand."""

from __future__ import annotations

import sys

import click

from yuliu.cli.terminal import is_terminal

output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    help="Write the sound to a file instead of playing it; - is standard output.",
)


def check_output(output: str | None, sound_format: str | None) -> None:
    """Find what is wrong before anything is made.

    Raises:
        UsageError: The options do not go together, or standard output takes no sound.
        NoSoundDevice: There is none, and no file is named.
    """
    if output is None and sound_format is not None:
        raise click.UsageError("--format says what to write: it needs -o FILE, or -o - for standard output")
    if output is None:
        from yuliu.cli.device import default_device_name

        default_device_name()
    elif output == "-":
        if sys.stdout is None:
            raise click.UsageError("standard output is closed; write a file with -o out.wav")
        if is_terminal(sys.stdout):
            raise click.UsageError("sound is not for terminals: pipe it to a program, or write a file with -o out.wav")
