"""Latency of the short texts over loopback HTTP, beside the engines alone.

Each round takes all texts in turn, so that a drift of the machine affects all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from yuliu.audio.wav import HEADER_NUM_BYTES
from yuliu.bench.client import fetch, json_request
from yuliu.bench.engine_cost import measure_floor
from yuliu.bench.playback import ChunkArrival, simulate_playback
from yuliu.bench.report import spread, started_report, summarise
from yuliu.bench.server_process import ServerProcess
from yuliu.bench.texts import LANGUAGES, short_texts
from yuliu.synthesizer import load_voice
from yuliu.voices import DEFAULT_VOICE, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.bench.client import HttpResult
    from yuliu.bench.engine_cost import EngineFloor
    from yuliu.bench.report import LatencyRow
    from yuliu.engines.api import Engine
    from yuliu.types import Lang

WARM_UP_ROUNDS = 2
NUM_STARTS = 3
"""Starts of the server that are timed."""
TIMEOUT_S = 120.0
AUDIBLE = 10 ** (-46 / 20)
"""Level of the first sound, -46 dBFS."""


@dataclass(frozen=True, slots=True)
class WavResponse:
    """A response as 16-bit mono WAV; times count from when the request was sent."""

    sample_rate: int
    pcm: bytes
    arrivals: tuple[ChunkArrival, ...]
    """Arrivals of the samples, without the header."""
    last_byte_s: float

    @property
    def audio_s(self) -> float:
        """Length of the audio."""
        return len(self.pcm) / 2 / self.sample_rate

    @property
    def ttfp_s(self) -> float:
        """Time to the first byte of audio; a header is not audio."""
        return self.arrivals[0].at_s

    @property
    def ttfs_s(self) -> float:
        """Time until a player that starts at the first byte plays the first audible sample."""
        loud = np.abs(np.frombuffer(self.pcm, "<i2")) > AUDIBLE * 32768
        return self.ttfp_s + (int(loud.argmax()) / self.sample_rate if loud.any() else self.audio_s)

    @property
    def underrun_s(self) -> float:
        """Time for which such a player would have been silent."""
        return simulate_playback(self.arrivals, 2 * self.sample_rate).underrun_s


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """Measurements of the short texts."""

    rows: list[LatencyRow]
    ready_s: list[float]
    """Time from start to ready of each start of the server."""
    peak_rss_mb: float


def run_latency(command: str, *, num_rounds: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measure the default voice and return the report; takes one to five minutes.

    Raises:
        VoiceNotReady: The default voice is not installed.
        RuntimeError: A server did not start, or its response was not audio.
    """
    engines = load_voice(VoiceStore(), DEFAULT_VOICE)
    for texts in short_texts().values():
        measure_floor(engines, texts["64"])  # warm up
    report = started_report(command)
    found = measure_latency(engines, DEFAULT_VOICE, num_rounds=num_rounds, progress=progress)
    for engine in engines.values():
        engine.close()
    return report | {
        "reps": num_rounds,
        "speech": summarise(found.rows),
        "ready_s": spread(found.ready_s),
        "rss_mb": found.peak_rss_mb,
    }


def measure_latency(
    engines: Mapping[Lang, Engine], voice: str, *, num_rounds: int, progress: Callable[[str], None]
) -> LatencyFigures:
    """Speak each text ``num_rounds`` times by the engines alone and by a server, in turn.

    Args:
        engines: Warm engines of the voice by language.
        voice: Voice to request from the server.
        num_rounds: Number of rounds after the warm-up.
        progress: Receives a line for people after each round.
    """
    ready_s: list[float] = []
    for _ in range(NUM_STARTS - 1):
        with ServerProcess() as server:
            ready_s.append(server.ready_s)
    rows: list[LatencyRow] = []
    with ServerProcess() as server:
        ready_s.append(server.ready_s)
        for number in range(-WARM_UP_ROUNDS, num_rounds):
            for lang in LANGUAGES:
                for length, text in short_texts()[lang].items():
                    figures = _measure(engines, server, text, voice)
                    if number >= 0:
                        rows.append({"lang": lang, "length": length, "rep": number, **figures})
            progress(f"round {number + 1} of {num_rounds}" if number >= 0 else "warming up")
        return LatencyFigures(rows, ready_s, server.peak_rss / 2**20)


def _measure(engines: Mapping[Lang, Engine], server: ServerProcess, text: str, voice: str) -> LatencyRow:
    floor = measure_floor(engines, text)
    cpu_before_s = server.cpu_s()
    response = request_wav(server.port, text, voice)
    return latency_row(floor, response, server.cpu_s() - cpu_before_s)


def latency_row(floor: EngineFloor, response: WavResponse, server_cpu_s: float) -> LatencyRow:
    """Return the figures of one text in one round, in the units of the report."""
    return {
        "floor_ms": floor.first_step_s * 1e3,
        "ttfp_ms": response.ttfp_s * 1e3,
        "ttfs_ms": response.ttfs_s * 1e3,
        "last_byte_ms": response.last_byte_s * 1e3,
        "offline_ms": floor.whole.seconds * 1e3,
        "rtf": response.last_byte_s / response.audio_s,
        "underrun_s": response.underrun_s,
        "audio_s": response.audio_s,
        "chunks": len(response.arrivals),
        "engine_cpu_s_per_audio_s": floor.whole.cpu_s / floor.whole.audio_s,
        "server_cpu_s_per_audio_s": server_cpu_s / response.audio_s,
    }


def request_wav(port: int, text: str, voice: str) -> WavResponse:
    """Request a text as WAV from the server on a loopback port.

    Raises:
        RuntimeError: The response is not audio.
    """
    fields = {"model": "yuliu", "input": text, "voice": voice, "response_format": "wav"}
    return wav_response(fetch(port, json_request("/v1/audio/speech", fields), timeout_s=TIMEOUT_S))


def wav_response(result: HttpResult) -> WavResponse:
    """Separate the samples of a whole WAV response from its header."""
    num_received, arrivals = 0, []
    for arrival in result.arrivals:
        num_before = max(0, num_received - HEADER_NUM_BYTES)
        num_received += arrival.num_bytes
        if num_bytes := max(0, num_received - HEADER_NUM_BYTES) - num_before:
            arrivals.append(ChunkArrival(arrival.at_s, num_bytes))
    pcm = (result.body or b"")[HEADER_NUM_BYTES:]
    return WavResponse(result.sample_rate, pcm, tuple(arrivals), result.ended_at_s - result.sent_at_s)
