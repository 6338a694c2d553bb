"""The part ``encoding``: CPU time of encoding, and the lag that it causes on an event loop."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.endpoints.loop_lag import PATH, LoopLagMonitor
from yuliu.audio.encode import Encoder
from yuliu.audio.formats import choose_encoding
from yuliu.bench.adapters import BenchTarget
from yuliu.bench.client import run
from yuliu.bench.report import spread
from yuliu.bench.server_process import ServerProcess
from yuliu.delivery.encoder_pool import PIECE_S, EncoderPool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from yuliu.audio.formats import Encoding, FormatName
    from yuliu.bench.endpoints import EndpointConfig
    from yuliu.types import Samples

    EncodingRow = dict[str, float]

MONITORED_SERVER = (str(Path(__file__).with_name("loop_lag.py")),)
"""A server that reports the lag of its event loop, as arguments of ``python``."""
LENGTH = "172"
CHUNK_S = 0.1
"""Length of the chunks that are encoded where only the encoder is measured."""
IDLE_S = 0.3
SETTLE_S = 0.01


def measure_encoding(config: EndpointConfig, program: tuple[str, ...] = MONITORED_SERVER) -> dict[str, Any]:
    """Measure each format by an encoder alone, on an event loop, and by a server with a monitored loop."""
    rows: dict[FormatName, list[EncodingRow]] = {name: [] for name in config.formats}
    idle: list[EncodingRow] = []
    texts = [texts[LENGTH] for texts in config.texts.values()]
    with config.open_synthesizer() as synthesizer, ServerProcess(program=program) as server:
        target = BenchTarget(server.port, synthesizer, config.voice)
        samples = np.concatenate([synthesizer.speak(text, voice=config.voice).samples for text in texts])
        for number in range(-1, config.few_rounds):
            found = {name: _measure(target, server, name, texts, samples) for name in config.formats}
            quiet = idle_lag()
            if number >= 0:
                idle.append(quiet)
                for name, row in found.items():
                    rows[name].append(row)
            config.progress(
                f"encoding: round {number + 1} of {config.few_rounds}" if number >= 0 else "encoding: warming up"
            )
        audio_s = len(samples) / synthesizer.sample_rate
    return {
        "audio_s": audio_s,
        "idle_p50_ms": spread(row["p50_ms"] for row in idle),
        "idle_ms": spread(row["max_ms"] for row in idle),
        "formats": [encoding_figures(name, found, rows["pcm"], audio_s=audio_s) for name, found in rows.items()],
    }


def encoding_figures(
    name: FormatName, rows: Sequence[EncodingRow], pcm: Sequence[EncodingRow], *, audio_s: float
) -> dict[str, Any]:
    """Return the figures of one format. The server's CPU time is compared over all rounds: its clock is coarse.

    Args:
        name: The format.
        rows: Its rounds.
        pcm: The rounds of PCM, for the same texts.
        audio_s: Length of the audio of a round.
    """
    more_s = sum(row["server_cpu_s"] for row in rows) - sum(row["server_cpu_s"] for row in pcm)
    keys = ("encoder_ms_per_s", "held_p50_ms", "held_ms", "in_loop_p50_ms", "in_loop_ms", "server_held_ms")
    return {"format": name, "server_more_ms_per_s": 1e3 * more_s / (audio_s * len(rows))} | {
        key: spread(row[key] for row in rows) for key in keys
    }


def idle_lag() -> EncodingRow:
    """Return the lag of an idle loop: that of the machine and of the timers."""
    return run(_monitored(_idle()))


def lag_with_threads(encoding: Encoding, samples: Samples, source_rate: int) -> EncodingRow:
    """Return the lag while samples are encoded on threads, as a server does it."""
    return run(_monitored(_on_threads(encoding, samples, source_rate)))


def lag_in_loop(encoding: Encoding, samples: Samples, source_rate: int) -> EncodingRow:
    """Return the lag while samples are encoded on the loop itself, in pieces of the same length."""
    return run(_monitored(_in_loop(encoding, samples, source_rate)))


def _measure(
    target: BenchTarget, server: ServerProcess, name: FormatName, texts: Sequence[str], samples: Samples
) -> EncodingRow:
    rate = target.synthesizer.sample_rate
    encoding = choose_encoding(name, rate)
    threads, loop = lag_with_threads(encoding, samples, rate), lag_in_loop(encoding, samples, rate)
    return {
        "encoder_ms_per_s": _encoder_ms_per_s(name, samples, rate),
        "held_p50_ms": threads["p50_ms"],
        "held_ms": threads["max_ms"],
        "in_loop_p50_ms": loop["p50_ms"],
        "in_loop_ms": loop["max_ms"],
        **_measure_server(target, server, name, texts),
    }


def _encoder_ms_per_s(name: FormatName, samples: Samples, rate: int) -> float:
    """Return the CPU time of this process for each second of audio, including an encoder's own threads."""
    size = round(CHUNK_S * rate)
    began_s = time.process_time()
    with Encoder(choose_encoding(name, rate), rate) as encoder:
        for start in range(0, len(samples), size):
            encoder.write(samples[start : start + size])
        encoder.finish()
    return 1e3 * (time.process_time() - began_s) * rate / len(samples)


def _measure_server(target: BenchTarget, server: ServerProcess, name: FormatName, texts: Sequence[str]) -> EncodingRow:
    """Return the CPU time of a server, including its voice, and the lag of its loop."""
    _server_lag(target.port)
    before_s = server.cpu_s()
    for text in texts:
        target.speak("speech", text, name)
    return {"server_cpu_s": server.cpu_s() - before_s, "server_held_ms": _server_lag(target.port)["max_ms"]}


def _server_lag(port: int) -> Mapping[str, float]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", PATH)
        with connection.getresponse() as response:
            lag: Mapping[str, float] = json.loads(response.read())
            return lag


async def _monitored(work: AsyncIterator[None]) -> EncodingRow:
    """Return the lag while some work is done; the loop may turn after each piece of it."""
    monitor = LoopLagMonitor()
    monitoring = asyncio.create_task(monitor.run())
    await asyncio.sleep(SETTLE_S)
    monitor.take()
    async for _ in work:
        await asyncio.sleep(0)
    await asyncio.sleep(SETTLE_S)  # the last tick is due
    monitoring.cancel()
    return monitor.take()


async def _idle() -> AsyncIterator[None]:
    await asyncio.sleep(IDLE_S)
    yield


async def _on_threads(encoding: Encoding, samples: Samples, source_rate: int) -> AsyncIterator[None]:
    threads = EncoderPool()
    with threads.stream_encoder(encoding, source_rate) as sound:
        for piece in sound.pieces(samples):
            await sound.write(piece)
            yield
    threads.close()


async def _in_loop(encoding: Encoding, samples: Samples, source_rate: int) -> AsyncIterator[None]:
    size = round(PIECE_S * source_rate)
    with Encoder(encoding, source_rate) as encoder:
        for start in range(0, len(samples), size):
            encoder.write(samples[start : start + size])
            yield
