"""Two installations side by side: the same requests in turn, so that a drift of the machine affects both alike.

Ratios are formed round by round, new over old, and their medians are reported.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from yuliu.bench.latency import WARM_UP_ROUNDS, WavResponse, request_wav
from yuliu.bench.report import described, spread, started_report, table
from yuliu.bench.server_process import ServerProcess
from yuliu.bench.texts import LANGUAGES, short_texts
from yuliu.voices import DEFAULT_VOICE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from yuliu.types import Lang

    Cell = tuple[Lang, str]
    """Language and length of a text."""

FIGURES = ("ttfp_ms", "ttfs_ms", "last_byte_ms", "cpu_ms")


@dataclass(frozen=True, slots=True)
class ComparePlan:
    """Comparison of two installations."""

    command: str
    """The command as typed, for the report."""
    pythons: Mapping[str, str]
    """Interpreters of the two installations by name, ``old`` and ``new``."""
    num_rounds: int


def run_compare(plan: ComparePlan, progress: Callable[[str], None]) -> dict[str, Any]:
    """Speak the short texts with both installations in turn and return the report.

    Raises:
        RuntimeError: A server did not become ready, or its response was not audio.
    """
    report = started_report(plan.command)
    rounds: list[dict[Cell, dict[str, dict[str, float]]]] = []
    same = True
    with ExitStack() as stack:
        servers = {name: stack.enter_context(ServerProcess(python=path)) for name, path in plan.pythons.items()}
        for number in range(-WARM_UP_ROUNDS, plan.num_rounds):
            found: dict[Cell, dict[str, dict[str, float]]] = {}
            for cell, text in _texts():
                measured = _both(servers, text)
                same &= len({response.pcm for response, _ in measured.values()}) == 1
                found[cell] = {name: _figures(*each) for name, each in measured.items()}
            if number >= 0:
                rounds.append(found)
                progress(f"round {number + 1} of {plan.num_rounds}")
        ready = {name: server.ready_s for name, server in servers.items()}
        memory = {name: server.peak_rss / 2**20 for name, server in servers.items()}
    rows = [compare_row(cell, [each[cell] for each in rounds]) for cell, _ in _texts()]
    return report | {"rounds": plan.num_rounds, "same_samples": same, "cells": rows, "ready_s": ready, "rss_mb": memory}


def compare_page(report: dict[str, Any]) -> str:
    """Return the report as a readable page."""
    head = ["language", "characters"]
    head += [f"{figure.rpartition('_')[0]} {side}" for figure in FIGURES for side in ("old, ms", "new, ms", "ratio")]
    rows = [
        [row["lang"], row["length"], *(f"{row[figure][side]['median']:.2f}" for figure in FIGURES for side in _SIDES)]
        for row in report["cells"]
    ]
    overall = ", ".join(f"{figure} {_overall(report, figure):.3f}" for figure in FIGURES)
    same = "identical" if report["same_samples"] else "different"
    ready, memory = report["ready_s"], report["rss_mb"]
    return "\n".join(
        [
            f"# Old and new side by side\n\n{described(report)} Medians of {report['rounds']} rounds.\n",
            table(head, rows),
            f"\nMedian ratio of all texts: {overall}. Samples: {same}.",
            f"Ready after {ready['old']:.2f} s and {ready['new']:.2f} s. Peak memory:",
            f"{memory['old']:.0f} MB and {memory['new']:.0f} MB.\n",
        ]
    )


_SIDES = ("old", "new", "ratio")


def _texts() -> Iterator[tuple[Cell, str]]:
    for lang in LANGUAGES:
        for length, text in short_texts()[lang].items():
            yield (lang, length), text


def _both(servers: Mapping[str, ServerProcess], text: str) -> dict[str, tuple[WavResponse, float]]:
    """Ask both servers, in random order."""
    found = {}
    for name in random.sample(sorted(servers), len(servers)):
        before_s = servers[name].cpu_s()
        response = request_wav(servers[name].port, text, DEFAULT_VOICE)
        found[name] = response, servers[name].cpu_s() - before_s
    return found


def _figures(response: WavResponse, cpu_s: float) -> dict[str, float]:
    return {
        "ttfp_ms": response.ttfp_s * 1e3,
        "ttfs_ms": response.ttfs_s * 1e3,
        "last_byte_ms": response.last_byte_s * 1e3,
        "cpu_ms": cpu_s * 1e3,
    }


def compare_row(cell: Cell, rounds: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """Return the spread of each figure of one text, and of the ratios within the rounds."""
    row: dict[str, Any] = {"lang": cell[0], "length": cell[1]}
    for figure in FIGURES:
        old, new = ([each[side][figure] for each in rounds] for side in ("old", "new"))
        ratios = [b / a for a, b in zip(old, new, strict=True) if a > 0] or [1.0]
        if figure == "cpu_ms":  # the clock of the processes is coarse: only sums say something
            ratios = [sum(new) / sum(old)]
        row[figure] = {"old": spread(old), "new": spread(new), "ratio": spread(ratios)}
    return row


def _overall(report: dict[str, Any], figure: str) -> float:
    return float(median(row[figure]["ratio"]["median"] for row in report["cells"]))
