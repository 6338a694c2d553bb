"""``yuliu say``: text in, sound out, both as they come."""

from __future__ import annotations

import math
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.audio_io.effect_options import EffectsGiven, effect_options, take_effects
from yuliu.cli.audio_io.output_options import HOW_TO_TYPE, check_output, format_of, format_option, output_option
from yuliu.cli.console.errors import CommandError
from yuliu.cli.console.notices import without_notices
from yuliu.cli.console.signals import terminated_like_interrupted
from yuliu.cli.console.skipped_text import left_out, nothing_was_spoken
from yuliu.cli.console.terminal import StatusLine, count, duration, is_terminal
from yuliu.cli.voice_completion import complete_voice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.audio.formats import FormatName
    from yuliu.cli.audio_io.sinks import Sink
    from yuliu.cli.speaking import SpeechSummary
    from yuliu.cli.text_input.sources import TextSource
    from yuliu.cli.wiring import Wiring
    from yuliu.stream import StreamOptions
    from yuliu.synthesizer import Synthesizer

STDIN = 0

EXAMPLES = """\b
Examples:
  yuliu say "你好，world."                      speak
  some-llm | yuliu say                         speak while it is being written
  yuliu say -f chapter.txt -o chapter.wav      write a file
  yuliu say -f old.txt --encoding gb18030      text that is not UTF-8
  yuliu say "Hello." -o hello.mp3              or .opus, .aac, .flac ...
  yuliu say "Hello." --format pcm -o - | aplay -f S16_LE -r 24000

\b
Exit codes: 0 spoken, 1 something failed, 2 wrong usage, 130 interrupted.
What was spoken before an interruption or a failure is in the file.
"""


@dataclass(frozen=True, slots=True)
class SayRequest:
    """The options as they were given."""

    text: tuple[str, ...]
    file: str | None
    output: str | None
    sound_format: FormatName | None
    voice: str | None
    speed: float
    seed: int
    lexicon: tuple[str, ...]
    encoding: str
    quiet: bool
    effects: EffectsGiven

    @property
    def format(self) -> FormatName:
        """What to write."""
        return format_of(self.output, self.sound_format)

    @property
    def from_stdin(self) -> bool:
        """Whether the text comes from standard input."""
        return self.file == "-" or self.text == ("-",) or (self.file is None and not self.text)


