"""Targets for the endpoints, and whether the measurements meet them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from yuliu.bench.adapters import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Figures = Any  # JSON

MORE_THAN_PCM_MS = 15.0
MORE_THAN_PCM_OF_FRAMES_MS = 40.0
FRAMED_FORMATS = ("mp3", "aac")
"""Formats with frames that are long enough to be allowed more time."""
FLOOR_TIMES, FLOOR_MORE_MS = 1.5, 5.0
MAX_BEHIND = 1
MAX_ENCODER_MS_PER_S = 10.0
MAX_HELD_P50_MS, MAX_HELD_MS = 1.0, 5.0
"""Maximum lag over that of an idle loop: of half of the ticks, and of the latest one, because threads hand over the
interpreter's lock after 5 ms."""
MAX_OFF = 0.05


@dataclass(frozen=True, slots=True)
class TargetCheck:
    """One target beside the worst measurement."""

    wanted: str
    reached: str
    """The worst case, in words."""
    holds: bool


@dataclass(frozen=True, slots=True)
class _TargetCase:
    """One of the measurements that a target covers."""

    value: float
    limit: float
    name: str

    def __str__(self) -> str:
        return f"{self.value:.1f} of {self.limit:.1f} ms ({self.name})"


def check_targets(parts: Mapping[str, Figures]) -> list[TargetCheck]:
    """Check all targets of the parts that were measured."""
    return [check for part, figures in parts.items() for check in _CHECKS[part](figures)]


def _formats(figures: Figures) -> Iterator[TargetCheck]:
    yield _worst(
        f"first byte of audio at most {MORE_THAN_PCM_MS:g} ms after PCM's at the same endpoint",
        _more_than_pcm(figures, "more_than_pcm_ms", MORE_THAN_PCM_MS, framed=False),
    )
    yield _worst(
        f"MP3 and AAC: at most {MORE_THAN_PCM_OF_FRAMES_MS:g} ms after it",
        _more_than_pcm(figures, "more_than_pcm_ms", MORE_THAN_PCM_OF_FRAMES_MS, framed=True),
    )
    yield _worst(
        "the same for the first sample that can be decoded",
        [
            *_more_than_pcm(figures, "decodable_more_than_pcm_ms", MORE_THAN_PCM_MS, framed=False),
            *_more_than_pcm(figures, "decodable_more_than_pcm_ms", MORE_THAN_PCM_OF_FRAMES_MS, framed=True),
        ],
    )


def _more_than_pcm(figures: Figures, key: str, limit: float, *, framed: bool) -> list[_TargetCase]:
    return [
        _TargetCase(row[key]["median"], limit, f"{row['format']}, {HEADINGS[row['door']]}, {lang}")
        for lang, found in figures.items()
        for row in found["ways"]
        if row["format"] != "pcm" and (row["format"] in FRAMED_FORMATS) == framed
    ]


def _native(rows: Figures) -> Iterator[TargetCheck]:
    kinds = {"whole_ms": "sent whole", "written_ms": "sent token by token, from the last needed one on"}
    for key, words in kinds.items():
        cases = [
            _TargetCase(
                row[key]["median"],
                FLOOR_TIMES * row["floor_ms"]["median"] + FLOOR_MORE_MS,
                f"{row['lang']} {row['length']}",
            )
            for row in rows
        ]
        yield _worst(
            f"native WebSocket, text {words}: p50 at most {FLOOR_TIMES:g} x floor + {FLOOR_MORE_MS:g} ms", cases
        )


def _tokens(figures: Figures) -> Iterator[TargetCheck]:
    rows = figures["unbound"]
    behind = max(row["behind"] for row in rows)
    names = ", ".join(row["text"] for row in rows if row["behind"] == behind and behind > MAX_BEHIND)
    yield TargetCheck(
        "30 tokens a second: audio never more than one segment behind",
        f"{behind} behind" + (f" ({names})" if names else f" in all of {len(rows)} texts"),
        behind <= MAX_BEHIND,
    )
    both = [*rows, *figures["paced"]]
    worst = max(both, key=lambda row: float(row["underrun_ms"]))
    yield TargetCheck(
        "a listener in real time never waits for audio after its text has arrived",
        f"{worst['underrun_ms']:.1f} ms" + (f" ({worst['text']})" if worst["underrun_ms"] else ""),
        worst["underrun_ms"] == 0,
    )


def _waterfall(rows: Figures) -> Iterator[TargetCheck]:
    worst = max(rows, key=lambda row: float(row["off"]["max"]))
    medians = max(row["off_medians"] for row in rows)
    yield TargetCheck(
        f"the parts of the waterfall add up to the whole within {MAX_OFF:.0%}",
        f"{worst['off']['max']:.1%} in the worst run ({worst['lang']}), {medians:.1%} of the medians of all",
        max(worst["off"]["max"], medians) <= MAX_OFF,
    )


def _encoding(figures: Figures) -> Iterator[TargetCheck]:
    rows = figures["formats"]
    costly = max(rows, key=lambda row: float(row["encoder_ms_per_s"]["median"]))
    cost_ms = costly["encoder_ms_per_s"]["median"]
    yield TargetCheck(
        f"encoding takes at most {MAX_ENCODER_MS_PER_S:g} ms of CPU for each second of audio",
        f"{cost_ms:.1f} ms ({costly['format']})",
        cost_ms <= MAX_ENCODER_MS_PER_S,
    )
    yield _lag(rows, "held_p50_ms", figures["idle_p50_ms"]["median"] + MAX_HELD_P50_MS, "half of its ticks are")
    yield _lag(rows, "held_ms", figures["idle_ms"]["median"] + MAX_HELD_MS, "its latest tick is")


def _lag(rows: Iterable[Figures], key: str, limit_ms: float, which: str) -> TargetCheck:
    cases = [_TargetCase(row[key]["median"], limit_ms, row["format"]) for row in rows]
    return _worst(f"encoding does not block the event loop: {which} at most {limit_ms:.1f} ms late", cases)


def _worst(wanted: str, cases: Iterable[_TargetCase]) -> TargetCheck:
    worst = max(cases, key=lambda case: case.value - case.limit, default=None)
    if worst is None:
        return TargetCheck(wanted, "not measured", holds=False)
    return TargetCheck(wanted, str(worst), worst.value <= worst.limit)


_CHECKS: Mapping[str, Callable[[Figures], Iterator[TargetCheck]]] = {
    "formats": _formats,
    "native": _native,
    "tokens": _tokens,
    "waterfall": _waterfall,
    "encoding": _encoding,
}
