"""All parts of the bench, one after the other, into one report."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from yuliu.bench.doors import PARTS
from yuliu.bench.doors.encoding import measure_encoding
from yuliu.bench.doors.formats import measure_formats
from yuliu.bench.doors.native import measure_native
from yuliu.bench.doors.setting import opened
from yuliu.bench.doors.tokens import measure_tokens
from yuliu.bench.doors.wanted import requirements
from yuliu.bench.doors.waterfall import measure_waterfall
from yuliu.bench.measure import machine
from yuliu.explanation import Explainer

if TYPE_CHECKING:
    from collections.abc import Collection

    from yuliu.bench.doors import Part
    from yuliu.bench.doors.setting import Place, Setting


def run_doors(setting: Setting, parts: Collection[Part], command: str) -> dict[str, Any]:
    """Measure some parts; with nine rounds all of them take six minutes.

    Raises:
        VoiceNotReady: The voice is not on disk.
        RuntimeError: A server did not start, or answered without sound.
    """
    began_s = time.perf_counter()
    about = {
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": command,
        "machine": machine(),
        "rounds": setting.rounds,
        "voice": setting.voice,
    }
    done: dict[str, Any] = {}
    beside = [part for part in PARTS if part in parts and part != "encoding"]
    if beside:
        with opened(setting) as place:
            explainer = Explainer()
            for part in beside:
                done[part] = _measure(part, setting, place, explainer)
    if "encoding" in parts:
        done["encoding"] = measure_encoding(setting)
    lines = [asdict(line) for line in requirements(done)]
    return about | {"took_s": round(time.perf_counter() - began_s, 1), "requirements": lines, "parts": done}


def _measure(part: Part, setting: Setting, place: Place, explainer: Explainer) -> Any:  # noqa: ANN401 - JSON
    match part:
        case "formats":
            return measure_formats(setting, place)
        case "native":
            return measure_native(setting, place, explainer)
        case "tokens":
            return measure_tokens(setting, place, explainer)
        case _:
            return measure_waterfall(setting, place)
