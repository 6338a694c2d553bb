"""All parts of the load suite, one after the other, in one report."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.load import LOAD_PARTS
from bench.load.determinism import measure_determinism
from bench.load.isolation import measure_isolation
from bench.load.leaving import measure_leaving
from bench.load.memory import measure_memory
from bench.load.near_capacity import measure_cliff, measure_overload
from bench.load.peers import measure_peers
from yuliu.bench.load.capacity import find_capacity
from yuliu.bench.load.point import LoadConfig
from yuliu.bench.report import started_report
from yuliu.voices import DEFAULT_VOICE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bench.load import LoadPart


@dataclass(frozen=True, slots=True)
class LoadSuite:
    """Sizes of the suite."""

    load: LoadConfig = field(default_factory=LoadConfig)
    capacity: int = 0
    """Capacity in streams if it is known; 0 measures it."""
    num_requests: int = 20_000
    """Requests of the part ``flat``."""


def run_load_suite(suite: LoadSuite, parts: Collection[LoadPart], command: str) -> dict[str, Any]:
    """Measure some parts; the capacity is measured first if another part needs it and it is not given."""
    report = started_report(command)
    done: dict[str, Any] = {}
    began_s = time.perf_counter()
    needs_capacity = not suite.capacity and not {"cliff", "overload"}.isdisjoint(parts)
    for part in LOAD_PARTS:
        if part in parts or (part == "capacity" and needs_capacity):
            suite.load.progress(f"part {part}")
            done[part] = _measure(part, suite, done)
    return report | {"took_s": round(time.perf_counter() - began_s, 1), "parts": done}


def _measure(part: LoadPart, suite: LoadSuite, done: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    config, voices = suite.load, suite.load.voices
    found = {entry["voice"]: entry for entry in done.get("capacity", ())}
    match part:
        case "capacity":
            return [find_capacity(config, voice) for voice in voices]
        case "cliff":
            return [measure_cliff(config, voice, _capacity(suite, found, voice)) for voice in voices]
        case "isolation":
            return [measure_isolation(config, voice) for voice in voices]
        case "overload":
            return [
                measure_overload(config, voice, _capacity(suite, found, voice), _goodput(found, voice))
                for voice in voices
            ]
        case "cancel":
            return measure_leaving(config, voices[0])
        case "flat":
            return measure_memory(config, voices[-1], suite.num_requests)
        case "determinism":
            return measure_determinism(config, (*voices, DEFAULT_VOICE))
        case "peers":
            return measure_peers(config)


def _capacity(suite: LoadSuite, found: Mapping[str, Any], voice: str) -> int:
    return suite.capacity or max(1, found[voice]["streams"])


def _goodput(found: Mapping[str, Any], voice: str) -> float | None:
    best = found[voice]["at_capacity"] if voice in found else None
    return best["goodput"] if best else None
