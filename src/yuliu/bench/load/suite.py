"""All parts of a load bench, one after the other, into one report."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from yuliu.bench.load import PARTS
from yuliu.bench.load.cancel import measure_cancel
from yuliu.bench.load.capacity import find_capacity, measure_cliff
from yuliu.bench.load.flat import measure_flat
from yuliu.bench.load.isolation import measure_isolation
from yuliu.bench.load.overload import measure_overload
from yuliu.bench.load.peers import measure_peers
from yuliu.bench.load.point import measure_point
from yuliu.bench.load.same import measure_same
from yuliu.bench.load.setting import cost_of
from yuliu.bench.measure import machine
from yuliu.voices import DEFAULT_VOICE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from yuliu.bench.load import Part
    from yuliu.bench.load.point import Shape
    from yuliu.bench.load.setting import Setting


def run_point(setting: Setting, shape: Shape, command: str) -> dict[str, Any]:
    """One load, and the figures that ``--json`` promises."""
    about = _about(command)
    cost = cost_of(shape.voices, shape.shares)
    setting.progress(f"the engines alone: {cost.alone:.4f} CPU s per audio s")
    with setting.server() as server:
        return measure_point(server, shape, setting.timing, cost) | about


def run_parts(setting: Setting, parts: Collection[Part], command: str) -> dict[str, Any]:
    """Some parts; the capacity is searched first where another part needs it and it was not given."""
    report = _about(command)
    done: dict[str, Any] = {}
    began_s = time.perf_counter()
    needs_capacity = not setting.streams and not {"cliff", "overload"}.isdisjoint(parts)
    for part in PARTS:
        if part in parts or (part == "capacity" and needs_capacity):
            done[part] = _measure(part, setting, done)
    return report | {"took_s": round(time.perf_counter() - began_s, 1), "parts": done}


def _about(command: str) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"at": now, "command": command, "machine": machine()}


def _measure(part: Part, setting: Setting, done: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    setting.progress(f"part {part}")
    found = {entry["voice"]: entry for entry in done.get("capacity", ())}
    match part:
        case "capacity":
            return [find_capacity(setting, voice) for voice in setting.voices]
        case "cliff":
            return [measure_cliff(setting, voice, _capacity(setting, found, voice)) for voice in setting.voices]
        case "isolation":
            return [measure_isolation(setting, voice) for voice in setting.voices]
        case "overload":
            return [
                measure_overload(setting, voice, _capacity(setting, found, voice), _goodput(found, voice))
                for voice in setting.voices
            ]
        case "cancel":
            return measure_cancel(setting, setting.voices[0])
        case "flat":
            return measure_flat(setting, setting.voices[-1])
        case "determinism":
            return measure_same(setting, (*setting.voices, DEFAULT_VOICE))
        case "peers":
            return measure_peers(setting)


def _capacity(setting: Setting, found: Mapping[str, Any], voice: str) -> int:
    return setting.streams or max(1, found[voice]["streams"])


def _goodput(found: Mapping[str, Any], voice: str) -> float | None:
    best = found[voice]["at_capacity"] if voice in found else None
    return best["goodput"] if best else None
