"""Sound goes through whole and in order; what is held back follows the network."""

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
def test_all_sound_in_order_and_only_silence_beside(arrivals: list[int | None], min_s: float, max_s: float) -> None:
    """Whatever arrives when; each block has the length asked for; nothing is held longer than the most."""
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


def test_without_jitter_nothing_is_held() -> None:
    """The first sound is played when it comes."""
    buffer = JitterBuffer(RATE)
    assert not buffer.take(BLOCK, 0.0).any()
    buffer.put(ones(BLOCK), 0.01)
    assert buffer.take(BLOCK, 0.02).all()
    assert buffer.num_gaps == 0


def test_sound_never_waits_longer_than_what_is_held() -> None:
    """A short answer is not kept back for want of more."""
    buffer = JitterBuffer(RATE, min_s=0.1)
    buffer.put(ones(30), 0.0)
    assert not buffer.take(BLOCK, 0.08).any()
    assert buffer.take(BLOCK, 0.1).all()


def test_a_late_text_is_no_jitter() -> None:
    """After a second nothing more is held than before."""
    buffer = JitterBuffer(RATE)
    buffer.put(ones(BLOCK), 0.0)
    buffer.take(2 * BLOCK, 0.0)
    buffer.put(ones(BLOCK), 1.0)
    assert (buffer.num_gaps, buffer.target_s) == (1, 0.0)


def test_clearing_silences() -> None:
    """At once."""
    buffer = JitterBuffer(RATE)
    buffer.put(ones(100), 0.0)
    buffer.take(BLOCK, 0.0)
    buffer.clear()
    assert buffer.is_over
    assert buffer.level_s == 0
    assert not buffer.take(BLOCK, 0.1).any()
    assert buffer.num_samples_played == BLOCK


def gaps(buffer: JitterBuffer, num_blocks: int, jitter_s: float, *, first_s: float = 0.0, seed: int = 7) -> int:
    """Gaps while blocks of 20 ms arrive every 20 ms, each up to so much late; then it plays until it is dry."""
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


def test_it_learns_how_uneven_the_network_is() -> None:
    """Of fifty utterances of two seconds, those after the first few have far fewer gaps than where nothing is held."""
    adaptive, fixed = JitterBuffer(RATE), JitterBuffer(RATE, max_s=0.0)
    learnt = [gaps(adaptive, 100, 0.1, first_s=10.0 * n, seed=n) for n in range(50)]
    without = [gaps(fixed, 100, 0.1, first_s=10.0 * n, seed=n) for n in range(50)]
    assert 0.02 < adaptive.target_s <= 0.125
    assert sum(learnt[5:]) < sum(without[5:]) / 2


def test_it_forgets_when_it_is_calm() -> None:
    """Less is held after a while without a gap, never less than the least."""
    buffer = JitterBuffer(RATE, min_s=0.01)
    gaps(buffer, 200, 0.1)
    learnt_s, now = buffer.target_s, 100.0
    for _ in range(round(20 * CALM_S * RATE / BLOCK)):
        buffer.put(ones(BLOCK), now)
        buffer.put(ones(1), now)
        buffer.take(BLOCK, now)
        now += BLOCK / RATE
    assert buffer.target_s == 0.01 < learnt_s
