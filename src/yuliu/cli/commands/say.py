"""``yuliu say``: speech from text while it is being written."""

from __future__ import annotations

import math
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.audio_io.speech_options import STDIN, TYPING_HINT, SpeechOptions, speech_options, take_speech_options
from yuliu.cli.console.errors import CommandError
from yuliu.cli.console.summary import nothing_was_spoken, print_summary
from yuliu.cli.console.terminal import StatusLine, count, duration, is_terminal
from yuliu.cli.options import complete_voice, quiet_option
from yuliu.cli.process import terminated_like_interrupted, without_notices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.cli.audio_io.speech_output import SpeechOutput
    from yuliu.cli.text_input.sources import TextSource
    from yuliu.cli.wiring import Wiring
    from yuliu.stream import StreamOptions
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Ending

EXAMPLES = """\b
Examples:
  yuliu say "你好，world."                      speak a text
  some-llm | yuliu say                         speak text as it is written
  yuliu say -f chapter.txt -o chapter.wav      write a file
  yuliu say -f old.txt --encoding gb18030      text that is not UTF-8
  yuliu say "Hello." -o hello.mp3              or .opus, .aac, .flac ...
  yuliu say "Hello." --format pcm -o - | aplay -f S16_LE -r 24000

\b
Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.
After an interruption or a failure, the file holds the audio up to that point.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SayOptions:
    """Options as given."""

    speech: SpeechOptions
    file: str | None
    seed: int
    lexicon: tuple[str, ...]
    encoding: str

    @property
    def reads_stdin(self) -> bool:
        """True if the text comes from standard input."""
        return self.file == "-" or (self.file is None and not self.speech.has_text)

    @property
    def is_typed(self) -> bool:
        """True if the text is typed at a terminal."""
        return self.reads_stdin and is_terminal(sys.stdin)


def _checked_encoding(ctx: click.Context, param: click.Parameter, name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise click.BadParameter(f"{name!r} is not a text encoding; try utf-8, gb18030, big5 or utf-16") from None
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
@speech_options(
    click.option(
        "--voice", metavar="NAME", shell_complete=complete_voice, help="Name of the voice; see: yuliu voices list"
    )
)
@click.option("--seed", type=int, default=0, help="Seed of the voice's random variation.")
@click.option("--lexicon", metavar="NAME", multiple=True, help="Lexicon to use; may be given several times.")
@click.option(
    "--encoding",
    default="utf-8",
    show_default=True,
    callback=_checked_encoding,
    metavar="NAME",
    help="Encoding of the text.",
)
@quiet_option
@click.pass_obj
def command(wiring: Wiring, /, **options: Any) -> None:  # noqa: ANN401 - collected into SayOptions
    """Speak TEXT, a file, or standard input.

    Standard input is spoken while it is being written. The audio is played, or written to a file or pipe with -o.
    """
    given = SayOptions(speech=take_speech_options(options), **options)
    _check(given)
    with terminated_like_interrupted():
        _say(wiring, given)


def _check(options: SayOptions) -> None:
    """Check the options before voices are loaded."""
    if options.file is not None and options.speech.text:
        raise click.UsageError("give either TEXT or --file, not both")
    if options.reads_stdin and sys.stdin is None:
        raise click.UsageError("there is nothing to speak: standard input is closed; give TEXT or --file")
    options.speech.effects.check()
    options.speech.check()
    if options.speech.is_written:
        _check_text_is_kept(options.speech.output, options.file)


def _check_text_is_kept(path: str | None, text_file: str | None) -> None:
    if path and text_file and os.path.exists(path) and os.path.exists(text_file) and os.path.samefile(path, text_file):
        raise click.UsageError(f"the audio would overwrite the text: {path} is both")


def _say(wiring: Wiring, options: SayOptions) -> None:
    import asyncio

    from yuliu.cli.audio_io.speech_output import SinkWriter, SpeechOutput

    source = _source(options)
    with _load(wiring, options.speech) as synthesizer:
        if options.is_typed and not options.speech.quiet:
            click.echo(TYPING_HINT, err=True)
        started_s = time.monotonic()

        def show() -> None:
            status.show(progress(output, num_chars=source.num_chars, elapsed_s=time.monotonic() - started_s))

        output = SpeechOutput(partial(SinkWriter.open, options.speech.open_sink), on_change=show)
        is_quiet = options.speech.quiet or options.is_typed  # a typed line needs the terminal for itself
        with _noting_partial_audio(options.speech, output), StatusLine(sys.stderr, enabled=not is_quiet) as status:
            ending = asyncio.run(_speak(synthesizer, options, source, output))
    _report(options, output, ending, elapsed_s=time.monotonic() - started_s)


async def _speak(
    synthesizer: Synthesizer, options: SayOptions, source: TextSource, output: SpeechOutput
) -> Ending | None:
    from yuliu.cli.audio_io.speak import speak

    given = _stream_options(options, source)
    stream = synthesizer.stream(voice=options.speech.voice, options=given, words=synthesizer.words(given))
    async with output:
        await output.open(stream.sample_rate)
        async with stream:
            await speak(stream, source.pieces, output)
    return stream.ending


def _load(wiring: Wiring, options: SpeechOptions) -> Synthesizer:
    with StatusLine(sys.stderr, enabled=not options.quiet) as status:
        status.announce("loading the voice")
        with without_notices():
            return wiring.open_synthesizer((options.voice,) if options.voice else ())


def _source(options: SayOptions) -> TextSource:
    from yuliu.cli.background_thread import BackgroundThread
    from yuliu.cli.text_input.sources import from_arguments, from_descriptor, from_file

    if options.reads_stdin:
        return from_descriptor(STDIN, BackgroundThread("yuliu-text"), encoding=options.encoding)
    if options.file is not None:
        return from_file(options.file, BackgroundThread("yuliu-text"), encoding=options.encoding)
    return from_arguments(options.speech.text)


def _stream_options(options: SayOptions, source: TextSource) -> StreamOptions:
    """Return the options of the stream. A complete text does not stall: no sentence is cut because its push is late."""
    from yuliu.stream import StreamOptions
    from yuliu.types import SpeakOptions

    speak = SpeakOptions(speed=options.speech.speed, seed=options.seed)
    given = StreamOptions(speak, lexicon=options.lexicon, effects=options.speech.effects.effects())
    return given if source.num_chars is None else replace(given, stall_s=math.inf)


@contextmanager
def _noting_partial_audio(options: SpeechOptions, output: SpeechOutput) -> Iterator[None]:
    """Add to an error how much audio the file holds."""
    try:
        yield
    except BaseException as error:
        if options.is_written and output.audio_s:
            error.add_note(f"{options.output} holds the first {duration(output.audio_s)} of audio")
        raise


def _report(options: SayOptions, output: SpeechOutput, ending: Ending | None, *, elapsed_s: float) -> None:
    coverage = ending.coverage if ending else None
    if not output.audio_s:
        raise CommandError(nothing_was_spoken(coverage))
    pace = "" if options.reads_stdin else f", {output.audio_s / elapsed_s:.0f}x real time"
    print_summary(options.speech, output.audio_s, coverage, pace=pace)


def progress(output: SpeechOutput, *, num_chars: int | None, elapsed_s: float) -> list[str]:
    """Return the fields of the status line, the most important ones first."""
    audio = f"{duration(output.audio_s)} of audio"
    if not num_chars:
        return [audio, count(output.num_chars, "character")]
    part = output.num_chars / num_chars
    fields = [f"{part:4.0%} of {count(num_chars, 'character')}"]
    if part:
        fields.append(f"{duration(elapsed_s * (1 - part) / part)} left")
    return [*fields, audio, f"{output.audio_s / elapsed_s:.0f}x real time"]
