"""``yuliu client``: speak from a server elsewhere, and see what its first sound waits for."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from contextlib import closing
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.audio_io.effect_options import EffectsGiven, effect_options, take_effects
from yuliu.cli.audio_io.output_options import HOW_TO_TYPE, check_output, format_of, format_option, output_option
from yuliu.cli.console.errors import CommandError
from yuliu.cli.console.signals import terminated_like_interrupted
from yuliu.cli.console.skipped_text import left_out, nothing_was_spoken
from yuliu.cli.console.terminal import StatusLine, count, duration, is_terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from yuliu.audio.formats import FormatName
    from yuliu.cli.audio_io.sinks import Sink
    from yuliu.cli.remote import PlaybackTarget, Played
    from yuliu.cli.text_input.keyboard import Keyboard
    from yuliu.client import AsyncClient, ClientStream, ClockOffset
    from yuliu.client.fields import StartFields
    from yuliu.client.latency import LatencyBreakdown

DEFAULT_URL = "http://127.0.0.1:8000"
STDIN = 0
BAR_NUM_CHARS = 40

EXAMPLES = """\b
Examples:
  yuliu client "你好，world."
  some-llm | yuliu client --url http://speech.lan:8000 --preset dialogue
  yuliu client "Hello." -o hello.wav            or .mp3, .opus, .flac ...
  yuliu client "Hello." --latency --runs 20 -o /dev/null
