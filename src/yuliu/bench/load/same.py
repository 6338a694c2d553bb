"""Whether a stream among many others sounds exactly as it does alone."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.crowd import Crowd
from yuliu.bench.load.point import run
from yuliu.bench.load.texts import STREAM_CLASSES, Shares, asks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.bench.load.listener import Outcome
    from yuliu.bench.load.setting import Setting
    from yuliu.bench.load.texts import Ask

STREAMS = 64
MIX: Shares = (("short", 3), ("paragraph", 1))


def measure_same(setting: Setting, voices: Sequence[str]) -> dict[str, Any]:
    """The same texts alone, one after the other, and all at once, in mixed voices, lengths and classes."""
    classes = itertools.cycle(STREAM_CLASSES)
    drawn = itertools.islice(asks(voices, "same", shares=MIX), STREAMS)
    wanted = [replace(ask, stream_class=next(classes)) for ask in drawn]
    with setting.server() as server:
        alone = [run(_one(server.port, replace(ask, stream_class="bulk"))) for ask in wanted]
        setting.progress(f"determinism: {STREAMS} streams alone")
        together = run(_all(server.port, wanted))
    figures = same_figures(alone, [outcome for outcome, _ in together])
    figures["refused"] = sum(refusals for _, refusals in together)
    setting.progress(f"determinism: {figures['same']} of {STREAMS} are the same")
    return figures


def same_figures(alone: Sequence[Outcome], together: Sequence[Outcome]) -> dict[str, Any]:
    """How many are byte-identical, and which are not."""
    pairs = list(zip(alone, together, strict=True))
    same = [one.completed and other.completed and one.digest == other.digest for one, other in pairs]
    different = [
        {"voice": one.ask.voice, "class": other.ask.stream_class, "chars": len(one.ask.text), "status": other.status}
        for (one, other), equal in zip(pairs, same, strict=True)
        if not equal
    ]
    return {"streams": len(pairs), "same": sum(same), "different": different}


async def _one(port: int, ask: Ask) -> Outcome:
    return (await Crowd(port).ask_until_taken(ask, keep=True))[0]


async def _all(port: int, wanted: Sequence[Ask]) -> list[tuple[Outcome, int]]:
    crowd = Crowd(port)
    return await asyncio.gather(*(crowd.ask_until_taken(ask, keep=True) for ask in wanted))
