"""What shall be reached, and whether it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from yuliu.bench.doors.ways import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Figures = Any  # JSON

MORE_THAN_PCM_MS = 15.0
MORE_THAN_PCM_OF_FRAMES_MS = 40.0
IN_FRAMES = ("mp3", "aac")
"""Their frames are so long that they may come later."""
FLOOR_TIMES, FLOOR_MORE_MS = 1.5, 5.0
MAX_BEHIND = 1
MAX_ENCODER_MS_PER_S = 10.0
MAX_HELD_P50_MS, MAX_HELD_MS = 1.0, 5.0
"""More than an idle loop: half of the ticks, and the latest one, since threads pass the interpreter's lock on after
5 ms."""
MAX_OFF = 0.05


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of what shall hold."""

    wanted: str
    reached: str
    """The worst case, in words."""
    holds: bool


@dataclass(frozen=True, slots=True)
class _Case:
    """One of the cases that a requirement is about."""

    value: float
    limit: float
    name: str

    def __str__(self) -> str:
        return f"{self.value:.1f} of {self.limit:.1f} ms ({self.name})"


def requirements(parts: Mapping[str, Figures]) -> list[Requirement]:
    """All that the parts which were measured say something about."""
    return [line for part, figures in parts.items() for line in _JUDGES[part](figures)]


def _formats(figures: Figures) -> Iterator[Requirement]:
    yield _worst(
        f"first byte of sound at most {MORE_THAN_PCM_MS:g} ms after PCM's at the same door",
        _more_than_pcm(figures, "more_than_pcm_ms", MORE_THAN_PCM_MS, coded_in_frames=False),
    )
    yield _worst(
        f"MP3 and AAC: at most {MORE_THAN_PCM_OF_FRAMES_MS:g} ms after it",
        _more_than_pcm(figures, "more_than_pcm_ms", MORE_THAN_PCM_OF_FRAMES_MS, coded_in_frames=True),
    )
    yield _worst(
        "the same of the first sample that can be decoded",
        [
            *_more_than_pcm(figures, "decodable_more_than_pcm_ms", MORE_THAN_PCM_MS, coded_in_frames=False),
            *_more_than_pcm(figures, "decodable_more_than_pcm_ms", MORE_THAN_PCM_OF_FRAMES_MS, coded_in_frames=True),
        ],
    )


def _more_than_pcm(figures: Figures, key: str, limit: float, *, coded_in_frames: bool) -> list[_Case]:
    return [
        _Case(way[key]["median"], limit, f"{way['format']}, {HEADINGS[way['door']]}, {lang}")
        for lang, found in figures.items()
        for way in found["ways"]
        if way["format"] != "pcm" and (way["format"] in IN_FRAMES) == coded_in_frames
    ]


def _native(rows: Figures) -> Iterator[Requirement]:
    ways = {"whole_ms": "sent whole", "written_ms": "written in pieces, from the last needed one on"}
    for key, words in ways.items():
        cases = [
            _Case(
                row[key]["median"],
                FLOOR_TIMES * row["floor_ms"]["median"] + FLOOR_MORE_MS,
                f"{row['lang']} {row['length']}",
            )
            for row in rows
        ]
        yield _worst(
            f"native WebSocket, text {words}: p50 at most {FLOOR_TIMES:g} x floor + {FLOOR_MORE_MS:g} ms", cases
        )


def _tokens(figures: Figures) -> Iterator[Requirement]:
    rows = figures["unbound"]
    behind = max(row["behind"] for row in rows)
    most = ", ".join(row["text"] for row in rows if row["behind"] == behind and behind > MAX_BEHIND)
    yield Requirement(
        "30 pieces a second: sound never more than one segment behind",
        f"{behind} behind" + (f" ({most})" if most else f" in all of {len(rows)} texts"),
        behind <= MAX_BEHIND,
    )
    both = [*rows, *figures["paced"]]
    worst = max(both, key=lambda row: float(row["underrun_ms"]))
    yield Requirement(
        "a listener in real time is never without sound for which the text was there",
        f"{worst['underrun_ms']:.1f} ms" + (f" ({worst['text']})" if worst["underrun_ms"] else ""),
        worst["underrun_ms"] == 0,
    )


def _waterfall(rows: Figures) -> Iterator[Requirement]:
    worst = max(rows, key=lambda row: float(row["off"]["max"]))
    medians = max(row["off_medians"] for row in rows)
    yield Requirement(
        f"the parts of the waterfall add up to the whole within {MAX_OFF:.0%}",
        f"{worst['off']['max']:.1%} in the worst run ({worst['lang']}), {medians:.1%} of the medians of all",
        max(worst["off"]["max"], medians) <= MAX_OFF,
    )


def _encoding(figures: Figures) -> Iterator[Requirement]:
    rows = figures["formats"]
    costly = max(rows, key=lambda row: float(row["encoder_ms_per_s"]["median"]))
    cost_ms = costly["encoder_ms_per_s"]["median"]
    yield Requirement(
        f"encoding takes at most {MAX_ENCODER_MS_PER_S:g} ms of CPU for each second of sound",
        f"{cost_ms:.1f} ms ({costly['format']})",
        cost_ms <= MAX_ENCODER_MS_PER_S,
    )
    yield _held(rows, "held_p50_ms", figures["idle_p50_ms"]["median"] + MAX_HELD_P50_MS, "half of its ticks are")
    yield _held(rows, "held_ms", figures["idle_ms"]["median"] + MAX_HELD_MS, "its latest tick is")


def _held(rows: Iterable[Figures], key: str, limit_ms: float, which: str) -> Requirement:
    cases = [_Case(row[key]["median"], limit_ms, row["format"]) for row in rows]
    return _worst(f"encoding does not hold the loop: {which} at most {limit_ms:.1f} ms late", cases)


def _worst(wanted: str, cases: Iterable[_Case]) -> Requirement:
    worst = max(cases, key=lambda case: case.value - case.limit, default=None)
    if worst is None:
        return Requirement(wanted, "not measured", holds=False)
    return Requirement(wanted, str(worst), worst.value <= worst.limit)


_JUDGES: Mapping[str, Callable[[Figures], Iterator[Requirement]]] = {
    "formats": _formats,
    "native": _native,
    "tokens": _tokens,
    "waterfall": _waterfall,
    "encoding": _encoding,
}
