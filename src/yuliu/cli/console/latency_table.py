"""Latency breakdown of ``yuliu client --latency``: figures for JSON, and a table with bars."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from yuliu.cli.console.errors import CommandError
from yuliu.cli.console.terminal import count
from yuliu.client.latency import (
    ClientMoments,
    LatencyBreakdown,
    median_run,
    medians,
    network_back_ms,
    waterfall,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.cli.audio_io.speech_output import SpeechOutput
    from yuliu.client import ClientStream, ClockOffset

BAR_NUM_CHARS = 40


@dataclass(frozen=True, slots=True)
class LatencyRun:
    """One of several runs."""

    parts: LatencyBreakdown
    whole_ms: float
    back_ms: float
    """Way back from the server, a part of the network's time, milliseconds."""
    was_resumed: bool


def run_of(stream: ClientStream, output: SpeechOutput, clock: ClockOffset) -> LatencyRun:
    """Return the breakdown of a finished stream.

    Raises:
        CommandError: Nothing was audible, or the server does not report times.
    """
    times = stream.done.times if stream.done else None
    moments = moments_of(stream, output)
    if times is None or moments is None:
        raise CommandError("nothing to measure: the audio is silent, or the server does not report times")
    back_ms = network_back_ms(times, moments, clock)
    return LatencyRun(waterfall(times, moments), moments.whole_ms, back_ms, stream.num_resumed > 0)


def moments_of(stream: ClientStream, output: SpeechOutput) -> ClientMoments | None:
    """Return the times of the first audio; None if nothing was heard."""
    asked_s, received_s, silence_s = stream.entered_at_s, stream.first_sound_at_s, output.silence_s
    given_s, heard_s = (output.writer.began_at_s, output.writer.heard_at_s) if output.writer else (None, None)
    if asked_s is None or received_s is None or given_s is None or heard_s is None or silence_s is None:
        return None
    return ClientMoments(asked_s=asked_s, received_s=received_s, given_s=given_s, heard_s=heard_s + silence_s)


def figures_of(runs: Sequence[LatencyRun], clock: ClockOffset) -> dict[str, Any]:
    """Return the figures of all runs, for JSON."""
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


def latency_table(figures: dict[str, Any]) -> str:
    """Return the figures as a table, with a bar for each part at its place in the whole."""
    parts: dict[str, float] = figures["parts_ms"]
    scale = BAR_NUM_CHARS / max(figures["sum_ms"], 1e-9)
    lines, at_ms = [], 0.0
    for name, part_ms in parts.items():
        begin, end = round(scale * at_ms), round(scale * (at_ms + part_ms))
        lines.append(f"{name.replace('_', ' '):<12}{part_ms:9.1f} ms  {' ' * begin}{'█' * (end - begin)}".rstrip())
        at_ms += part_ms
    lines.append(f"{'sum':<12}{figures['sum_ms']:9.1f} ms")
    lines.append(f"{'whole':<12}{figures['whole_ms']:9.1f} ms  (median of {figures['runs']})")
    uncertainty_ms = figures["clock"]["uncertainty_ms"]
    back = f"{figures['network_back_ms']:.1f} ± {uncertainty_ms:.1f} ms"
    lines.append(f"{back} of the network time was the way back from the server")
    if figures["resumed"]:
        lines.append(f"{count(figures['resumed'], 'run')} lost the connection and resumed")
    return "\n".join(lines)


def _parts_ms(parts: LatencyBreakdown) -> dict[str, float]:
    return {each.name.removesuffix("_ms"): round(getattr(parts, each.name), 3) for each in fields(parts)}
