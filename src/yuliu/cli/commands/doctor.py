"""``yuliu doctor``: check of the installation, with advice on how to fix it."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal

import click

from yuliu.cli.console.errors import FAILED, CommandError
from yuliu.cli.console.terminal import is_terminal, num_columns
from yuliu.cli.options import json_option
from yuliu.cli.process import without_notices
from yuliu.errors import YuliuError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.cli.wiring import Wiring
    from yuliu.synthesizer import Synthesizer
    from yuliu.voices import VoiceInfo

FindingState = Literal["ok", "note", "broken"]
COLOURS = {"ok": "green", "note": "yellow", "broken": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check."""

    name: str
    state: FindingState
    """``note``: something optional is missing. ``broken``: something required does not work."""
    detail: str
    advice: str = ""
    """Remedy; empty if nothing needs to be done."""
    first_sound_s: float | None = None
    """Time from pushing a text to the first audio of a voice, seconds."""
    rtf: float | None = None
    """Real-time factor of a voice: seconds of compute per second of audio."""


@click.command(epilog="\b\nExamples:\n  yuliu doctor\n  yuliu doctor --json > doctor.json")
@json_option()
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check everything that Yuliu needs, try each voice, and say how to fix what is broken.

    The exit code is 1 if something required is broken.
    """
    findings = []
    for finding in examine(ctx.find_root().obj):
        findings.append(finding)
        if not as_json:
            _show(finding)
    broken = [finding for finding in findings if finding.state == "broken"]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    else:
        click.echo(f"\n{len(broken)} broken; the arrows say what to do." if broken else "\nEverything required works.")
    if broken:
        ctx.exit(FAILED)


def examine(wiring: Wiring) -> Iterator[Finding]:
    """Run the checks one after the other, and yield the result of each."""
    yield Finding("yuliu", "ok", f"{_version('yuliu')}, Python {platform.python_version()}")
    yield Finding("machine", "ok", f"{platform.platform(terse=True)}, {platform.machine()}, {_cores()}")
    yield _onnxruntime()
    yield _litert()
    yield _device()
    yield from _voices(wiring)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _cores() -> str:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{usable} of {os.cpu_count()} cores"


def _onnxruntime() -> Finding:
    try:
        import onnxruntime
    except (ImportError, OSError) as error:
        return _missing("onnxruntime", error)
    providers = ", ".join(onnxruntime.get_available_providers())
    return Finding("onnxruntime", "ok", f"{_version('onnxruntime')}; runs on {providers}")


def _litert() -> Finding:
    try:
        from ai_edge_litert import interpreter  # noqa: F401 - loading the library is the check
    except (ImportError, OSError) as error:
        return _missing("ai-edge-litert", error)
    return Finding("ai-edge-litert", "ok", _version("ai-edge-litert"))


def _missing(distribution: str, error: Exception) -> Finding:
    detail = f"{_version(distribution)}; it cannot be loaded ({type(error).__name__})"
    return Finding(distribution, "broken", detail, f"pip install --force-reinstall {distribution}")


def _device() -> Finding:
    from yuliu.cli.audio_io.device import default_device_name

    try:
        return Finding("sound device", "ok", default_device_name())
    except CommandError as problem:
        return Finding("sound device", "note", "none: audio can be written but not played", problem.message)


def _voices(wiring: Wiring) -> Iterator[Finding]:
    from yuliu.voices import DEFAULT_VOICE

    try:
        infos = wiring.open_store().list()
    except YuliuError as error:
        yield Finding("voices", "broken", error.message, "fix or remove that manifest")
        return
    for info in infos:
        name = f"voice {info.name}"
        if info.state == "ready":
            yield _spoken_finding(wiring, info)
        elif info.state == "absent" and info.name != DEFAULT_VOICE:
            yield Finding(name, "note", "not pulled", f"yuliu voices pull {info.name}")
        else:
            state = "not pulled, although it is the default voice" if info.state == "absent" else info.state
            yield Finding(name, "broken", state, f"yuliu voices pull {info.name}")


def _spoken_finding(wiring: Wiring, info: VoiceInfo) -> Finding:
    import asyncio

    name = f"voice {info.name}"
    try:
        with without_notices():
            synthesizer = wiring.open_synthesizer((info.name,))
        with synthesizer:
            first_sound_s, elapsed_s, audio_s = asyncio.run(_measured(synthesizer, info))
    except YuliuError as error:
        return Finding(name, "broken", f"does not speak: {error.message}", f"yuliu voices pull {info.name}")
    detail = f"works; first audio after {first_sound_s * 1000:.0f} ms, {audio_s / elapsed_s:.0f}x real time"
    return Finding(name, "ok", detail, first_sound_s=round(first_sound_s, 4), rtf=round(elapsed_s / audio_s, 4))


async def _measured(synthesizer: Synthesizer, info: VoiceInfo) -> tuple[float, float, float]:
    """Return the times to the first and to the last audio, and the duration of the audio, in seconds."""
    from yuliu.text.languages import language_of
    from yuliu.text.lexicon import Words

    start_s = time.perf_counter()
    first_sound_s = audio_s = 0.0
    async with synthesizer.stream(voice=info.name, words=Words()) as stream:
        await stream.push("".join(language_of(lang).sample for lang in info.languages))
        await stream.end()
        async for chunk in stream:
            first_sound_s = first_sound_s or time.perf_counter() - start_s
            audio_s += len(chunk.samples) / chunk.sample_rate
    return first_sound_s, time.perf_counter() - start_s, audio_s


def _show(finding: Finding) -> None:
    width = num_columns(sys.stdout) if is_terminal(sys.stdout) else None
    head = click.style(f"{finding.state:6}", fg=COLOURS[finding.state])
    click.echo(f"{head}  {_hanging(f'{finding.name}: {finding.detail}', width, indent=8)}")
    if finding.advice:
        click.echo(f"        -> {_hanging(finding.advice, width, indent=11)}")


def _hanging(text: str, width: int | None, *, indent: int) -> str:
    """Wrap a text whose first line already starts at ``indent``; leave it unwrapped without a width."""
    if width is None:
        return text
    return click.wrap_text(text, width, initial_indent=" " * indent, subsequent_indent=" " * indent)[indent:]
