"""Pauses between utterances and fades at their edges.

Engines shorten model silence to the requested length but never extend it. Here the rest of a pause is filled with
digital silence, and the first and last milliseconds of every utterance are faded, since model silence has a noise floor
that would click where it is cut. Both depend on positions in the utterance only, never on how it is cut into steps, so
the joined audio is the same for any step sizes.
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
"""Silence kept before the first sound of an utterance: enough for an onset, too short to be noticed."""
EDGE_S = 0.004
"""Length of the fades at both ends of an utterance; shorter than LEAD_S, so that no speech is faded."""

PAUSE_S: Mapping[Boundary, float] = {
    Boundary.NONE: 0.06,
    Boundary.CLAUSE: 0.18,
    Boundary.SENTENCE: 0.40,
    Boundary.PARAGRAPH: 0.70,
}
"""Silence between the last sound of a segment and the first sound of the next, at speed 1.0."""


@dataclass(frozen=True, slots=True)
class Silences:
    """Model silence requested around an utterance, and the pause that follows it."""

    lead_s: float
    tail_s: float
    pause_s: float


def silences(boundary: Boundary, speed: float) -> Silences:
    """Return the silences to request from an engine for a segment with this boundary."""
    pause_s = PAUSE_S[boundary] / speed
    return Silences(lead_s=LEAD_S, tail_s=max(0.0, pause_s - LEAD_S), pause_s=pause_s)


def padding(pause_s: float, tail_s: float, lead_s: float, sample_rate: int) -> Samples:
    """Return digital silence that extends model silence (``tail_s`` before it, ``lead_s`` after it) to the pause.

    Returns:
        Zeros, float32, shape (num_samples,); empty if the model silence is long enough.
    """
    return np.zeros(max(0, round((pause_s - tail_s - lead_s) * sample_rate)), np.float32)


def fade_edges(samples: Samples, sample_rate: int, *, first: bool, last: bool) -> Samples:
    """Fade the head of an utterance's first chunk and the tail of its last one; other chunks pass unchanged.

    Args:
        samples: One chunk of an utterance, float32, shape (num_samples,); not modified.
        sample_rate: In Hz.
        first: Whether this is the first chunk of its utterance.
        last: Whether this is the last chunk of its utterance.
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
