"""Scripts for FastSpeech2 from a Mandarin reading, and times from its durations. No model here."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from yuliu.text.frontend import Unit

SILENCE, END = "sil", "eos"
_MARKS = ("#3", "#2", "#1", "#0")
"""Prosody marks, the strongest first: clause, phrase, word, inside a word."""
_PAUSE = "#3"
_JOIN_FRAMES = {"#3": 10, "#2": 4, "#1": 2, "#0": 2}
"""Silent frames kept on each side where a long text is cut in two runs of the model."""
_LATE_FRAMES = 2
"""The durations lag behind the sound: in the 490 syllables measured that begin with s, sh or x, friction sets in two
frames before the initial is said to begin. Most of a final's sound stands under the mark behind it."""


@dataclass(frozen=True, slots=True)
class Script:
    """Input of one run of the model."""

    symbols: tuple[str, ...]
    """The model's phones and marks, from the opening silence to the closing silence and the end mark."""
    units: tuple[Unit, ...]
    phones: tuple[tuple[int, int], ...]
    """For each unit, which symbols are its own: ``symbols[first:last]``."""
    after: str
    """Mark between its last unit and the next run, if one follows."""


@dataclass(frozen=True, slots=True, eq=False)
class ScriptRun:
    """A script, when the model says it, and where it can be heard."""

    script: Script
    edges: tuple[int, ...]
    """Symbol ``i`` stands for the frames ``edges[i]`` to ``edges[i + 1]``; starts at 0, not decreasing."""
    audible: NDArray[np.bool_]
    """Shape (edges[-1],): whether a frame can be heard."""

    @property
    def num_frames(self) -> int:
        """Frames in all."""
        return self.edges[-1]

    @property
    def onset(self) -> int:
        """The first frame that can be heard."""
        return self._heard(0, self.num_frames)[0]

    @property
    def end(self) -> int:
        """The frame behind the last one that can be heard."""
        return self._heard(0, self.num_frames)[1]

    def places(self) -> list[tuple[int, int]]:
        """For each unit, the frames in which it sounds; in order and without overlap.

        Syllables reach to each other within a clause; pauses belong to none.
        """
        starts = [max(0, self.edges[first] - _LATE_FRAMES) for first, _ in self.script.phones]
        pauses = [True, *(unit.after == _PAUSE for unit in self.script.units[:-1]), True]
        places = []
        for (start, stop), before, after in zip(pairwise([*starts, self.num_frames]), pauses, pauses[1:], strict=False):
            first, last = self._heard(start, stop)
            places.append((first if before else start, last if after else stop))
        return places

    def _heard(self, start: int, stop: int) -> tuple[int, int]:
        """Return the audible part of the frames ``start`` to ``stop``; all of them if none is audible."""
        heard = np.flatnonzero(self.audible[start:stop])
        return (start + int(heard[0]), start + int(heard[-1]) + 1) if len(heard) else (start, stop)


@dataclass(frozen=True, slots=True)
class Layout:
    """Runs joined to one mel spectrogram, and the part of it that is heard."""

    kept: tuple[tuple[int, int], ...]
    """For each run, the frames of its own that are joined; outer silence is kept, as context for the vocoder."""
    first_frame: int
    """First frame of the joined spectrogram that is heard."""
    num_frames: int
    """Frames heard."""
    lead_frames: int
    """Silence among them before the first sound."""
    tail_frames: int
    """Silence among them behind the last sound."""
    places: tuple[tuple[int, int], ...]
    """For each unit of all runs, the frames in which it sounds, counted from ``first_frame``."""


def write_scripts(units: Sequence[Unit], *, max_units: int) -> Iterator[Script]:
    """Cut ``units`` into runs of ``max_units`` at most, at the strongest mark in the second half."""
    start = 0
    while start < len(units):
        stop = _cut(units, start, max_units)
        yield _script(units[start:stop])
        start = stop


def _cut(units: Sequence[Unit], start: int, max_units: int) -> int:
    if len(units) - start <= max_units:
        return len(units)
    candidates = range(start + max_units, start + max_units // 2, -1)
    return min(candidates, key=lambda stop: _MARKS.index(_mark(units[stop - 1])))


def _mark(unit: Unit) -> str:
    return unit.after if unit.after in _MARKS else _MARKS[-1]


def _script(units: Sequence[Unit]) -> Script:
    symbols, phones = [SILENCE], []
    for unit in units:
        phones.append((len(symbols), len(symbols) + len(unit.phonemes)))
        symbols += [*unit.phonemes, _mark(unit)]
    symbols[-1:] = [SILENCE, END]  # as in training, where silence replaced the mark at the end of a sentence
    return Script(tuple(symbols), tuple(units), tuple(phones), _mark(units[-1]))


def lay_out(runs: Sequence[ScriptRun], *, lead_frames: int, tail_frames: int) -> Layout:
    """Join ``runs`` (at least one), with bounded silence before the first sound and after the last one."""
    kept: list[tuple[int, int]] = []
    places: list[tuple[int, int]] = []
    total = 0
    for at, run in enumerate(runs):
        start = max(0, run.onset - _JOIN_FRAMES[runs[at - 1].script.after]) if at > 0 else 0
        stop = run.num_frames
        if at < len(runs) - 1:
            stop = min(stop, run.end + _JOIN_FRAMES[run.script.after])
        places += [_clipped(place, start, stop, origin=start - total) for place in run.places()]
        kept.append((start, stop))
        total += stop - start
    onset, end = runs[0].onset, total - (runs[-1].num_frames - runs[-1].end)
    first_frame, behind = max(0, onset - lead_frames), min(total, end + tail_frames)
    return Layout(
        kept=tuple(kept),
        first_frame=first_frame,
        num_frames=behind - first_frame,
        lead_frames=onset - first_frame,
        tail_frames=behind - end,
        places=tuple(_clipped(place, first_frame, behind, origin=first_frame) for place in places),
    )


def _clipped(place: tuple[int, int], low: int, high: int, *, origin: int) -> tuple[int, int]:
    """The part of ``place`` within ``low`` to ``high``, counted from ``origin``."""
    start, stop = place
    return min(max(start, low), high) - origin, min(max(stop, low), high) - origin
