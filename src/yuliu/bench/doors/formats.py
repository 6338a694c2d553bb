"""The part ``formats``: time to the first packet of each format at each door, beside PCM at the same door."""

from __future__ import annotations

import itertools
import random
import statistics
from typing import TYPE_CHECKING, Any

from yuliu.bench.floor import alone
from yuliu.bench.report import spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.audio.formats import FormatName
    from yuliu.bench.doors.setting import Place, Setting
    from yuliu.bench.doors.ways import DoorName

    Way = tuple[DoorName, FormatName]
    Takes = Mapping[Way, tuple[float, float]]
    """First byte of sound and first sample, milliseconds."""

WARM_UP_ROUNDS = 1
LENGTH = "64"
"""Of the texts, as they are named."""
PCM_TAKES = 3
"""Of PCM at each door in a round: all other formats are compared with their median."""

Row = dict[str, Any]


def measure_formats(setting: Setting, place: Place) -> dict[str, Any]:
    """All doors and formats in each round, in another order each time: a drift of the machine hits all alike."""
    ways = list(itertools.product(setting.doors, setting.formats))
    turns = [way for way in ways for _ in range(PCM_TAKES if way[1] == "pcm" else 1)]
    draw = random.Random(0)  # noqa: S311 - the same orders at each run
    rows: list[Row] = []
    for number in range(-WARM_UP_ROUNDS, setting.rounds):
        for lang, texts in setting.texts.items():
            found = _round(place, texts[LENGTH], draw.sample(turns, len(turns)))
            if number >= 0:
                rows.append({"lang": lang, **found})
        setting.progress(f"formats: round {number + 1} of {setting.rounds}" if number >= 0 else "formats: warming up")
    return {lang: _summary(ways, [row for row in rows if row["lang"] == lang]) for lang in setting.texts}


def _round(place: Place, text: str, turns: Sequence[Way]) -> Row:
    floor_ms = 1e3 * alone(place.engines, text).floor_s
    found: dict[Way, list[tuple[float, float]]] = {}
    for door, name in turns:
        heard = place.house.take(door, text, name)
        found.setdefault((door, name), []).append((1e3 * heard.first_s, 1e3 * heard.decodable_s))
    return {"floor_ms": floor_ms, "takes": {way: medians(takes) for way, takes in found.items()}}


def medians(takes: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Of several takes of the same."""
    first, decodable = zip(*takes, strict=True)
    return statistics.median(first), statistics.median(decodable)


def _summary(ways: Sequence[Way], rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "floor_ms": spread(row["floor_ms"] for row in rows),
        "ways": [way_figures(door, name, [row["takes"] for row in rows]) for door, name in ways],
    }


def way_figures(door: DoorName, name: FormatName, rounds: Sequence[Takes]) -> Row:
    """Figures of one format at one door; what is more than PCM is taken within each round.

    Args:
        door: Which.
        name: The format.
        rounds: By door and format: first byte and first decodable sample, milliseconds.
    """
    return {
        "door": door,
        "format": name,
        "ttfp_ms": spread(takes[door, name][0] for takes in rounds),
        "decodable_ms": spread(takes[door, name][1] for takes in rounds),
        "more_than_pcm_ms": spread(takes[door, name][0] - takes[door, "pcm"][0] for takes in rounds),
        "decodable_more_than_pcm_ms": spread(takes[door, name][1] - takes[door, "pcm"][1] for takes in rounds),
    }