"""


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """The options as they were given."""

    text: tuple[str, ...]
    url: str
    key: str | None
    output: str | None
    sound_format: FormatName | None
    voice: str | None
    speed: float
    preset: str | None
    latency: bool
    runs: int
    as_json: bool
    keys: bool
    quiet: bool
    effects: EffectsGiven

    @property
    def format(self) -> FormatName:
        """What to write."""
        return format_of(self.output, self.sound_format)

    @property
    def is_typed(self) -> bool:
        """Whether the text is typed at a terminal."""
        return self.text in ((), ("-",)) and is_terminal(sys.stdin)

    @property
    def fields(self) -> StartFields:
        """Those of the stream."""
        plain: StartFields = {"voice": self.voice, "speed": self.speed, "preset": self.preset, "times": self.latency}
        return {**plain, **self.effects.start_fields()}


@click.command(epilog=EXAMPLES)
@click.argument("text", nargs=-1)
@click.option("--url", metavar="URL", default=DEFAULT_URL, show_default=True, help="Address of the server.")
@click.option(
    "--key", metavar="KEY", envvar="YULIU_KEY", help="The server's API key, if it wants one; also in $YULIU_KEY."
)
@output_option
@format_option
@click.option("--voice", metavar="NAME", help="A voice of the server.")
@click.option(
    "--speed", type=click.FloatRange(0.25, 4.0), default=1.0, show_default=True, help="Pace: 2 is twice as fast."
)
@effect_options
@click.option("--preset", metavar="NAME", help="A preset of the server; dialogue suits an assistant.")
@click.option("--latency", is_flag=True, help="Show what the time to the first sound went into.")
@click.option(
    "--runs", metavar="N", type=click.IntRange(1, 1000), default=1, show_default=True, help="With --latency: how often."
)
@click.option("--json", "as_json", is_flag=True, help="With --latency: print JSON.")
@click.option(
    "--keys/--no-keys",
    default=True,
    show_default=True,
    help="While it plays, Space or Escape stops the voice, and what was heard is shown.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, tell errors only.")
def command(**options: Any) -> None:  # noqa: ANN401 - collected into a Request
    """Speak TEXT, or standard input while it is being written, from a server.

    The sound is played, or written to a file or pipe with -o.
    """
    request = ClientRequest(effects=take_effects(options), **options)
    _check(request)
    with terminated_like_interrupted():
        asyncio.run(_measure(request) if request.latency else _speak(request))


def _check(request: ClientRequest) -> None:
    if (request.runs > 1 or request.as_json) and not request.latency:
        raise click.UsageError("--runs and --json go with --latency")
    if request.latency and not request.text:
        raise click.UsageError("--latency needs TEXT: what is typed or piped in would be measured too")
    if request.latency and request.output == "-":
        raise click.UsageError("standard output is for the figures; write a file with -o out.wav, or -o /dev/null")
    check_output(request.output, request.sound_format)


def _open_sink(request: ClientRequest, sample_rate: int) -> Sink:
    from yuliu.cli.audio_io.device import open_device
    from yuliu.cli.audio_io.sinks import open_path, open_stdout

    if request.output is None:
        return open_device(sample_rate)
    if request.output == "-":
        return open_stdout(sample_rate, request.format)
    return open_path(request.output, sample_rate, request.format)


def _pieces(request: ClientRequest) -> AsyncIterator[str]:
    from yuliu.cli.background_thread import BackgroundThread
    from yuliu.cli.text_input.sources import from_arguments, from_descriptor

    if request.text and request.text != ("-",):
        return from_arguments(request.text).pieces
    return from_descriptor(STDIN, BackgroundThread("yuliu-text")).pieces


def _outlet(request: ClientRequest) -> PlaybackTarget:
    from yuliu.cli.remote import PlaybackTarget

    return PlaybackTarget(open_sink=lambda sample_rate: _open_sink(request, sample_rate))


async def _play(
    stream: ClientStream, pieces: AsyncIterator[str], outlet: PlaybackTarget, status: StatusLine, *, hint: str = ""
) -> Played:
    """One text."""
    from yuliu.cli.remote import Played, play

    played = Played()
    started_s = time.monotonic()
    hints = [hint] if hint else []

    def show() -> None:
        elapsed_s = time.monotonic() - started_s
        status.show([f"{duration(played.audio_s)} of sound", f"{duration(elapsed_s)} elapsed", *hints])

    outlet.on_change = show
    try:
        await play(stream, pieces, outlet, played=played)
    finally:
        status.clear()
    if not played.audio_s and played.interrupted_at_s is None:
        raise CommandError(nothing_was_spoken(played.ending.coverage if played.ending else None))
    return played


def _client(request: ClientRequest) -> AsyncClient:
    from yuliu.client import AsyncClient, WebSocketTransport

    headers = {"Authorization": f"Bearer {request.key}"} if request.key else {}
    return AsyncClient(WebSocketTransport(request.url, headers=headers))


async def _speak(request: ClientRequest) -> None:
    from yuliu.cli.text_input.keyboard import open_keyboard

    keyboard = open_keyboard() if request.keys and request.output is None else None
    if keyboard is not None:
        with closing(keyboard):
            await _speak_to_a_listener(request, keyboard)
        return
    if request.is_typed and not request.quiet:
        click.echo(HOW_TO_TYPE, err=True)
    status = StatusLine(sys.stderr, enabled=not (request.quiet or request.is_typed))
    async with _client(request) as client:
        played = await _play(client.stream(**request.fields), _pieces(request), _outlet(request), status)
    if not request.quiet:
        _tell(request, played)


def _tell(request: ClientRequest, played: Played) -> None:
    """What there is to say when all is over."""
    if request.output not in {None, "-"} and is_terminal(sys.stderr):
        click.echo(f"{request.output}: {duration(played.audio_s)} of sound", err=True)
    if played.ending and (unsaid := left_out(played.ending.coverage)):
        click.echo(f"yuliu: not spoken: {unsaid}", err=True)


async def _speak_to_a_listener(request: ClientRequest, keyboard: Keyboard) -> None:
    """He may interrupt; if there is neither a text nor a pipe, what he types is spoken."""
    from yuliu.cli.text_input.conversation import HOW_TO, TerminalListener, converse
    from yuliu.cli.text_input.sources import from_arguments

    listener = TerminalListener(keyboard, lines=request.is_typed, quiet=request.quiet)
    outlet = _outlet(request)
    outlet.interrupted = listener.interrupted
    status = StatusLine(sys.stderr, enabled=not (request.quiet or request.is_typed))

    async def say(pieces: AsyncIterator[str]) -> None:
        with listener.hearing() as hear:
            hear(await _play(client.stream(**request.fields), pieces, outlet, status, hint="Space stops it"))

    async with _client(request) as client:
        with keyboard.read(asyncio.get_running_loop(), listener.take):
            if not request.is_typed:
                await say(_pieces(request))
                return
            if not request.quiet:
                listener.tell([HOW_TO])
            await converse(listener, lambda line: say(from_arguments([line]).pieces))


@dataclass(frozen=True, slots=True)
class _ClientRun:
    """One of several."""

    parts: LatencyBreakdown
    whole_ms: float
    back_ms: float
    """Of the network's part, the way back, milliseconds."""
    was_resumed: bool


