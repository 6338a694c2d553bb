"""Playout: the playback position, and the time of the first audio."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.playback.playout import Playout

RATE = 1_000
BLOCK = 20


class Output:
    """Output with a capacity, which plays at the pace of a slightly inexact clock.

    Args:
        latency_s: Capacity, seconds.
        pace: Pace of the clock; 1.0001 is fast.
    """

    def __init__(self, latency_s: float, pace: float = 1.0) -> None:
        self.playout = Playout(RATE)
        self.now = 50.0
        self._latency_s, self._pace = latency_s, pace
        self._written: list[bool] = []
        self._num_heard, self._heard_at_s = 0.0, self.now

    def write(self, num_sound: int) -> None:
        """Write a block; wait until there is room."""
        self._play()
        since_s = self.now
        too_much = len(self._written) + BLOCK - self._num_heard - self._latency_s * RATE
        self.now += max(0.0, too_much / RATE / self._pace)
        self._written += [True] * num_sound + [False] * (BLOCK - num_sound)
        self.playout.wrote(BLOCK, num_sound, since_s=since_s, now=self.now, latency_s=self._latency_s)

    def heard_s(self) -> float:
        """Return the duration of audio that was really heard."""
        self._play()
        return sum(self._written[: int(self._num_heard)]) / RATE

    def _play(self) -> None:
        num_more = (self.now - self._heard_at_s) * RATE * self._pace
        self._num_heard, self._heard_at_s = min(len(self._written), self._num_heard + num_more), self.now


STEPS = st.lists(st.tuples(st.integers(0, BLOCK), st.sampled_from([0.0, 0.0, 0.0, 0.01, 0.05, 0.5])), max_size=60)


@given(STEPS, st.floats(0.05, 0.3), st.sampled_from([0.9999, 1.0, 1.0001]))
def test_position_is_what_was_heard(steps: list[tuple[int, float]], latency_s: float, pace: float) -> None:
    """The position is right to a few samples, even if the output runs empty."""
    output = Output(latency_s, pace)
    for num_sound, pause_s in steps:
        output.write(num_sound)
        output.now += pause_s
        assert output.playout.position_s(output.now, latency_s) == pytest.approx(output.heard_s(), abs=0.004)


def test_position_is_right_despite_clock_drift() -> None:
    """Each blocking write corrects the position, for ten minutes."""
    output = Output(0.1, pace=1.0002)
    for _ in range(30_000):
        output.write(BLOCK)
    assert output.playout.position_s(output.now, 0.1) == pytest.approx(output.heard_s(), abs=0.003)


@given(st.integers(0, 5), st.floats(0.05, 0.3), st.integers(30, 100))
def test_time_of_the_first_audio(num_silent: int, latency_s: float, num_blocks: int) -> None:
    """The output takes blocks at once until it is full; it starts with the first, and silence may precede the audio."""
    output = Output(latency_s)
    began_s = output.now
    for n in range(num_blocks):
        output.write(BLOCK if n >= num_silent else 0)
    assert output.playout.first_heard_at_s == pytest.approx(began_s + num_silent * BLOCK / RATE, abs=1e-6)


def test_nothing_is_heard_before_the_first_audio() -> None:
    """There is no time of the first audio before there is any."""
    playout = Playout(RATE)
    assert (playout.position_s(5.0, 0.1), playout.first_heard_at_s, playout.held_s(5.0, 0.1)) == (0.0, None, 0.0)
    playout.wrote(BLOCK, 0, since_s=1.0, now=1.0, latency_s=0.1)
    assert (playout.position_s(1.0, 0.1), playout.first_heard_at_s) == (0.0, None)


def test_memory_is_bounded() -> None:
    """Few blocks are kept, however long playback lasts."""
    output = Output(0.1)
    for _ in range(1_000):
        output.write(BLOCK)
    assert len(output.playout._blocks) < 20
