"""From a Mandarin reading to what FastSpeech2 is given, and from its durations to what is heard when. No model here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.text.reading import Unit

SILENCE, END = "sil", "eos"
_MARKS = ("#3", "#2", "#1", "#0")
"""Prosody marks, the strongest first: clause, phrase, word, inside a word."""
_JOIN_FRAMES = {"#3": 10, "#2": 4, "#1": 2, "#0": 2}
"""Silent frames kept on each side where a long text is cut in two runs of the model."""


@dataclass(frozen=True, slots=True)
class Script:
    """What the model says in one run."""

    symbols: tuple[str, ...]
    """The model's phones and marks, from the opening silence to the closing silence and the end mark."""
    units: tuple[Unit, ...]
    phones: tuple[tuple[int, int], ...]
    """For each unit, which symbols are its own: ``symbols[first:last]``."""
    after: str
    """The mark that stands between its last unit and what follows, if anything does, in the next run."""


@dataclass(frozen=True, slots=True)
class Run:
    """A script and when the model says it."""

    script: Script
    edges: tuple[int, ...]
    """Symbol ``i`` sounds in the frames ``edges[i]`` to ``edges[i + 1]``; starts at 0, not decreasing."""

    @property
    def onset(self) -> int:
        """First frame behind the opening silence."""
        return self.edges[1]

    @property
    def end(self) -> int:
        """First frame of the closing silence."""
        return self.edges[-3]

    @property
    def num_frames(self) -> int:
        """Frames in all."""
        return self.edges[-1]


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
    """Silence among them before the first phone."""
    tail_frames: int
    """Silence among them behind the last phone."""
    places: tuple[tuple[int, int], ...]
    """For each unit of all runs, the frames in which it sounds, counted from ``first_frame``."""


def write_scripts(units: Sequence[Unit], *, max_units: int) -> Iterator[Script]:
    """Cut ``units`` into runs of ``max_units`` at most, at the strongest mark in the second half of what fits."""
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


def lay_out(runs: Sequence[Run], *, lead_frames: int, tail_frames: int) -> Layout:
    """Join ``runs`` (at least one), with at most so much silence before the first phone and behind the last."""
    kept: list[tuple[int, int]] = []
    places: list[tuple[int, int]] = []
    total = 0
    for at, run in enumerate(runs):
        start = max(0, run.onset - _JOIN_FRAMES[runs[at - 1].script.after]) if at > 0 else 0
        stop = run.num_frames
        if at < len(runs) - 1:
            stop = min(stop, run.end + _JOIN_FRAMES[run.script.after])
        shift = total - start
        places += [(run.edges[first] + shift, run.edges[last] + shift) for first, last in run.script.phones]
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
        places=tuple((start - first_frame, stop - first_frame) for start, stop in places),
    )
