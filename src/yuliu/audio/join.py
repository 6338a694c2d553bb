"""Joining utterances: the pause between them, and edges that cannot click.

Engines cut model silence down to what is wanted but never pad it; here the rest of the pause is filled with
digital silence, and the first and last few milliseconds of every utterance are faded, since a cut inside
model silence still has a noise floor. Both depend on places in the utterance only, never on how it was cut into
steps, so the joined sound is the same for any step sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from yuliu.types import Boundary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.types import Samples

LEAD_S = 0.025
"""Silence kept before the first sound of an utterance: enough for an onset, too little to be felt."""
EDGE_S = 0.004
"""Length of the fades at the ends of an utterance; below LEAD_S, so that no sound is faded."""

PAUSE_S: Mapping[Boundary, float] = {
    Boundary.NONE: 0.06,
    Boundary.CLAUSE: 0.18,
    Boundary.SENTENCE: 0.40,
    Boundary.PARAGRAPH: 0.70,
}
"""Silence from the last sound of a segment to the first of the next, at speed 1.0."""


@dataclass(frozen=True, slots=True)
class Silences:
    """Model silence wanted around an utterance, and the pause that follows it."""

    lead_s: float
    tail_s: float
    pause_s: float


def silences(boundary: Boundary, speed: float) -> Silences:
    """What to ask of an engine for a segment with this boundary."""
    pause_s = PAUSE_S[boundary] / speed
    return Silences(lead_s=LEAD_S, tail_s=max(0.0, pause_s - LEAD_S), pause_s=pause_s)


def padding(pause_s: float, tail_s: float, lead_s: float, sample_rate: int) -> Samples:
    """Digital silence that makes model silence (``tail_s`` before it, ``lead_s`` after it) up to the pause.

    Returns:
        Zeros, float32, shape (num_samples,); empty where the model's own silence is long enough.
    """
    return np.zeros(max(0, round((pause_s - tail_s - lead_s) * sample_rate)), np.float32)


def fade_edges(samples: Samples, sample_rate: int, *, first: bool, last: bool) -> Samples:
    """Fade the head of an utterance's first chunk and the tail of its last one; others pass unchanged.

    Args:
        samples: One chunk of an utterance, float32, shape (num_samples,); not modified.
        sample_rate: Hz.
        first: Whether it is the first chunk of its utterance.
        last: Whether it is the last one.
    """
    num_edge = min(round(EDGE_S * sample_rate), len(samples))
    if not num_edge or not (first or last):
        return samples
    faded = samples.copy()
    ramp = np.linspace(0.0, 1.0, num_edge, endpoint=False, dtype=np.float32)
    if first:
        faded[:num_edge] *= ramp
    if last:
        faded[-num_edge:] *= ramp[::-1]
    return faded
