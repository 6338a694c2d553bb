"""The part ``waterfall``: what the time to the first sound went into, and whether the parts add up to the whole.

The whole is taken by a stopwatch of its own: from asking for the stream until an output is given its first block, plus
the silence that the sound in it begins with.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.point import run
from yuliu.bench.report import spread
from yuliu.client import AsyncClient, NullOutput, Player
from yuliu.client.latency import ClientMoments, median_run, silence_s, waterfall

if TYPE_CHECKING:
    from yuliu.bench.doors.setting import Place, Setting
    from yuliu.client import ClientStream
    from yuliu.client.latency import LatencyBreakdown
    from yuliu.types import Samples

LENGTH = "64"


class _Stopwatch(NullOutput):
    """An output that notes when it was given its first block."""

    stopped_s: float | None = None

    def write(self, samples: Samples) -> None:
        """Take it, at the pace of a device."""
        if self.stopped_s is None:
            self.stopped_s = time.monotonic()
        super().write(samples)


def measure_waterfall(setting: Setting, place: Place) -> list[dict[str, Any]]:
    """The client's waterfall for each language, in each round on the same connection."""
    return run(_measure(setting, place))


async def _measure(setting: Setting, place: Place) -> list[dict[str, Any]]:
    runs: dict[str, list[tuple[LatencyBreakdown, float]]] = {lang: [] for lang in setting.texts}
    async with AsyncClient(f"http://127.0.0.1:{place.house.port}") as client:
        for number in range(-1, setting.rounds):
            for lang, texts in setting.texts.items():
                began_s = time.monotonic()
                stream = client.stream(voice=setting.voice, times=True)
                found = await _fall(stream, texts[LENGTH], began_s)
                if number >= 0:
                    runs[lang].append(found)
    setting.progress(f"waterfall: {setting.rounds} runs for each language")
    return [{"lang": lang, **fall_figures(found)} for lang, found in runs.items()]


async def _fall(stream: ClientStream, text: str, began_s: float) -> tuple[LatencyBreakdown, float]:
    """One run: its parts, and the whole by the stopwatch, milliseconds."""
    player: Player | None = None
    quiet_s: float | None = None
    async with stream:
        await stream.push(text)
        await stream.end()
        async for chunk in stream:
            if player is None:
                watch = _Stopwatch(chunk.sample_rate)
                player = Player(watch, chunk.sample_rate)
            player.put(chunk.samples)
            if quiet_s is None and (silent_s := silence_s(chunk.samples, chunk.sample_rate)) is not None:
                quiet_s = chunk.start_s + silent_s
    if player is None or quiet_s is None or stream.done is None or stream.done.times is None:
        raise RuntimeError("nothing was heard, or the server does not tell its times")
    while player.began_at_s is None:  # noqa: ASYNC110 - it begins on a thread
        await asyncio.sleep(0.001)
    await asyncio.to_thread(player.stop)
    assert watch.stopped_s is not None  # noqa: S101 - it has sounded
    assert stream.entered_at_s is not None and stream.first_sound_at_s is not None  # noqa: PT018, S101 - so has it
    moments = ClientMoments(
        asked_s=stream.entered_at_s,
        received_s=stream.first_sound_at_s,
        given_s=player.began_at_s,
        heard_s=player.began_at_s + quiet_s,
    )
    return waterfall(stream.done.times, moments), 1e3 * (watch.stopped_s + quiet_s - began_s)


def fall_figures(runs: list[tuple[LatencyBreakdown, float]]) -> dict[str, Any]:
    """The median run, as the client shows it, and by how much the sum differs from the whole.

    Args:
        runs: The parts of each, and the whole by the stopwatch, milliseconds.
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
