"""What the time from a request to the first audible sound went into. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.client.clock import ClockOffset
    from yuliu.types import Samples
    from yuliu.wire.native.messages import Times

AUDIBLE = 10 ** (-46 / 20)
"""The first sample above it is the first that is heard: -46 dBFS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyBreakdown:
    """Parts of the time to the first sound, milliseconds, in order."""

    text_wait_ms: float
    """For text that is enough to begin."""
    queue_ms: float
    """For the scheduler."""
    front_end_ms: float
    """Reading the text."""
    plan_ms: float
    first_step_ms: float
    """Making the first sound."""
    encode_ms: float
    """Handing it on and encoding it."""
    network_ms: float
    """Both ways, what the server needs to open a stream included."""
    buffer_ms: float
    """From its arrival until it was given to the output."""
    audible_ms: float
    """The output's own latency, and the silence that the sound begins with."""

    @property
    def sum_ms(self) -> float:
        """Of all parts."""
        return float(sum(getattr(self, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMoments:
    """When what happened here, seconds of one clock."""

    asked_s: float
    """The stream was asked for."""
    received_s: float
    """Its first sound arrived."""
    given_s: float
    """It was given to the output."""
    heard_s: float
    """It was heard."""

    @property
    def whole_ms(self) -> float:
        """From the request until it was heard, by this clock alone."""
        return 1000 * (self.heard_s - self.asked_s)


def waterfall(times: Times, moments: ClientMoments) -> LatencyBreakdown:
    """The parts of one run. That of the network is what neither side accounts for; no clocks are compared."""
    away_ms = 1000 * (moments.received_s - moments.asked_s)
    return LatencyBreakdown(
        text_wait_ms=times.wait_for_text_ms,
        queue_ms=times.queue_ms,
        front_end_ms=times.front_end_ms,
        plan_ms=times.plan_ms,
        first_step_ms=times.first_step_ms,
        encode_ms=times.transport_ms + times.encode_ms,
        network_ms=away_ms - (times.encoded_ms - times.opened_ms),
        buffer_ms=1000 * (moments.given_s - moments.received_s),
        audible_ms=1000 * (moments.heard_s - moments.given_s),
    )


def network_back_ms(times: Times, moments: ClientMoments, clock: ClockOffset) -> float:
    """How long the first sound was on its way, milliseconds, as sure as the clock is."""
    return 1000 * (moments.received_s - clock.to_client_s(times.encoded_ms / 1000))


def medians(runs: Sequence[LatencyBreakdown]) -> LatencyBreakdown:
    """The median of each part; those of several runs need not add up to the median of the whole."""
    return LatencyBreakdown(
        **{each.name: statistics.median(getattr(run, each.name) for run in runs) for each in fields(LatencyBreakdown)}
    )


def median_run(runs: Sequence[LatencyBreakdown]) -> LatencyBreakdown:
    """The run in the middle by its sum, or the mean of the two: its parts add up, and to the median of the sums."""
    ordered = sorted(runs, key=lambda run: run.sum_ms)
    middle = ordered[(len(runs) - 1) // 2 : len(runs) // 2 + 1]
    return LatencyBreakdown(
        **{each.name: statistics.mean(getattr(run, each.name) for run in middle) for each in fields(LatencyBreakdown)}
    )


def silence_s(samples: Samples, sample_rate: int) -> float | None:
    """How long it is silent at first, seconds; None if it is silent to its end."""
    loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
    return int(loud[0]) / sample_rate if len(loud) else None
