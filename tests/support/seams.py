"""Audibility of joints: they are compared with all other places of the same audio.

Two scores are used. A *jump* is a sample that linear prediction, as in speech coders, does not predict from the samples
before it: lost, repeated or swapped samples cause one, and so does a step of the gain. A *break* is the ratio of the
energy in the milliseconds after a place to that before it. Neither means much at one place (a stop consonant has both),
so every joint gets its rank among all loud places; the ranks of inaudible joints are distributed evenly from 0 to 1.
One bad joint among many shows only if it is worse than any other place.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from yuliu.types import Samples

    Scores = NDArray[np.float64]

ORDER = 24
"""Order of the linear prediction."""
HOP_S = 0.005
WINDOW_S = 0.03
"""The prediction is fitted every HOP_S to the WINDOW_S around it."""
QUIET_DB = -50.0
"""Level below the loudest place under which places are left out as inaudible."""
MAX_SIGMAS = 4.0
"""Maximum deviation of the mean rank; evenly distributed ranks exceed it in one of 30 000 cases."""
MAX_WORST = 1.25
"""Maximum ratio of the largest jump at a joint to the largest elsewhere."""


@dataclass(frozen=True, slots=True)
class Seams:
    """Scores of the joints of some audio."""

    num_judged: int
    """Joints that were loud enough."""
    jump_sigmas: float
    """Mean rank of the jumps at joints, in standard deviations above that of even ranks."""
    break_sigmas: float
    worst_jump: float
    """The largest jump at a joint, as a multiple of the largest elsewhere."""

    @property
    def heard(self) -> bool:
        """True if the joints are audible."""
        return max(self.jump_sigmas, self.break_sigmas) > MAX_SIGMAS or self.worst_jump > MAX_WORST


def seams(samples: Samples, sample_rate: int, joints: ArrayLike, *, blur_s: float = 0.0) -> Seams:
    """Compare the joints of some audio with the rest of it.

    Args:
        samples: Some seconds of speech.
        sample_rate: Sample rate, Hz.
        joints: Indices of the first samples after the joints.
        blur_s: Distance from a joint within which its trace may be, seconds: lossy formats smear and shift it.
    """
    reach = round(blur_s * sample_rate)
    jumps = _widest(_jumps(samples, sample_rate), max(reach, 2))
    breaks = _widest(_breaks(samples, sample_rate), max(reach, 1))
    is_loud = _loud(samples, sample_rate)
    loud = np.flatnonzero(is_loud)
    judged = np.asarray(joints)
    judged = judged[judged < len(samples)]
    judged = judged[is_loud[judged]]
    return Seams(
        len(judged),
        _sigmas(_ranks(jumps, judged, loud)),
        _sigmas(_ranks(breaks, judged, loud)),
        _worst(jumps, judged, loud, 2 * max(reach, 2)),
    )


def _worst(scores: Scores, places: NDArray[np.intp], among: NDArray[np.intp], reach: int) -> float:
    elsewhere = np.zeros(len(scores))
    elsewhere[among] = scores[among]
    elsewhere[(places[:, np.newaxis] + np.arange(-reach, reach + 1)).clip(0, len(scores) - 1)] = 0.0
    return float(scores[places].max(initial=0.0) / elsewhere.max())


def _ranks(scores: Scores, places: NDArray[np.intp], among: NDArray[np.intp]) -> Scores:
    ordered = np.sort(scores[among])
    return (np.searchsorted(ordered, scores[places], "left") + np.searchsorted(ordered, scores[places], "right")) / (
        2 * len(ordered)
    )


def _sigmas(ranks: Scores) -> float:
    return float((ranks.mean() - 0.5) * sqrt(12 * len(ranks))) if len(ranks) else 0.0


def _jumps(samples: Samples, sample_rate: int) -> Scores:
    """Return the prediction error relative to its level nearby."""
    hop, window = round(HOP_S * sample_rate), round(WINDOW_S * sample_rate)
    num_hops = -(-len(samples) // hop)
    lead = (window - hop) // 2
    padded = np.pad(samples.astype(np.float64), (max(lead, ORDER), num_hops * hop - len(samples) + window))
    at = max(lead, ORDER)
    weights = _predictors(np.lib.stride_tricks.sliding_window_view(padded[at - lead :], window)[::hop][:num_hops])
    past = np.lib.stride_tricks.sliding_window_view(padded[at - ORDER :], ORDER)[: num_hops * hop]
    foretold = np.einsum("hno,ho->hn", past.reshape(num_hops, hop, ORDER), weights[:, ::-1])
    errors = samples - foretold.ravel()[: len(samples)]
    jumps: Scores = np.abs(errors) / (np.sqrt(_mean(np.square(errors), 3 * hop)) + 1e-6)
    return jumps


def _predictors(pieces: Scores) -> Scores:
    """Return the prediction weights of each piece by autocorrelation, the nearest sample first."""
    num = pieces.shape[1]
    spectra = np.abs(np.fft.rfft(pieces * np.hanning(num), num + ORDER + 8)) ** 2
    correlation: Scores = np.fft.irfft(spectra)[:, : ORDER + 1]
    matrices = correlation[:, np.abs(np.subtract.outer(np.arange(ORDER), np.arange(ORDER)))]
    floor = correlation[:, :1, np.newaxis] * 1e-6 + 1e-9
    weights = np.linalg.solve(matrices + np.eye(ORDER) * floor, correlation[:, 1:, np.newaxis])[..., 0]
    return weights.astype(np.float64, copy=False)


def _breaks(samples: Samples, sample_rate: int) -> Scores:
    """Return the absolute logarithm of the ratio of the energy after a place to that before it."""
    span = round(HOP_S * sample_rate)
    sums = np.concatenate(([0.0], np.cumsum(np.square(samples, dtype=np.float64))))
    place = np.arange(len(samples))
    after = sums[np.minimum(place + span, len(samples))] - sums[place]
    before = sums[place] - sums[np.maximum(place - span, 0)]
    floor = 1e-6 * span
    ratio: Scores = np.abs(np.log((after + floor) / (before + floor)))
    return ratio


def _loud(samples: Samples, sample_rate: int) -> NDArray[np.bool_]:
    level = _mean(np.square(samples, dtype=np.float64), round(WINDOW_S * sample_rate))
    loud: NDArray[np.bool_] = level > level.max() * 10 ** (QUIET_DB / 10)
    return loud


def _mean(values: Scores, span: int) -> Scores:
    """Return the centred moving mean, with the length of the values."""
    sums = np.concatenate(([0.0], np.cumsum(np.pad(values, (span // 2, span - span // 2 - 1)))))
    return (sums[span:] - sums[:-span]) / span


def _widest(scores: Scores, reach: int) -> Scores:
    """Return the largest score within reach on either side."""
    padded = np.pad(scores, reach)
    widest: Scores = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)
    return widest
