"""Time to first packet of each format at each endpoint, beside PCM at the same endpoint."""

from __future__ import annotations

import itertools
import random
import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from yuliu.audio.formats import FORMATS
from yuliu.bench.adapters import ENDPOINTS, HEADINGS, BenchTarget
from yuliu.bench.engine_cost import measure_floor
from yuliu.bench.report import cell, described, spread, started_report, table
from yuliu.bench.server_process import SERVE, ServerProcess
from yuliu.bench.texts import short_texts
from yuliu.synthesizer import load_voice
from yuliu.synthesizer import open as open_voices
from yuliu.voices import DEFAULT_VOICE, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from yuliu.audio.formats import FormatName
    from yuliu.bench.adapters import EndpointName
    from yuliu.engines.api import Engine
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Lang

    Combination = tuple[EndpointName, FormatName]
    Latencies = Mapping[Combination, tuple[float, float]]
    """First byte and first decodable sample of audio, milliseconds."""

WARM_UP_ROUNDS = 1
LENGTH = "64"
"""Nominal length of the text."""
PCM_TAKES = 3
"""Requests for PCM at each endpoint in a round: all other formats are compared with their median."""
NOTES = """\
One client, over loopback. A time to the first packet (TTFP) is from sending the request, on an open connection, to the
first byte of audio; the header of a container is not audio. `floor`: plan and first step by the engines alone, in this
process, in the same rounds.
"""


