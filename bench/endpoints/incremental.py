"""The parts ``native`` and ``tokens``: latency of the native WebSocket for text sent whole and token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.endpoints.token_stream import speak_tokens, token_stream, tokenize
from yuliu.bench.engine_cost import measure_floor
from yuliu.bench.report import spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.endpoints.token_lag import TokenLag
    from bench.endpoints.token_stream import TokenStream
    from yuliu.bench.endpoints import EndpointConfig, Testbed
    from yuliu.client.fields import StreamFields
    from yuliu.explanation import Explainer
    from yuliu.types import Lang

LENGTHS = ("12", "64", "172")
PRESET = "dialogue"
UNBOUNDED_S = 600.0
"""Maximum lead over the listener with which nothing is held back: the speed of synthesis is measured."""
TOKENS_LENGTH = "172"


def measure_native(config: EndpointConfig, testbed: Testbed, explainer: Explainer) -> list[dict[str, Any]]:
    """Measure each text in each round by the engines alone, sent whole, and sent token by token."""
    texts = [(lang, length) for lang in config.texts for length in LENGTHS]
    rounds: list[dict[tuple[Lang, str], dict[str, float]]] = []
    for number in range(-1, config.rounds):
        found = {(lang, length): _measure(testbed, config.texts[lang][length], explainer) for lang, length in texts}
        if number >= 0:
            rounds.append(found)
        config.progress(f"native: round {number + 1} of {config.rounds}" if number >= 0 else "native: warming up")
    return [
        {"lang": lang, "length": length}
        | {key: spread(found[lang, length][key] for found in rounds) for key in ("floor_ms", "whole_ms", "written_ms")}
        for lang, length in texts
    ]


def _measure(testbed: Testbed, text: str, explainer: Explainer) -> dict[str, float]:
    target = testbed.target
    floor_s = measure_floor(testbed.engines, text).first_step_s
    whole_s = target.speak("websocket", text, "pcm").first_byte_s
    stream = token_stream(tokenize(text))
    lag = speak_tokens(target.port, stream, explainer, fields={"voice": target.voice}, only_first=True)
    return {"floor_ms": 1e3 * floor_s, "whole_ms": 1e3 * whole_s, "written_ms": 1e3 * lag.segments[0].wait_s}


def measure_tokens(
    config: EndpointConfig,
    testbed: Testbed,
    explainer: Explainer,
    recordings: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Measure each token stream with nothing held back, and the longer ones once with the pace of the preset."""
    streams = _token_streams(config, recordings)
    rounds, port = config.few_rounds, testbed.target.port
    unbounded: StreamFields = {"voice": config.voice, "preset": PRESET, "max_lead_s": UNBOUNDED_S}
    found: dict[str, list[TokenLag]] = {name: [] for name in streams}
    for number in range(rounds):
        for name, stream in streams.items():
            found[name].append(speak_tokens(port, stream, explainer, fields=unbounded))
        config.progress(f"tokens: round {number + 1} of {rounds}")
    paced: StreamFields = {"voice": config.voice, "preset": PRESET}
    longer = {name: stream for name, stream in streams.items() if name.endswith(TOKENS_LENGTH)}
    held = {name: [speak_tokens(port, stream, explainer, fields=paced)] for name, stream in longer.items()}
    config.progress("tokens: with the pace of the preset")
    return {
        "unbound": [tokens_figures(name, streams[name], runs) for name, runs in found.items()],
        "paced": [tokens_figures(name, streams[name], runs) for name, runs in held.items()],
    }


def _token_streams(config: EndpointConfig, recordings: Sequence[Mapping[str, Any]]) -> dict[str, TokenStream]:
    recorded = {recording["id"]: token_stream(recording["deltas"]) for recording in recordings}
    texts = {f"{lang} {TOKENS_LENGTH}": texts[TOKENS_LENGTH] for lang, texts in config.texts.items()}
    return recorded | {name: token_stream(tokenize(text)) for name, text in texts.items()}


def tokens_figures(name: str, stream: TokenStream, runs: Sequence[TokenLag]) -> dict[str, Any]:
    """Return the figures of one text over all of its runs."""
    waits_ms = [1e3 * segment.wait_s for run in runs for segment in run.segments]
    return {
        "text": name,
        "pieces": len(stream.tokens),
        "segments": max(len(run.segments) for run in runs),
        "wait_ms": spread(waits_ms) if waits_ms else None,
        "waits_ms": [[round(1e3 * segment.wait_s, 2) for segment in run.segments] for run in runs],
        "behind": max(run.num_behind for run in runs),
        "underrun_ms": 1e3 * max(run.underrun_s for run in runs),
        "silence_ms": 1e3 * max(run.silence_s for run in runs),
        "unforeseen": sum(run.num_unexpected for run in runs),
    }
