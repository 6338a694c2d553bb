"""The part ``determinism``: streams among many others sound exactly as they do alone."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yuliu.bench.client import run
from yuliu.bench.load.generator import LoadGenerator
from yuliu.bench.texts import STREAM_CLASSES, LengthShares, draw_requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.bench.client import HttpResult
    from yuliu.bench.load.point import LoadConfig
    from yuliu.bench.texts import LoadRequest

NUM_STREAMS = 64
MIX: LengthShares = (("short", 3), ("paragraph", 1))


def measure_determinism(config: LoadConfig, voices: Sequence[str]) -> dict[str, Any]:
    """Request the same texts one by one and all at once, in mixed voices, lengths and classes."""
    classes = itertools.cycle(STREAM_CLASSES)
    drawn = itertools.islice(draw_requests(voices, "same", shares=MIX), NUM_STREAMS)
    requests = [replace(request, stream_class=next(classes)) for request in drawn]
    with config.server() as server:
        alone = [run(_request_one(server.port, replace(request, stream_class="bulk"))) for request in requests]
        config.progress(f"determinism: {NUM_STREAMS} streams alone")
        together = run(_request_all(server.port, requests))
    figures = determinism_figures(requests, alone, [result for result, _ in together])
    figures["refused"] = sum(refusals for _, refusals in together)
    config.progress(f"determinism: {figures['same']} of {NUM_STREAMS} are the same")
    return figures


def determinism_figures(
    requests: Sequence[LoadRequest], alone: Sequence[HttpResult], together: Sequence[HttpResult]
) -> dict[str, Any]:
    """Return how many results are byte-identical, and describe the others."""
    pairs = list(zip(requests, alone, together, strict=True))
    same = [one.completed and other.completed and one.digest == other.digest for _, one, other in pairs]
    different = [
        {"voice": request.voice, "class": request.stream_class, "chars": len(request.text), "status": other.status}
        for (request, _, other), equal in zip(pairs, same, strict=True)
        if not equal
    ]
    return {"streams": len(pairs), "same": sum(same), "different": different}


async def _request_one(port: int, request: LoadRequest) -> HttpResult:
    return (await LoadGenerator(port).request_until_accepted(request, keep=True))[0]


async def _request_all(port: int, requests: Sequence[LoadRequest]) -> list[tuple[HttpResult, int]]:
    generator = LoadGenerator(port)
    return await asyncio.gather(*(generator.request_until_accepted(request, keep=True) for request in requests))