def _load_engines() -> dict[Lang, Engine]:
    return load_voice(VoiceStore(), DEFAULT_VOICE)


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """Rounds, texts, endpoints and the server of a measurement of endpoints."""

    rounds: int = 9
    """Rounds after the warm-up; slow parts take a third of them."""
    voice: str = DEFAULT_VOICE
    texts: Mapping[Lang, Mapping[str, str]] = field(default_factory=short_texts)
    """Texts by language and nominal number of characters; 12, 64 and 172 are spoken."""
    endpoints: Sequence[EndpointName] = ENDPOINTS
    formats: Sequence[FormatName] = ("pcm", *(name for name in FORMATS if name != "pcm"))
    """Formats, with PCM among them: the others are compared with it."""
    open_synthesizer: Callable[[], Synthesizer] = open_voices
    open_engines: Callable[[], Mapping[Lang, Engine]] = _load_engines
    program: tuple[str, ...] = SERVE
    """Server to start, as arguments of ``python``."""
    progress: Callable[[str], None] = lambda _: None
    """Receives lines for people."""

    @property
    def few_rounds(self) -> int:
        """Rounds of the slow parts."""
        return max(1, self.rounds // 3)


@dataclass(frozen=True, slots=True)
class Testbed:
    """A server, the library and the engines of this process, all warm."""

    target: BenchTarget
    engines: Mapping[Lang, Engine]


@contextmanager
def open_testbed(config: EndpointConfig) -> Iterator[Testbed]:
    """Start a fresh server for the duration of the block."""
    engines = config.open_engines()
    try:
        with config.open_synthesizer() as synthesizer, ServerProcess(program=config.program) as server:
            yield Testbed(BenchTarget(server.port, synthesizer, config.voice), engines)
    finally:
        for engine in engines.values():
            engine.close()


def run_endpoints(config: EndpointConfig, command: str) -> dict[str, Any]:
    """Measure all formats at all endpoints and return the report; takes about two minutes with nine rounds.

    Raises:
        VoiceNotReady: The voice is not installed.
        RuntimeError: A server did not start, or a response held no audio.
    """
    began_s = time.perf_counter()
    report = started_report(command) | {"rounds": config.rounds, "voice": config.voice}
    with open_testbed(config) as testbed:
        parts = {"formats": measure_formats(config, testbed)}
    return report | {"took_s": round(time.perf_counter() - began_s, 1), "parts": parts}


def measure_formats(config: EndpointConfig, testbed: Testbed) -> dict[str, Any]:
    """Take each endpoint and format once a round, in random order: a drift of the machine affects all alike."""
    combinations = list(itertools.product(config.endpoints, config.formats))
    takes = [each for each in combinations for _ in range(PCM_TAKES if each[1] == "pcm" else 1)]
    draw = random.Random(0)  # noqa: S311 - the same orders at each run
    rows: list[dict[str, Any]] = []
    for number in range(-WARM_UP_ROUNDS, config.rounds):
        for lang, texts in config.texts.items():
            row = _round(testbed, texts[LENGTH], draw.sample(takes, len(takes)))
            if number >= 0:
                rows.append({"lang": lang, **row})
        config.progress(f"formats: round {number + 1} of {config.rounds}" if number >= 0 else "formats: warming up")
    return {lang: _summary(combinations, [row for row in rows if row["lang"] == lang]) for lang in config.texts}


def _round(testbed: Testbed, text: str, takes: Sequence[Combination]) -> dict[str, Any]:
    floor_ms = 1e3 * measure_floor(testbed.engines, text).first_step_s
    found: dict[Combination, list[tuple[float, float]]] = {}
    for endpoint, name in takes:
        response = testbed.target.speak(endpoint, text, name)
        latencies = (1e3 * response.first_byte_s, 1e3 * response.decodable_s)
        found.setdefault((endpoint, name), []).append(latencies)
    return {"floor_ms": floor_ms, "latencies": {key: medians(each) for key, each in found.items()}}


def medians(takes: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the median of each of the two latencies."""
    first, decodable = zip(*takes, strict=True)
    return statistics.median(first), statistics.median(decodable)


def _summary(combinations: Sequence[Combination], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "floor_ms": spread(row["floor_ms"] for row in rows),
        "ways": [format_figures(endpoint, name, [row["latencies"] for row in rows]) for endpoint, name in combinations],
    }


def format_figures(endpoint: EndpointName, name: FormatName, rounds: Sequence[Latencies]) -> dict[str, Any]:
    """Return the figures of one format at one endpoint; differences to PCM are taken within each round."""
    return {
        "door": endpoint,
        "format": name,
        "ttfp_ms": spread(each[endpoint, name][0] for each in rounds),
        "decodable_ms": spread(each[endpoint, name][1] for each in rounds),
        "more_than_pcm_ms": spread(each[endpoint, name][0] - each[endpoint, "pcm"][0] for each in rounds),
        "decodable_more_than_pcm_ms": spread(each[endpoint, name][1] - each[endpoint, "pcm"][1] for each in rounds),
    }


def endpoints_page(report: dict[str, Any]) -> str:
    """Return the report of :func:`run_endpoints` as Markdown."""
    figures = f"Median (minimum-maximum) of {report['rounds']} rounds."
    head = f"# Endpoints and formats\n\nMeasured by `{report['command']}` on {described(report)} {figures}\n"
    return "\n".join([head, NOTES, formats_section(report["parts"]["formats"])])


def formats_section(figures: Mapping[str, Any]) -> str:
    """Return the section of the formats as Markdown."""
    texts = []
    for lang, found in figures.items():
        floor = (
            f"Floor: {cell(found['floor_ms'], 1)} ms. In brackets: difference to the median PCM take, in each round."
        )
        texts += [f"### {lang}\n", floor + "\n", _formats_table(found["ways"]), _decodable_later(found["ways"])]
    return "## Time to the first packet, ms\n\n" + "\n".join(texts)


def _formats_table(rows: Sequence[Mapping[str, Any]]) -> str:
    endpoints, names = (list(dict.fromkeys(row[key] for row in rows)) for key in ("door", "format"))
    found = {(row["door"], row["format"]): row for row in rows}
    body = [[name, *(_latency_cell(found[endpoint, name]) for endpoint in endpoints)] for name in names]
    return table(["format", *(HEADINGS[endpoint] for endpoint in endpoints)], body)


def _latency_cell(row: Mapping[str, Any]) -> str:
    ttfp = f"{row['ttfp_ms']['median']:.1f}"
    return ttfp if row["format"] == "pcm" else f"{ttfp} ({row['more_than_pcm_ms']['median']:+.1f})"


def _decodable_later(rows: Sequence[Mapping[str, Any]]) -> str:
    """List the formats that need more than their first bytes to decode to a sample."""
    later = [row for row in rows if row["decodable_ms"]["median"] > row["ttfp_ms"]["median"]]
    if not later:
        return "At each endpoint the first bytes of audio of every format can be decoded when they arrive.\n"
    body = [
        [row["format"], HEADINGS[row["door"]], cell(row["ttfp_ms"], 1), cell(row["decodable_ms"], 1)] for row in later
    ]
    return "Formats that need more than their first bytes to decode:\n\n" + table(
        ["format", "endpoint", "first byte, ms", "first sample, ms"], body
    )
