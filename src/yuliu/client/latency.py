"""Breakdown of the time from a request to the first audible sample. Pure."""

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
"""Amplitude above which a sample counts as audible: -46 dBFS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyBreakdown:
    """Parts of the time to the first audible sample, milliseconds, in order."""

    text_wait_ms: float
    """Wait for enough text to start."""
    queue_ms: float
    """Wait in the scheduler's queue."""
    front_end_ms: float
    """Text front end."""
    plan_ms: float
    """Planning of the first segment by the engine."""
    first_step_ms: float
    """First step of the engine."""
    encode_ms: float
    """Transfer from the engine, and encoding."""
    network_ms: float
    """Network in both directions, and opening the stream on the server."""
    buffer_ms: float
    """From arrival until the audio was given to the output."""
    audible_ms: float
    """Latency of the output, and silence at the start of the audio."""

    @property
    def sum_ms(self) -> float:
        """Sum of all parts."""
        return float(sum(getattr(self, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMoments:
    """Times of one run on the client, seconds of one clock."""

    asked_s: float
    """The stream was requested."""
    received_s: float
    """The first audio arrived."""
    given_s: float
    """The first audio was given to the output."""
    heard_s: float
    """The first audio was heard."""

    @property
    def whole_ms(self) -> float:
        """From the request until the audio was heard, by this clock alone."""
        return 1000 * (self.heard_s - self.asked_s)


def waterfall(times: Times, moments: ClientMoments) -> LatencyBreakdown:
    """Return the parts of one run.

    The network's part is the time that neither side accounts for, so no clocks are compared.
    """
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
    """Return the travel time of the first audio in milliseconds, as exact as the clock offset."""
    return 1000 * (moments.received_s - clock.to_client_s(times.encoded_ms / 1000))


def medians(runs: Sequence[LatencyBreakdown]) -> LatencyBreakdown:
    """Return the median of each part. The medians need not add up to the median of the sums."""
    return LatencyBreakdown(
        **{each.name: statistics.median(getattr(run, each.name) for run in runs) for each in fields(LatencyBreakdown)}
    )


def median_run(runs: Sequence[LatencyBreakdown]) -> LatencyBreakdown:
    """Return the run with the median sum, or the mean of the middle two; its parts add up to the median of the sums."""
    ordered = sorted(runs, key=lambda run: run.sum_ms)
    middle = ordered[(len(runs) - 1) // 2 : len(runs) // 2 + 1]
    return LatencyBreakdown(
        **{each.name: statistics.mean(getattr(run, each.name) for run in middle) for each in fields(LatencyBreakdown)}
    )


def silence_s(samples: Samples, sample_rate: int) -> float | None:
    """Return the duration of silence at the start in seconds; None if all of it is silent."""
    loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
    return int(loud[0]) / sample_rate if len(loud) else None
