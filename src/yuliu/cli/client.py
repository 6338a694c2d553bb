"""``yuliu client``: speak from a server elsewhere, and see what its first sound waits for."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import click

from yuliu.cli.outputs import check_output, output_option
from yuliu.cli.report import Problem
from yuliu.cli.terminal import StatusLine, duration, is_terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from yuliu.cli.remote import Played
    from yuliu.cli.sinks import Sink
    from yuliu.client import AsyncClient, ClockOffset
    from yuliu.client.fields import StartFields
    from yuliu.client.waterfall import Waterfall

DEFAULT_URL = "http://127.0.0.1:8000"
STDIN = 0
BAR_NUM_CHARS = 40

EXAMPLES = """\b
Examples:
  yuliu client "你好，world."
  some-llm | yuliu client --url http://speech.lan:8000 --preset dialogue
  yuliu client "Hello." -o hello.wav
  yuliu client "Hello." --latency --runs 20 -o /dev/null
"""


@dataclass(frozen=True, slots=True)
class Request:
    """The options as they were given."""

    text: tuple[str, ...]
    url: str
    key: str | None
    output: str | None
    sound_format: Literal["wav", "pcm"] | None
    voice: str | None
    speed: float
    preset: str | None
    latency: bool
    runs: int
    as_json: bool
    quiet: bool

    @property
    def fields(self) -> StartFields:
        """Those of the stream."""
        return {"voice": self.voice, "speed": self.speed, "preset": self.preset, "times": self.latency}


@click.command(epilog=EXAMPLES)
@click.argument("text", nargs=-1)
@click.option("--url", default=DEFAULT_URL, show_default=True, help="Address of the server.")
@click.option("--key", envvar="YULIU_KEY", help="The server's API key, if it wants one; also in $YULIU_KEY.")
@output_option
@click.option(
    "--format",
    "sound_format",
    type=click.Choice(["wav", "pcm"]),
    help="What to write: wav, or bare samples (pcm: 16 bit, little-endian, mono).  [default: wav]",
)
@click.option("--voice", metavar="NAME", help="A voice of the server.")
@click.option(
    "--speed", type=click.FloatRange(0.25, 4.0), default=1.0, show_default=True, help="Pace: 2 is twice as fast."
)
@click.option("--preset", metavar="NAME", help="A preset of the server; dialogue suits an assistant.")
@click.option("--latency", is_flag=True, help="Show what the time to the first sound went into.")
@click.option("--runs", type=click.IntRange(1, 1000), default=1, show_default=True, help="With --latency: how often.")
@click.option("--json", "as_json", is_flag=True, help="With --latency: print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, tell errors only.")
def command(**options: Any) -> None:  # noqa: ANN401 - collected into a Request
    """Speak TEXT, or standard input while it is being written, from a server.

    The sound is played, or written to a file or pipe with -o.
    """
    request = Request(**options)
    _check(request)
    asyncio.run(_measure(request) if request.latency else _speak(request))


def _check(request: Request) -> None:
    if (request.runs > 1 or request.as_json) and not request.latency:
        raise click.UsageError("--runs and --json go with --latency")
    if request.latency and not request.text:
        raise click.UsageError("--latency needs TEXT: what is typed or piped in would be measured too")
    if request.latency and request.output == "-":
        raise click.UsageError("standard output is for the figures; write a file with -o out.wav, or -o /dev/null")
    check_output(request.output, request.sound_format)


def _open_sink(request: Request, sample_rate: int) -> Sink:
    from yuliu.cli.device import open_device
    from yuliu.cli.sinks import open_path, open_stdout

    if request.output is None:
        return open_device(sample_rate)
    if request.output == "-":
        return open_stdout(sample_rate, request.sound_format or "wav")
    return open_path(request.output, sample_rate, request.sound_format or "wav")


def _pieces(request: Request) -> AsyncIterator[str]:
    from yuliu.cli.background import BackgroundThread
    from yuliu.cli.sources import from_arguments, from_descriptor

    if request.text and request.text != ("-",):
        return from_arguments(request.text).pieces
    return from_descriptor(STDIN, BackgroundThread("yuliu-text")).pieces


async def _play(client: AsyncClient, request: Request, status: StatusLine) -> Played:
    """One text."""
    from yuliu.cli.remote import Played, play

    played = Played()
    started_s = time.monotonic()

    def show() -> None:
        status.show([f"{duration(played.audio_s)} of sound", f"{duration(time.monotonic() - started_s)} elapsed"])

    try:
        await play(
            client.stream(**request.fields),
            _pieces(request),
            lambda sample_rate: _open_sink(request, sample_rate),
            played=played,
            on_change=show,
        )
    finally:
        status.clear()
    if not played.audio_s:
        raise Problem("nothing was spoken: the text holds nothing that the voice can say")
    return played


def _client(request: Request) -> AsyncClient:
    from yuliu.client import AsyncClient, WebSocketTransport

    headers = {"Authorization": f"Bearer {request.key}"} if request.key else {}
    return AsyncClient(WebSocketTransport(request.url, headers=headers))


async def _speak(request: Request) -> None:
    typed = not request.text and is_terminal(sys.stdin)
    async with _client(request) as client:
        await _play(client, request, StatusLine(sys.stderr, enabled=not (request.quiet or typed)))


async def _measure(request: Request) -> None:
    from yuliu.client.waterfall import network_back_ms, waterfall

    runs: list[Waterfall] = []
    wholes_ms, backs_ms = [], []
    async with _client(request) as client:
        clock = await client.clock()
        for _ in range(request.runs):
            played = await _play(client, request, StatusLine(sys.stderr, enabled=not request.quiet))
            if played.times is None or played.moments is None:
                raise Problem("nothing was heard: the sound is silent, or the server does not tell its times")
            runs.append(waterfall(played.times, played.moments))
            wholes_ms.append(played.moments.whole_ms)
            backs_ms.append(network_back_ms(played.times, played.moments, clock))
    figures = _figures(runs, statistics.median(wholes_ms), statistics.median(backs_ms), clock)
    click.echo(json.dumps(figures) if request.as_json else _table(figures))


def _figures(runs: list[Waterfall], whole_ms: float, back_ms: float, clock: ClockOffset) -> dict[str, Any]:
    from yuliu.client.waterfall import medians

    median = medians(runs)
    return {
        "runs": len(runs),
        "parts_ms": {each.name.removesuffix("_ms"): round(getattr(median, each.name), 3) for each in fields(median)},
        "sum_ms": round(median.sum_ms, 3),
        "whole_ms": round(whole_ms, 3),
        "network_back_ms": round(back_ms, 3),
        "clock": {
            "offset_ms": round(1000 * clock.offset_s, 3),
            "uncertainty_ms": round(1000 * clock.uncertainty_s, 3),
            "round_trip_ms": round(1000 * clock.round_trip_s, 3),
        },
    }


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
    return "\n".join(lines)
