"""Options shared by ``say`` and ``client``: text, output, voice, speed and effects."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click

from yuliu.audio.formats import FORMATS, SOUND_FORMATS
from yuliu.cli.audio_io.effect_options import EffectsGiven, effect_options, take_effects
from yuliu.cli.console.terminal import is_terminal
from yuliu.types import MAX_SPEED, MIN_SPEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.audio.formats import FormatName
    from yuliu.cli.audio_io.sinks import AudioSink

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

STDIN = 0
SUFFIXES: Mapping[str, FormatName] = {
    **{f".{name}": name for name in FORMATS},
    **{each.suffix: name for name, each in SOUND_FORMATS.items()},
    ".raw": "pcm",
    ".s16le": "pcm",
    ".ogg": "opus",
    ".oga": "opus",
}
"""Formats by file suffix; any other suffix means WAV."""
UNSUPPORTED_SUFFIXES = {".aiff", ".amr", ".m4a", ".wma"}
"""Suffixes of formats that cannot be written; a WAV file should not be named so."""
TYPING_HINT = "Type what to speak; Ctrl-D on an empty line ends it."
"""Shown by a command that reads from a terminal and whose lines are not edited by :mod:`yuliu.cli.text_input`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechOptions:
    """Shared options as given."""

    text: tuple[str, ...] = field(repr=False)
    output: str | None
    sound_format: FormatName | None
    voice: str | None
    speed: float
    quiet: bool
    effects: EffectsGiven

    @property
    def format(self) -> FormatName:
        """Format to write: the given one, or that of the file's suffix."""
        return self.sound_format or SUFFIXES.get(_suffix(self.output or ""), "wav")

    @property
    def has_text(self) -> bool:
        """True if the text is given as arguments."""
        return self.text not in ((), ("-",))

    @property
    def is_written(self) -> bool:
        """True if the audio goes to a file, so that the terminal is free for a summary."""
        return self.output not in (None, "-")

    def check(self) -> None:
        """Check the output before anything is opened.

        Raises:
            UsageError: Options contradict each other, or the output cannot be written.
            NoSoundDevice: There is no sound device, and no file is named.
        """
        if self.output is None:
            self._check_playback()
        elif self.output == "-":
            _check_stdout()
        else:
            _check_path(self.output, self.sound_format)

    def open_sink(self, sample_rate: int) -> AudioSink:
        """Open the output for a sample rate in Hz; may block."""
        from yuliu.cli.audio_io.device import open_device
        from yuliu.cli.audio_io.sinks import open_path, open_stdout

        if self.output is None:
            return open_device(sample_rate)
        if self.output == "-":
            return open_stdout(sample_rate, self.format)
        return open_path(self.output, sample_rate, self.format)

    def _check_playback(self) -> None:
        if self.sound_format is not None:
            raise click.UsageError("--format needs an output: -o FILE, or -o - for standard output")
        from yuliu.cli.audio_io.device import default_device_name

        default_device_name()


def speech_options(voice_option: Decorator) -> Decorator:
    """Add the shared options to a command, which has its own ``--voice``."""
    options = (_output_option, _format_option, voice_option, _speed_option, effect_options)

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def take_speech_options(options: dict[str, Any]) -> SpeechOptions:
    """Remove the shared options from the options of a command, and return them."""
    effects = take_effects(options)
    given = {each.name: options.pop(each.name) for each in fields(SpeechOptions) if each.name != "effects"}
    return SpeechOptions(**given, effects=effects)


_output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    help="Write the audio to a file instead of playing it; - is standard output.",
)
_format_option = click.option(
    "--format",
    "sound_format",
    metavar="NAME",
    type=click.Choice(FORMATS),
    help=f"Audio format: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}; pcm is bare samples (16 bit, little-endian, mono)."
    "  [default: by the suffix]",
)
_speed_option = click.option(
    "--speed",
    type=click.FloatRange(MIN_SPEED, MAX_SPEED),
    default=1.0,
    show_default=True,
    help="Speaking rate; 2 is twice as fast.",
)


def _check_stdout() -> None:
    if sys.stdout is None:
        raise click.UsageError("standard output is closed; write a file with -o out.wav")
    if is_terminal(sys.stdout):
        raise click.UsageError("standard output is a terminal; pipe it to a program, or write a file with -o out.wav")


def _check_path(path: str, sound_format: FormatName | None) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise click.UsageError(f"cannot write {path}: there is no directory {folder}")
    if not os.path.exists(path) and not os.access(folder, os.W_OK):
        raise click.UsageError(f"cannot write {path}: you may not write to the directory {folder}")
    if sound_format is None and _suffix(path) in UNSUPPORTED_SUFFIXES:
        command = click.get_current_context().command_path
        instead = f"{command} ... --format flac -o - | ffmpeg -i - {path}"
        raise click.UsageError(f"yuliu does not write {_suffix(path)}; try: {instead}")


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()
