"""``python -m bench text``: written cases, cost of reading, random texts, arriving texts, and the judge's verdicts."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import psutil

from bench.corpus import articles, token_streams, written_cases
from bench.reading_cases import rate_cases
from yuliu.bench.report import table
from yuliu.explanation import Explainer, TimedDelta, pause_ms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.explanation import Explanation

MARKUP = ["**", "`", "```\n", "# ", "[a](b)", "<speak>", "<p>", "$x$", "[pause 1s]", "&amp;", "~~", "| a |\n", "\n"]
"""Pieces of random texts that might be taken for markup."""
PLANES = [(0, 0x300), (0x300, 0x2E80), (0x2E80, 0xA000), (0x4E00, 0x4F00), (0xD800, 0xE000), (0xE000, 0x110000)]
"""Ranges of code points of random characters, including halves of surrogate pairs."""
MIN_RIGHT = {"tn zh": 0.98, "tn en": 0.98, "g2p zh": 0.96}
"""Target share of cases that are read right; in other areas, all of them."""


def measure_text(*, num_fuzzed: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measure cases, cost, random texts and arriving texts; takes seconds to minutes.

    Args:
        num_fuzzed: Number of random texts.
        progress: Receives lines for people.
    """
    memory_before = psutil.Process().memory_info().rss
    began = time.process_time()
    explainer = Explainer()
    explainer.explain("你好，hello.")
    start_cpu_s = time.process_time() - began
    memory_mb = (psutil.Process().memory_info().rss - memory_before) / 2**20
    progress("front ends are loaded")
    cases = rate_cases(explainer, written_cases())
    progress("cases are checked")
    costs = measure_cost(explainer)
    progress("cost is measured")
    return {
        "cases": cases,
        "start_cpu_s": start_cpu_s,
        "memory_mb": memory_mb,
        "cost": costs,
        "fuzz": fuzz(explainer, num_fuzzed),
        "arriving": [follow(explainer, line) for line in token_streams()],
    }


def measure_cost(explainer: Explainer) -> dict[str, dict[str, float]]:
    """Return the CPU time of a sentence of each article, milliseconds, warm, from markup to phonemes."""
    costs = {}
    for name, text in articles().items():
        explainer.explain(text)
        began = time.process_time()
        num_segments = sum(len(explainer.explain(line).segments) for line in text.splitlines())
        took_ms = 1e3 * (time.process_time() - began)
        costs[name] = {"segments": num_segments, "ms_per_segment": took_ms / num_segments}
    return costs


def fuzz(explainer: Explainer, num_texts: int) -> dict[str, Any]:
    """Read random texts of all planes; exceptions propagate, lost characters are counted."""
    draw = random.Random(0)  # noqa: S311 - the same texts at each run
    lost, num_chars, began = 0, 0, time.process_time()
    for _ in range(num_texts):
        text = random_text(draw)
        num_chars += len(text)
        lost += not is_covered(explainer.explain(text))
    took_s = time.process_time() - began
    return {"texts": num_texts, "chars": num_chars, "lost": lost, "us_per_char": 1e6 * took_s / max(1, num_chars)}


def random_text(draw: random.Random) -> str:
    """Draw up to 40 pieces: characters of any plane, digits, and marks that might be taken for markup."""
    pieces = []
    for _ in range(draw.randint(0, 40)):
        kind = draw.random()
        if kind < 0.2:
            pieces.append(draw.choice(MARKUP))
        elif kind < 0.4:
            pieces.append(draw.choice("0123456789.,:/-+%$ "))
        else:
            low, high = draw.choice(PLANES)
            pieces.append(chr(draw.randrange(low, high)))
    return "".join(pieces)


def is_covered(explanation: Explanation) -> bool:
    """Return whether each character of the text, except white space, is in a segment or skipped by the reader."""
    covered = [char.isspace() for char in explanation.text]
    places = [segment.source for segment in explanation.segments] + [skip.source for skip in explanation.reader.skipped]
    for place in places:
        covered[place.start : place.end] = [True] * (place.end - place.start)
    return all(covered)


def follow(explainer: Explainer, line: dict[str, Any]) -> dict[str, Any]:
    """Return when the first segment of an arriving text could be spoken, and how far behind its end that was."""
    arrivals, at_ms = [], 0
    for delta in line["deltas"]:
        if (pause_ms := pause_ms_of(delta)) is not None:
            at_ms += pause_ms
        else:
            arrivals.append(TimedDelta(delta, at_ms / 1e3))
            at_ms += line["gap_ms"]
    segments = explainer.follow(arrivals).segments
    heard = next((segment for segment in segments if segment.spoken), None)
    if heard is None or heard.emitted is None:
        return {"id": line["id"], "segments": len(segments), "first": "", "chars_behind": 0, "by": "nothing to say"}
    return {
        "id": line["id"],
        "segments": len(segments),
        "first": heard.text,
        "chars_behind": heard.emitted.char - heard.source.end,
        "by": heard.emitted.by,
    }


def text_page(report: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    rows = [
        [
            area,
            str(e["cases"]),
            f"{e['right'] / e['cases']:.1%}",
            f"{MIN_RIGHT.get(area, 1.0):.0%}",
            " / ".join(e["wrong"]),
        ]
        for area, e in report["cases"].items()
    ]
    costs = [[name, str(c["segments"]), f"{c['ms_per_segment']:.2f}"] for name, c in report["cost"].items()]
    arriving = [[a["id"], str(a["segments"]), str(a["chars_behind"]), a["by"]] for a in report["arriving"]]
    parts = [
        "# Reading text\n",
        table(["area", "cases", "right", "target", "wrong"], rows),
        f"Front ends: {report['start_cpu_s']:.2f} s of CPU to start, {report['memory_mb']:.0f} MB.\n",
        table(["text", "segments", "CPU ms per segment"], costs),
        "Random texts: {texts}, {chars} characters, {lost} with a character lost, "
        "{us_per_char:.0f} us of CPU per character.\n".format(**report["fuzz"]),
        table(["arriving text", "segments", "first one, characters behind its end", "completed by"], arriving),
    ]
    if report.get("heard"):
        parts += ["## Heard\n", verdicts_section(report["heard"])]
    return "\n".join(parts)


def verdicts_section(heard: dict[str, Any]) -> str:
    """Return error rates by language and the sentences with the highest ones."""
    rows = [[lang, str(h["sentences"]), h["rate_name"], f"{h['rate']:.1%}"] for lang, h in heard.items()]
    worst = [
        [lang, f"{w['rate']:.0%}", w["text"], w["heard"]] for lang, h in heard.items() for w in _worst(h["verdicts"])
    ]
    return table(["language", "sentences", "rate", "errors"], rows) + "\n" + table(
        ["language", "errors", "text", "heard"], worst
    )  # fmt: skip


def _worst(verdicts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(verdicts, key=lambda verdict: -float(verdict["rate"]))[:10]
