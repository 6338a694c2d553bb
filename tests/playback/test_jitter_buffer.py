"""Jitter buffer: all audio comes through in order, and the delay follows the network."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from yuliu.playback.jitter_buffer import CALM_S, JitterBuffer

RATE = 1_000
BLOCK = 20


def ones(num_samples: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.ones(num_samples, np.float32)


@given(st.lists(st.one_of(st.integers(0, 90), st.just(None)), max_size=60), st.floats(0, 0.3), st.floats(0, 0.5))
def test_all_audio_comes_in_order_with_silence_between(arrivals: list[int | None], min_s: float, max_s: float) -> None:
    """Each block has the requested length, and the target level stays within its limits, for any arrivals."""
    buffer = JitterBuffer(RATE, min_s=min_s, max_s=max(min_s, max_s))
    given_samples, taken, now = [], [], 0.0
    number = 1
    for num_samples in [*arrivals, None]:
        if num_samples is None:
            block = buffer.take(BLOCK, now)
            assert len(block) == BLOCK
            taken += block.tolist()
            now += BLOCK / RATE
        else:
            samples = np.arange(number, number + num_samples, dtype=np.float32)
            number += num_samples
            buffer.put(samples, now)
            given_samples += samples.tolist()
        assert min_s <= buffer.target_s <= max(min_s, max_s)
    buffer.end()
    while not buffer.is_over:
        taken += buffer.take(BLOCK, now).tolist()
    assert [sample for sample in taken if sample] == given_samples
    assert buffer.num_samples_played == len(given_samples)


def test_audio_is_not_delayed_without_jitter() -> None:
    """The first audio is played when it arrives."""
    buffer = JitterBuffer(RATE)
    assert not buffer.take(BLOCK, 0.0).any()
    buffer.put(ones(BLOCK), 0.01)
    assert buffer.take(BLOCK, 0.02).all()
    assert buffer.num_gaps == 0


def test_audio_never_waits_longer_than_the_target_level() -> None:
    """A short answer is not held back until more arrives."""
    buffer = JitterBuffer(RATE, min_s=0.1)
    buffer.put(ones(30), 0.0)
    assert not buffer.take(BLOCK, 0.08).any()
    assert buffer.take(BLOCK, 0.1).all()


def test_late_text_does_not_raise_the_target_level() -> None:
    """A gap of a second is not jitter."""
    buffer = JitterBuffer(RATE)
    buffer.put(ones(BLOCK), 0.0)
    buffer.take(2 * BLOCK, 0.0)
    buffer.put(ones(BLOCK), 1.0)
    assert (buffer.num_gaps, buffer.target_s) == (1, 0.0)


def test_clear_silences_the_buffer() -> None:
    """Only silence follows, and played samples still count."""
    buffer = JitterBuffer(RATE)
    buffer.put(ones(100), 0.0)
    buffer.take(BLOCK, 0.0)
    buffer.clear()
    assert buffer.is_over
    assert buffer.level_s == 0
    assert not buffer.take(BLOCK, 0.1).any()
    assert buffer.num_samples_played == BLOCK


def gaps(buffer: JitterBuffer, num_blocks: int, jitter_s: float, *, first_s: float = 0.0, seed: int = 7) -> int:
    """Return the number of gaps while blocks of 20 ms arrive with jitter, then drain the buffer."""
    draw = random.Random(seed)
    arrive, at_s = [], 0.0
    for n in range(num_blocks):
        at_s = max(at_s, first_s + n * BLOCK / RATE + draw.uniform(0, jitter_s))
        arrive.append(at_s)
    before, now = buffer.num_gaps, first_s
    while arrive:
        while arrive and arrive[0] <= now:
            buffer.put(ones(BLOCK), arrive.pop(0))
        buffer.take(BLOCK, now)
        now += BLOCK / RATE
    found = buffer.num_gaps - before
    while buffer.level_s:
        buffer.take(BLOCK, now)
        now += BLOCK / RATE
    buffer.take(BLOCK, now)
    return found


def test_target_level_adapts_to_the_network() -> None:
    """In fifty utterances of two seconds, gaps become far rarer than without a target level."""
    adaptive, fixed = JitterBuffer(RATE), JitterBuffer(RATE, max_s=0.0)
    learnt = [gaps(adaptive, 100, 0.1, first_s=10.0 * n, seed=n) for n in range(50)]
    without = [gaps(fixed, 100, 0.1, first_s=10.0 * n, seed=n) for n in range(50)]
    assert 0.02 < adaptive.target_s <= 0.125
    assert sum(learnt[5:]) < sum(without[5:]) / 2


def test_target_level_shrinks_without_gaps() -> None:
    """The target level returns to its minimum, and not below."""
    buffer = JitterBuffer(RATE, min_s=0.01)
    gaps(buffer, 200, 0.1)
    learnt_s, now = buffer.target_s, 100.0
    for _ in range(round(20 * CALM_S * RATE / BLOCK)):
        buffer.put(ones(BLOCK), now)
        buffer.put(ones(1), now)
        buffer.take(BLOCK, now)
        now += BLOCK / RATE
    assert buffer.target_s == 0.01 < learnt_s


def test_restart_keeps_the_target_level_and_drops_the_audio() -> None:
    """The next stream starts empty, with what was learned of the network."""
    buffer = JitterBuffer(RATE)
    gaps(buffer, 100, 0.1)
    learned_s, num_gaps = buffer.target_s, buffer.num_gaps
    buffer.put(ones(100), 50.0)
    buffer.restart()
    assert (buffer.level_s, buffer.target_s, buffer.num_gaps) == (0.0, learned_s, num_gaps)
    assert not buffer.is_over
    buffer.put(ones(BLOCK), 60.0)
    buffer.end()
    assert buffer.take(BLOCK, 60.0).all()


def test_buffer_is_short_until_it_holds_a_block() -> None:
    """A player waits for missing audio, but not for more after the end."""
    buffer = JitterBuffer(RATE)
    assert buffer.is_short_of(BLOCK, 0.0)
    buffer.put(ones(BLOCK - 1), 0.0)
    assert buffer.is_short_of(BLOCK, 0.0)
    buffer.put(ones(1), 0.0)
    assert not buffer.is_short_of(BLOCK, 0.0)
    buffer.take(BLOCK, 0.0)
    assert buffer.is_short_of(BLOCK, 0.1)
    buffer.end()
    assert not buffer.is_short_of(BLOCK, 0.1)
