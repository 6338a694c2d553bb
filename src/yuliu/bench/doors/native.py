"""The part ``native``: how soon the native WebSocket sounds, beside plan and first step by the engines alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.doors.writing import pieces_of, script_of, write
from yuliu.bench.floor import alone
from yuliu.bench.report import spread

if TYPE_CHECKING:
    from yuliu.bench.doors.setting import Place, Setting
    from yuliu.explanation import Explainer
    from yuliu.types import Lang

LENGTHS = ("12", "64", "172")


def measure_native(setting: Setting, place: Place, explainer: Explainer) -> list[dict[str, Any]]:
    """For each text in each round: the engines alone, the text sent whole, the text written in pieces."""
    wanted = [(lang, length) for lang in setting.texts for length in LENGTHS]
    rounds: list[dict[tuple[Lang, str], dict[str, float]]] = []
    for number in range(-1, setting.rounds):
        found = {(lang, length): _figures(place, setting.texts[lang][length], explainer) for lang, length in wanted}
        if number >= 0:
            rounds.append(found)
        setting.progress(f"native: round {number + 1} of {setting.rounds}" if number >= 0 else "native: warming up")
    return [
        {"lang": lang, "length": length}
        | {key: spread(found[lang, length][key] for found in rounds) for key in ("floor_ms", "whole_ms", "written_ms")}
        for lang, length in wanted
    ]


def _figures(place: Place, text: str, explainer: Explainer) -> dict[str, float]:
    house = place.house
    floor_s = alone(place.engines, text).floor_s
    whole_s = house.take("websocket", text, "pcm").first_s
    script = script_of(pieces_of(text))
    followed = write(house.port, script, explainer, fields={"voice": house.voice}, only_first=True)
    return {"floor_ms": 1e3 * floor_s, "whole_ms": 1e3 * whole_s, "written_ms": 1e3 * followed.steps[0].wait_s}
