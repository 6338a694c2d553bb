"""The part ``tokens``: whether sound keeps up with a text that a language model writes at thirty pieces a second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.doors.writing import pieces_of, script_of, write
from yuliu.bench.report import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.bench.doors.following import Followed
    from yuliu.bench.doors.setting import Place, Setting
    from yuliu.bench.doors.writing import Script
    from yuliu.client.fields import StartFields
    from yuliu.explanation import Explainer

PRESET = "dialogue"
NO_BOUND_S = 600.0
"""As far ahead of its listener as sound may be made, so that nothing is held back: what is measured is how fast."""
LENGTH = "172"


def measure_tokens(setting: Setting, place: Place, explainer: Explainer) -> dict[str, Any]:
    """Each text a third as often as other parts, with nothing held back; the longer ones once as the preset does it."""
    scripts = dict(_scripts(setting))
    rounds = setting.few_rounds
    unbound: StartFields = {"voice": setting.voice, "preset": PRESET, "max_lead_s": NO_BOUND_S}
    found: dict[str, list[Followed]] = {name: [] for name in scripts}
    for number in range(rounds):
        for name, script in scripts.items():
            found[name].append(write(place.house.port, script, explainer, fields=unbound))
        setting.progress(f"tokens: round {number + 1} of {rounds}")
    paced: StartFields = {"voice": setting.voice, "preset": PRESET}
    longer = {name: script for name, script in scripts.items() if name.endswith(LENGTH)}
    held = {name: [write(place.house.port, script, explainer, fields=paced)] for name, script in longer.items()}
    setting.progress("tokens: with the pace of the preset")
    return {
        "unbound": [tokens_figures(name, scripts[name], runs) for name, runs in found.items()],
        "paced": [tokens_figures(name, scripts[name], runs) for name, runs in held.items()],
    }


def _scripts(setting: Setting) -> Iterator[tuple[str, Script]]:
    for line in setting.lines:
        yield line["id"], script_of(line["deltas"])
    for lang, texts in setting.texts.items():
        yield f"{lang} {LENGTH}", script_of(pieces_of(texts[LENGTH]))


def tokens_figures(name: str, script: Script, runs: Sequence[Followed]) -> dict[str, Any]:
    """Of one text, over all of its runs."""
    waits_ms = [1e3 * step.wait_s for run in runs for step in run.steps]
    return {
        "text": name,
        "pieces": len(script.pieces),
        "segments": max(len(run.steps) for run in runs),
        "wait_ms": spread(waits_ms) if waits_ms else None,
        "waits_ms": [[round(1e3 * step.wait_s, 2) for step in run.steps] for run in runs],
        "behind": max(run.num_behind for run in runs),
        "underrun_ms": 1e3 * max(run.underrun_s for run in runs),
        "silence_ms": 1e3 * max(run.silence_s for run in runs),
        "unforeseen": sum(run.num_unforeseen for run in runs),
    }
