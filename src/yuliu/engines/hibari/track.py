"""The words to say, laid out in frames, with the nets' results for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.engines.hibari.dsp import Floats
    from yuliu.engines.hibari.model import HibariPlan
    from yuliu.text.frontend import Unit

MAX_SYMBOLS = 400
"""Maximum number of symbols per plan, as in hibari itself; longer segments are planned in parts."""
AUDIBLE = 0.3
"""Predicted loudness of frames that reach about -46 dBFS."""
FADING = 0.15
"""Predicted loudness down to which the end of a sound is kept: about -56 dBFS."""
_JOINT_FRAMES = 4
"""Silence kept on each side of a joint between parts: together 0.1 s."""
_CLAUSE_MARKS = frozenset(",;:.!?—…")


class TrackWord(NamedTuple):
    """A word with the phonemes that the model knows."""

    unit: Unit
    symbols: tuple[str, ...]
    marks: tuple[str, ...]
    """Spaces and punctuation after it."""

    @property
    def num_symbols(self) -> int:
        """Symbols and marks."""
        return len(self.symbols) + len(self.marks)


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Words with their times, and the input of the decoder."""

    symbols: tuple[str, ...]
    """All symbols given to the model."""
    places: tuple[tuple[int, int], ...]
    """First and last frame (exclusive) of each line; not decreasing."""
    hidden: Floats
    """Shape (130, F)."""
    f0: Floats
    """Hz, shape (F,)."""
    onset: int
    """First frame predicted to be heard."""
    fade_end: int
    """Frame after the last one predicted to be heard."""


def split_lines(lines: Sequence[TrackWord], *, max_symbols: int = MAX_SYMBOLS) -> list[list[TrackWord]]:
    """Cut a long script into parts of at most ``max_symbols``, in their second half behind punctuation if there is any.

    A single word longer than that stays whole.
    """
    parts: list[list[TrackWord]] = []
    rest = list(lines)
    while rest:
        sizes = np.cumsum([line.num_symbols for line in rest])
        fits = max(1, int(np.searchsorted(sizes, max_symbols, side="right")))
        cut = fits
        if fits < len(rest):
            ends = [i + 1 for i in range(fits) if sizes[i] > max_symbols / 2 and _CLAUSE_MARKS & set(rest[i].marks)]
            cut = ends[-1] if ends else fits
        parts.append(rest[:cut])
        rest = rest[cut:]
    return parts


def symbols_of(lines: Sequence[TrackWord]) -> tuple[str, ...]:
    """Symbols and marks of a part in order, without spaces at its end."""
    symbols = [symbol for line in lines for symbol in (*line.symbols, *line.marks)]
    while symbols and symbols[-1].isspace():
        symbols.pop()
    return tuple(symbols)


def lay_track(parts: Sequence[Sequence[TrackWord]], plans: Sequence[HibariPlan], *, speed: float) -> Track:
    """Put the plans of a script's parts one behind the other, with the silence at their joints cut down.

    Args:
        parts: The script, cut by :func:`split_lines`.
        plans: What the model planned for the symbols of each part.
        speed: Speed of these plans.
    """
    last = len(plans) - 1
    cut = [_without_joints(plan, first=i == 0, last=i == last) for i, plan in enumerate(plans)]
    begins = np.cumsum([0, *(len(plan.f0) for plan in cut)])
    places = [
        (int(begin) + start, int(begin) + stop)
        for begin, lines, plan in zip(begins[:-1], parts, cut, strict=True)
        for start, stop in _places(lines, plan, lag_frames=alignment_lag_frames(speed))
    ]
    hidden = np.concatenate([plan.hidden for plan in cut], axis=1)
    onset, fade_end = heard(hidden[-1])
    return Track(
        symbols=tuple(symbol for lines in parts for symbol in symbols_of(lines)),
        places=tuple(places),
        hidden=hidden,
        f0=np.concatenate([plan.f0 for plan in cut]),
        onset=onset,
        fade_end=fade_end,
    )


def heard(loudness: Floats) -> tuple[int, int]:
    """First frame predicted to be heard, and the frame after the last one; all frames if none is."""
    loud, fading = np.flatnonzero(loudness >= AUDIBLE), np.flatnonzero(loudness >= FADING)
    return (int(loud[0]), int(fading[-1]) + 1) if len(loud) else (0, len(loudness))


def alignment_lag_frames(speed: float) -> int:
    """Frames by which the model's durations come behind its sound.

    Measured over 12 sentences as the shift at which vowels are loudest against fricatives and plosives: 7, 5, 4, 3 and
    3 frames at speeds 0.5, 0.8, 1, 1.5 and 2.
    """
    return round(1.5 + 2.7 / speed)


def _without_joints(plan: HibariPlan, *, first: bool, last: bool) -> HibariPlan:
    """The plan without the silence where it is joined to another."""
    onset, fade_end = heard(plan.hidden[-1])
    start = 0 if first else max(0, onset - _JOINT_FRAMES)
    stop = len(plan.f0) if last else min(len(plan.f0), fade_end + _JOINT_FRAMES)
    edges = np.clip(plan.edges - start, 0, stop - start)
    return plan._replace(edges=edges, hidden=plan.hidden[:, start:stop], f0=plan.f0[start:stop])


def _places(lines: Sequence[TrackWord], plan: HibariPlan, *, lag_frames: int) -> list[tuple[int, int]]:
    """First and last frame (exclusive) of each line, without the silence around it."""
    edges = np.maximum(plan.edges - lag_frames, 0)
    fading = plan.hidden[-1] >= FADING
    places, at = [], 1  # id 0 is the silence before the first symbol
    for line in lines:
        start, stop = int(edges[at]), int(edges[at + len(line.symbols)])
        heard_there = np.flatnonzero(fading[start:stop])
        if len(heard_there):
            start, stop = start + int(heard_there[0]), start + int(heard_there[-1]) + 1
        places.append((start, stop))
        at += line.num_symbols
    return places