async def _measure(request: ClientRequest) -> None:
    outlet, status = _outlet(request), StatusLine(sys.stderr, enabled=not request.quiet)
    async with _client(request) as client:
        clock = await client.clock()  # which connects: no run has that in it
        runs = []
        for _ in range(request.runs):
            played = await _play(client.stream(**request.fields), _pieces(request), outlet, status)
            runs.append(_run(played, clock))
    figures = _figures(runs, clock)
    click.echo(json.dumps(figures) if request.as_json else _table(figures))


def _run(played: Played, clock: ClockOffset) -> _ClientRun:
    from yuliu.client.latency import network_back_ms, waterfall

    times, moments = played.times, played.moments
    if times is None or moments is None:
        raise CommandError("nothing was heard: the sound is silent, or the server does not tell its times")
    back_ms = network_back_ms(times, moments, clock)
    return _ClientRun(waterfall(times, moments), moments.whole_ms, back_ms, played.num_resumed > 0)


def _figures(runs: list[_ClientRun], clock: ClockOffset) -> dict[str, Any]:
    from yuliu.client.latency import median_run, medians

    parts = [run.parts for run in runs]
    middle = median_run(parts)
    return {
        "runs": len(runs),
        "parts_ms": _parts_ms(middle),
        "sum_ms": round(middle.sum_ms, 3),
        "whole_ms": round(statistics.median(run.whole_ms for run in runs), 3),
        "network_back_ms": round(statistics.median(run.back_ms for run in runs), 3),
        "clock": {
            "offset_ms": round(1000 * clock.offset_s, 3),
            "uncertainty_ms": round(1000 * clock.uncertainty_s, 3),
            "round_trip_ms": round(1000 * clock.round_trip_s, 3),
        },
        "medians_ms": _parts_ms(medians(parts)),
        "resumed": sum(run.was_resumed for run in runs),
        "each": [{"parts_ms": _parts_ms(run.parts), "whole_ms": round(run.whole_ms, 3)} for run in runs],
    }


def _parts_ms(parts: LatencyBreakdown) -> dict[str, float]:
    return {each.name.removesuffix("_ms"): round(getattr(parts, each.name), 3) for each in fields(parts)}


def _table(figures: dict[str, Any]) -> str:
    """A bar for each part, where it lies in the whole."""
    parts: dict[str, float] = figures["parts_ms"]
    scale = BAR_NUM_CHARS / max(figures["sum_ms"], 1e-9)
    lines, at_ms = [], 0.0
    for name, part_ms in parts.items():
        begin, end = round(scale * at_ms), round(scale * (at_ms + part_ms))
        lines.append(f"{name.replace('_', ' '):<12}{part_ms:9.1f} ms  {' ' * begin}{'█' * (end - begin)}".rstrip())
        at_ms += part_ms
    lines.append(f"{'sum':<12}{figures['sum_ms']:9.1f} ms")
    lines.append(f"{'whole':<12}{figures['whole_ms']:9.1f} ms  (median of {figures['runs']})")
    clock = figures["clock"]
    lines.append(
        f"of the network, {figures['network_back_ms']:.1f} ms are the way back, give or take "
        f"{clock['uncertainty_ms']:.1f} ms: so far are the clocks known"
    )
    if figures["resumed"]:
        lines.append(f"{count(figures['resumed'], 'run')} lost the connection on the way and went on")
    return "\n".join(lines)
