"""Measurements of first audio and load for the controller."""

from __future__ import annotations

from dataclasses import replace

import pytest

from yuliu.scheduler.policy.autotune import Autotuner
from yuliu.scheduler.policy.policy import Policy
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.types import StreamClass

EMPTY = Policy({}).snapshot(0.0)
FAST, USUAL = StreamClass.INTERACTIVE, StreamClass.STANDARD


def test_first_audio_is_measured_from_the_first_text() -> None:
    """Later segments and later audio of a stream change nothing."""
    pulse = Autotuner(Tuning())
    pulse.segment_ready(1, FAST, 10.0)
    pulse.segment_ready(1, FAST, 10.2)
    pulse.taken(1, 10.25)
    pulse.segment_ready(1, FAST, 11.0)
    pulse.taken(1, 19.0)
    assert pulse.measured(EMPTY, 19.0).ttfp_s == {FAST: pytest.approx(0.25)}


def test_a_stream_with_its_own_target_counts_in_proportion() -> None:
    """Half of its own target of one second counts like half of the target of its class."""
    pulse = Autotuner(Tuning())
    pulse.segment_ready(1, FAST, 0.0, first_packet_s=1.0)
    pulse.taken(1, 0.5)
    assert pulse.measured(EMPTY, 1.0).ttfp_s == {FAST: pytest.approx(Tuning().classes[FAST].first_packet_s / 2)}


def test_classes_are_measured_separately_and_old_values_expire() -> None:
    """Values expire after ten seconds; of the others a high percentile counts."""
    pulse = Autotuner(Tuning())
    for number in range(100):
        pulse.segment_ready(number, USUAL, 0.0)
        pulse.taken(number, number / 100)
    pulse.segment_ready(200, FAST, 8.0)
    pulse.taken(200, 8.5)
    assert pulse.measured(EMPTY, 9.0).ttfp_s == {USUAL: pytest.approx(0.95), FAST: pytest.approx(0.5)}
    assert pulse.measured(EMPTY, 12.0).ttfp_s == {FAST: pytest.approx(0.5)}
    assert pulse.measured(EMPTY, 20.0).ttfp_s == {}


def test_closed_streams_are_forgotten() -> None:
    """Streams without audio do not count, and no state of closed streams is kept."""
    pulse = Autotuner(Tuning())
    for number in range(4):
        pulse.segment_ready(number, FAST, 0.0)
    pulse.taken(0, 0.1)
    for number in range(4):
        pulse.closed(number)
    pulse.taken(1, 5.0)
    assert pulse.measured(EMPTY, 5.0).ttfp_s == {FAST: pytest.approx(0.1)}
    assert not pulse._waiting
    assert not pulse._heard


def test_load_is_the_work_since_the_last_update() -> None:
    """The work is divided by the number of workers."""
    pulse = Autotuner(Tuning())
    loads = [
        pulse.measured(replace(EMPTY, busy_s=busy_s, num_workers=2), now).load
        for now, busy_s in [(0.0, 5.0), (1.0, 6.0), (3.0, 10.0), (4.0, 10.0)]
    ]
    assert loads == [0.0, pytest.approx(0.5), pytest.approx(1.0), 0.0]
