"""The part ``waterfall``: the parts of the time to first sound, and their sum beside an independent measurement.

The independent measurement is from asking for the stream until an output receives its first block, plus the silence at
the start of the audio in it.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from yuliu.bench.client import run
from yuliu.bench.report import spread
from yuliu.client import AsyncClient, NullOutput, Player
from yuliu.client.latency import ClientMoments, median_run, silence_s, waterfall

if TYPE_CHECKING:
    from yuliu.bench.endpoints import EndpointConfig, Testbed
    from yuliu.client import ClientStream
    from yuliu.client.latency import LatencyBreakdown
    from yuliu.types import Samples

LENGTH = "64"


class _StopwatchOutput(NullOutput):
    """An output that records when it received its first block."""

    stopped_s: float | None = None

    def write(self, samples: Samples) -> None:
        """Take a block at the pace of a device."""
        if self.stopped_s is None:
            self.stopped_s = time.monotonic()
        super().write(samples)


def measure_waterfall(config: EndpointConfig, testbed: Testbed) -> list[dict[str, Any]]:
    """Measure the client's waterfall for each language, with all rounds on the same connection."""
    return run(_measure(config, testbed))


async def _measure(config: EndpointConfig, testbed: Testbed) -> list[dict[str, Any]]:
    runs: dict[str, list[tuple[LatencyBreakdown, float]]] = {lang: [] for lang in config.texts}
    async with AsyncClient(f"http://127.0.0.1:{testbed.target.port}") as client:
        for number in range(-1, config.rounds):
            for lang, texts in config.texts.items():
                began_s = time.monotonic()
                stream = client.stream(voice=config.voice, times=True)
                found = await _run_once(stream, texts[LENGTH], began_s)
                if number >= 0:
                    runs[lang].append(found)
    config.progress(f"waterfall: {config.rounds} runs for each language")
    return [{"lang": lang, **waterfall_figures(found)} for lang, found in runs.items()]


async def _run_once(stream: ClientStream, text: str, began_s: float) -> tuple[LatencyBreakdown, float]:
    """Return the parts of one run, and the whole by the stopwatch, milliseconds."""
    player: Player | None = None
    quiet_s: float | None = None
    async with stream:
        await stream.push(text)
        await stream.end()
        async for chunk in stream:
            if player is None:
                output = _StopwatchOutput(chunk.sample_rate)
                player = Player(output, chunk.sample_rate)
            player.put(chunk.samples)
            if quiet_s is None and (silent_s := silence_s(chunk.samples, chunk.sample_rate)) is not None:
                quiet_s = chunk.start_s + silent_s
    if player is None or quiet_s is None or stream.done is None or stream.done.times is None:
        raise RuntimeError("nothing was heard, or the server does not report its times")
    while player.began_at_s is None:  # noqa: ASYNC110 - it begins on a thread
        await asyncio.sleep(0.001)
    await asyncio.to_thread(player.stop)
    assert output.stopped_s is not None  # noqa: S101 - audio was played
    assert stream.entered_at_s is not None and stream.first_sound_at_s is not None  # noqa: PT018, S101 - likewise
    moments = ClientMoments(
        asked_s=stream.entered_at_s,
        received_s=stream.first_sound_at_s,
        given_s=player.began_at_s,
        heard_s=player.began_at_s + quiet_s,
    )
    return waterfall(stream.done.times, moments), 1e3 * (output.stopped_s + quiet_s - began_s)


def waterfall_figures(runs: list[tuple[LatencyBreakdown, float]]) -> dict[str, Any]:
    """Return the median run, as the client shows it, and the difference of its sum from the whole.

    Args:
        runs: The parts of each run, and the whole by the stopwatch, milliseconds.
    """
    median = median_run([parts for parts, _ in runs])
    whole = spread(whole_ms for _, whole_ms in runs)
    return {
        "parts_ms": {name.removesuffix("_ms"): round(value, 3) for name, value in asdict(median).items()},
        "sum_ms": median.sum_ms,
        "whole_ms": whole,
        "off": spread(abs(parts.sum_ms - whole_ms) / whole_ms for parts, whole_ms in runs),
        "off_medians": abs(median.sum_ms - whole["median"]) / whole["median"],
    }