def _checked_encoding(ctx: click.Context, param: click.Parameter, name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise click.BadParameter(f"{name!r} is no encoding of text; try utf-8, gb18030, big5 or utf-16") from None
    return name


@click.command(epilog=EXAMPLES)
@click.argument("text", nargs=-1)
@click.option(
    "-f",
    "--file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Speak a text file; - is standard input.",
)
@output_option
@format_option
@click.option(
    "--voice", metavar="NAME", shell_complete=complete_voice, help="Which voice speaks; see: yuliu voices list"
)
@click.option(
    "--speed", type=click.FloatRange(0.25, 4.0), default=1.0, show_default=True, help="Pace: 2 is twice as fast."
)
@effect_options
@click.option("--seed", type=int, default=0, help="Draw again what a voice draws at random.")
@click.option("--lexicon", metavar="NAME", multiple=True, help="A lexicon to use; may be given several times.")
@click.option(
    "--encoding",
    default="utf-8",
    show_default=True,
    callback=_checked_encoding,
    metavar="NAME",
    help="Encoding of the text.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, tell errors only.")
@click.pass_obj
def command(wiring: Wiring, /, **options: Any) -> None:  # noqa: ANN401 - collected into a Request
    """Speak TEXT, a file, or standard input.

    Standard input is spoken while it is being written. The sound is played, or written to a file or pipe with -o.
    """
    request = SayRequest(effects=take_effects(options), **options)
    _check(request)
    with terminated_like_interrupted():
        _say(wiring, request)


def _check(request: SayRequest) -> None:
    """Find what can be found before voices are loaded."""
    if request.file is not None and request.text:
        raise click.UsageError("take either TEXT or --file, not both")
    if request.from_stdin and sys.stdin is None:
        raise click.UsageError("there is nothing to speak: standard input is closed; give TEXT or --file")
    request.effects.check()
    check_output(request.output, request.sound_format)
    if request.output is not None and request.output != "-":
        _check_not_both(request.output, request.file)


def _check_not_both(path: str, text_file: str | None) -> None:
    if text_file and os.path.exists(path) and os.path.exists(text_file) and os.path.samefile(path, text_file):
        raise click.UsageError(f"the sound would overwrite the text: {path} is both")


def _say(wiring: Wiring, request: SayRequest) -> None:
    import asyncio

    from yuliu.cli.speaking import SpeechSummary, speak

    source = _source(request)
    typed = request.from_stdin and is_terminal(sys.stdin)
    with _load(wiring, request) as synthesizer:
        if typed and not request.quiet:
            click.echo(HOW_TO_TYPE, err=True)
        sink = _sink(request, synthesizer)
        status = StatusLine(sys.stderr, enabled=not (request.quiet or typed))  # typing needs the line for itself
        spoken = SpeechSummary()
        started_s = time.monotonic()
        options = _stream_options(request, source)
        words = synthesizer.words(options)

        def show() -> None:
            status.show(progress(spoken, num_chars=source.num_chars, elapsed_s=time.monotonic() - started_s))

        async def run() -> None:
            stream = synthesizer.stream(voice=request.voice, options=options, words=words)
            await speak(stream, source.pieces, sink, spoken=spoken, on_change=show)

        with _telling_what_is_there(request, spoken), _wiped(status):
            asyncio.run(run())
    _tell(request, spoken, elapsed_s=time.monotonic() - started_s)


def _load(wiring: Wiring, request: SayRequest) -> Synthesizer:
    status = StatusLine(sys.stderr, enabled=not request.quiet)
    status.announce("loading the voice")
    with _wiped(status), without_notices():
        return wiring.open_synthesizer((request.voice,) if request.voice else ())


def _source(request: SayRequest) -> TextSource:
    from yuliu.cli.background_thread import BackgroundThread
    from yuliu.cli.text_input.sources import from_arguments, from_descriptor, from_file

    if request.from_stdin:
        return from_descriptor(STDIN, BackgroundThread("yuliu-text"), encoding=request.encoding)
    if request.file is not None:
        return from_file(request.file, BackgroundThread("yuliu-text"), encoding=request.encoding)
    return from_arguments(request.text)


def _sink(request: SayRequest, synthesizer: Synthesizer) -> Sink:
    from yuliu.cli.audio_io.device import open_device
    from yuliu.cli.audio_io.sinks import open_path, open_stdout

    if request.output is None:
        return open_device(synthesizer.sample_rate)
    if request.output == "-":
        return open_stdout(synthesizer.sample_rate, request.format)
    return open_path(request.output, synthesizer.sample_rate, request.format)


def _stream_options(request: SayRequest, source: TextSource) -> StreamOptions:
    """What is already written does not stall: no sentence of it is cut because its turn to be pushed comes late."""
    from yuliu.stream import StreamOptions
    from yuliu.types import SpeakOptions

    speak = SpeakOptions(speed=request.speed, seed=request.seed)
    options = StreamOptions(speak, lexicon=request.lexicon, effects=request.effects.effects())
    return options if source.num_chars is None else replace(options, stall_s=math.inf)


@contextmanager
def _wiped(status: StatusLine) -> Iterator[None]:
    try:
        yield
    finally:
        status.clear()


@contextmanager
def _telling_what_is_there(request: SayRequest, spoken: SpeechSummary) -> Iterator[None]:
    """If the work ends early, add to the error what there is of it."""
    try:
        yield
    except BaseException as error:
        if request.output not in {None, "-"} and spoken.audio_s:
            error.add_note(f"{request.output} holds the {duration(spoken.audio_s)} of sound made until then")
        raise


def _tell(request: SayRequest, spoken: SpeechSummary, *, elapsed_s: float) -> None:
    """What there is to say when all is over."""
    coverage = spoken.ending.coverage if spoken.ending else None
    if not spoken.audio_s:
        raise CommandError(nothing_was_spoken(coverage))
    if request.quiet:
        return
    if request.output not in {None, "-"} and is_terminal(sys.stderr):
        pace = "" if request.from_stdin else f", {spoken.audio_s / elapsed_s:.0f}x real time"
        click.echo(f"{request.output}: {duration(spoken.audio_s)} of sound{pace}", err=True)
    if coverage and (unsaid := left_out(coverage)):
        click.echo(f"yuliu: not spoken: {unsaid}", err=True)


def progress(spoken: SpeechSummary, *, num_chars: int | None, elapsed_s: float) -> list[str]:
    """The fields of the status line, the most wanted ones first."""
    sound = f"{duration(spoken.audio_s)} of sound"
    if not num_chars:
        return [sound, count(spoken.num_chars, "character")]
    part = spoken.num_chars / num_chars
    fields = [f"{part:4.0%} of {count(num_chars, 'character')}"]
    if part:
        fields.append(f"{duration(elapsed_s * (1 - part) / part)} left")
    return [*fields, sound, f"{spoken.audio_s / elapsed_s:.0f}x real time"]
