"""Where commands that speak let their sound go: the options, and what can be found wrong with them beforehand."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from yuliu.cli.console.terminal import is_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.audio.formats import FormatName

FORMATS: tuple[FormatName, ...] = ("wav", "pcm", "mp3", "opus", "aac", "flac", "webm", "mp4", "mulaw", "alaw")
SUFFIXES: Mapping[str, FormatName] = {
    **{f".{name}": name for name in FORMATS},
    ".raw": "pcm",
    ".s16le": "pcm",
    ".ogg": "opus",
    ".oga": "opus",
    ".ulaw": "mulaw",
}
"""What a name that ends so means; all others mean WAV."""
OTHER_SUFFIXES = {".aiff", ".amr", ".m4a", ".wma"}
"""What is not written, and should not be called so."""
HOW_TO_TYPE = "Type what to speak; Ctrl-D on an empty line ends it."
"""Told at a terminal by a command whose sound goes to a file."""

output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    help="Write the sound to a file instead of playing it; - is standard output.",
)
format_option = click.option(
    "--format",
    "sound_format",
    metavar="NAME",
    type=click.Choice(FORMATS),
    help="What to write: wav, pcm (16 bit, little-endian, mono), mp3, opus, aac, flac, webm, mp4, mulaw or alaw. "
    " [default: by the name]",
)


def format_of(output: str | None, sound_format: FormatName | None) -> FormatName:
    """What to write: what was asked for, or what the name of the file means."""
    return sound_format or SUFFIXES.get(_suffix(output or ""), "wav")


def check_output(output: str | None, sound_format: FormatName | None) -> None:
    """Find what is wrong before anything is made.

    Raises:
        UsageError: The options do not go together, standard output takes no sound, or the file cannot be written.
        NoSoundDevice: There is none, and no file is named.
    """
    if output is None and sound_format is not None:
        raise click.UsageError("--format says what to write: it needs -o FILE, or -o - for standard output")
    if output is None:
        from yuliu.cli.audio_io.device import default_device_name

        default_device_name()
    elif output == "-":
        if sys.stdout is None:
            raise click.UsageError("standard output is closed; write a file with -o out.wav")
        if is_terminal(sys.stdout):
            raise click.UsageError("sound is not for terminals: pipe it to a program, or write a file with -o out.wav")
    else:
        _check_path(output, sound_format)


def _check_path(path: str, sound_format: FormatName | None) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise click.UsageError(f"cannot write {path}: there is no folder {folder}")
    if not os.path.exists(path) and not os.access(folder, os.W_OK):
        raise click.UsageError(f"cannot write {path}: the folder {folder} is read-only for you")
    if sound_format is None and _suffix(path) in OTHER_SUFFIXES:
        command = click.get_current_context().command_path
        instead = f"{command} ... --format flac -o - | ffmpeg -i - {path}"
        raise click.UsageError(f"yuliu does not write {_suffix(path)}; try: {instead}")


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()
