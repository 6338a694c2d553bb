"""``yuliu client``: speech from a server, and a breakdown of its latency."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.audio_io.speech_options import STDIN, TYPING_HINT, SpeechOptions, speech_options, take_speech_options
from yuliu.cli.console.errors import CommandError
from yuliu.cli.console.summary import nothing_was_spoken, print_summary
from yuliu.cli.console.terminal import StatusLine, duration, is_terminal
from yuliu.cli.options import json_option, quiet_option
from yuliu.cli.process import terminated_like_interrupted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from yuliu.cli.audio_io.speech_output import SpeechOutput
    from yuliu.cli.text_input.conversation import Interruption
    from yuliu.cli.text_input.keyboard import Keyboard
    from yuliu.client import AsyncClient, ClientStream
    from yuliu.client.fields import StreamFields
    from yuliu.types import Coverage

DEFAULT_URL = "http://127.0.0.1:8000"

EXAMPLES = """\b
Examples:
  yuliu client "你好，world."
  some-llm | yuliu client --url http://speech.lan:8000 --preset dialogue
  yuliu client "Hello." -o hello.wav            or .mp3, .opus, .flac ...
  yuliu client "Hello." --latency --runs 20 -o /dev/null
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Options as given."""

    speech: SpeechOptions
    url: str
    key: str | None
    preset: str | None
    latency: bool
    runs: int
    as_json: bool
    keys: bool

    @property
    def is_typed(self) -> bool:
        """True if the text is typed at a terminal."""
        return not self.speech.has_text and is_terminal(sys.stdin)

    @property
    def has_status(self) -> bool:
        """True if the status line may be drawn; a typed line needs the terminal for itself."""
        return not (self.speech.quiet or self.is_typed)

    @property
    def fields(self) -> StreamFields:
        """Options of the stream."""
        speech = self.speech
        plain: StreamFields = {
            "voice": speech.voice,
            "speed": speech.speed,
            "preset": self.preset,
            "times": self.latency,
        }
        return {**plain, **speech.effects.start_fields()}


@click.command(epilog=EXAMPLES)
@click.argument("text", nargs=-1)
@click.option("--url", metavar="URL", default=DEFAULT_URL, show_default=True, help="Address of the server.")
@click.option(
    "--key", metavar="KEY", envvar="YULIU_KEY", help="API key, if the server requires one; also read from $YULIU_KEY."
)
@speech_options(click.option("--voice", metavar="NAME", help="Name of a voice on the server."))
@click.option("--preset", metavar="NAME", help="Name of a preset on the server; dialogue suits an assistant.")
@click.option("--latency", is_flag=True, help="Break down the time to the first sound.")
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="With --latency: number of runs.",
)
@json_option("With --latency: print JSON.")
@click.option(
    "--keys/--no-keys",
    default=True,
    show_default=True,
    help="During playback, Space or Escape stops the voice, and the text heard so far is shown.",
)
@quiet_option
def command(**options: Any) -> None:  # noqa: ANN401 - collected into ClientOptions
    """Speak TEXT, or standard input while it is being written, through a server.

    The audio is played, or written to a file or pipe with -o.
    """
    given = ClientOptions(speech=take_speech_options(options), **options)
    _check(given)
    with terminated_like_interrupted():
        asyncio.run(_measure(given) if given.latency else _speak(given))


def _check(options: ClientOptions) -> None:
    if (options.runs > 1 or options.as_json) and not options.latency:
        raise click.UsageError("--runs and --json need --latency")
    if options.latency and not options.speech.text:
        raise click.UsageError("--latency needs TEXT; the time for typing or piping text would be measured as well")
    if options.latency and options.speech.output == "-":
        raise click.UsageError("standard output is for the figures; write a file with -o out.wav, or -o /dev/null")
    options.speech.check()


@dataclass(frozen=True, slots=True)
class SpokenText:
    """Result of one text."""

    stream: ClientStream
    output: SpeechOutput
    interruption: Interruption | None

    @property
    def coverage(self) -> Coverage | None:
        """Coverage of the text, if known."""
        return self.stream.ending.coverage if self.stream.ending else None


class TextSpeaker:
    """Speaks texts through a server, one after the other, on one output.

    Args:
        client: Client of the server.
        options: Options of the command.
        interrupted: Set when the listener interrupts; None if that is impossible.
    """

    def __init__(
        self, client: AsyncClient, options: ClientOptions, *, interrupted: asyncio.Event | None = None
    ) -> None:
        from yuliu.cli.audio_io.speech_output import DevicePlayback

        self._client, self._options, self._interrupted = client, options, interrupted
        self._playback = DevicePlayback()

    async def speak(self, pieces: AsyncIterator[str]) -> SpokenText:
        """Speak one text.

        Raises:
            CommandError: Nothing was spoken.
            YuliuError: The server or the sound device failed.
            OSError: The text could not be read, or the audio could not be written.
        """
        stream = self._client.stream(**self._options.fields)
        with StatusLine(sys.stderr, enabled=self._options.has_status) as status:
            output = self._output(stream, status)
            interruption = await self._speak(stream, pieces, output)
        spoken = SpokenText(stream, output, interruption)
        if not output.audio_s and interruption is None:
            raise CommandError(nothing_was_spoken(spoken.coverage))
        return spoken

    async def _speak(
        self, stream: ClientStream, pieces: AsyncIterator[str], output: SpeechOutput
    ) -> Interruption | None:
        from yuliu.cli.audio_io.speak import speak
        from yuliu.cli.text_input.conversation import speak_interruptibly

        async with stream, output:
            if self._interrupted is not None:
                return await speak_interruptibly(stream, pieces, output, self._interrupted)
            await speak(stream, pieces, output)
            return None

    def _output(self, stream: ClientStream, status: StatusLine) -> SpeechOutput:
        from yuliu.cli.audio_io.speech_output import SinkWriter, SpeechOutput

        started_s = time.monotonic()
        hints = ["Space stops it"] if self._interrupted is not None else []

        def show() -> None:
            elapsed_s = time.monotonic() - started_s
            status.show([f"{duration(output.audio_s)} of audio", f"{duration(elapsed_s)} elapsed", *hints])

        speech = self._options.speech
        if speech.output is None:
            output = SpeechOutput(partial(self._playback.open, stream.played), on_change=show)
        else:
            output = SpeechOutput(partial(SinkWriter.open, speech.open_sink), on_change=show)
        return output


def _client(options: ClientOptions) -> AsyncClient:
    from yuliu.client import AsyncClient, WebSocketTransport

    headers = {"Authorization": f"Bearer {options.key}"} if options.key else {}
    return AsyncClient(WebSocketTransport(options.url, headers=headers))


def _pieces(options: SpeechOptions) -> AsyncIterator[str]:
    from yuliu.cli.background_thread import BackgroundThread
    from yuliu.cli.text_input.sources import from_arguments, from_descriptor

    if options.has_text:
        return from_arguments(options.text).pieces
    return from_descriptor(STDIN, BackgroundThread("yuliu-text")).pieces


async def _speak(options: ClientOptions) -> None:
    from yuliu.cli.text_input.keyboard import open_keyboard

    keyboard = open_keyboard() if options.keys and options.speech.output is None else None
    if keyboard is not None:
        with closing(keyboard):
            await _speak_to_a_listener(options, keyboard)
        return
    if options.is_typed and not options.speech.quiet:
        click.echo(TYPING_HINT, err=True)
    async with _client(options) as client:
        spoken = await TextSpeaker(client, options).speak(_pieces(options.speech))
    print_summary(options.speech, spoken.output.audio_s, spoken.coverage)


async def _speak_to_a_listener(options: ClientOptions, keyboard: Keyboard) -> None:
    """Speak to a listener who may interrupt. Without a text and a pipe, speak typed lines."""
    from yuliu.cli.text_input.conversation import HOW_TO, TerminalListener, converse
    from yuliu.cli.text_input.sources import from_arguments

    listener = TerminalListener(keyboard, lines=options.is_typed, quiet=options.speech.quiet)
    async with _client(options) as client:
        speaker = TextSpeaker(client, options, interrupted=listener.interrupted)

        async def say(pieces: AsyncIterator[str]) -> None:
            with listener.hearing():
                spoken = await speaker.speak(pieces)
            listener.report(spoken.interruption, spoken.coverage)

        with keyboard.read(asyncio.get_running_loop(), listener.take):
            if not options.is_typed:
                await say(_pieces(options.speech))
                return
            if not options.speech.quiet:
                listener.tell([HOW_TO])
            await converse(listener, lambda line: say(from_arguments([line]).pieces))


async def _measure(options: ClientOptions) -> None:
    from yuliu.cli.console.latency_table import figures_of, latency_table, run_of

    async with _client(options) as client:
        speaker = TextSpeaker(client, options)
        clock = await client.clock()  # connects, so that no run includes it
        runs = []
        for _ in range(options.runs):
            spoken = await speaker.speak(_pieces(options.speech))
            runs.append(run_of(spoken.stream, spoken.output, clock))
    figures = figures_of(runs, clock)
    click.echo(json.dumps(figures) if options.as_json else latency_table(figures))
