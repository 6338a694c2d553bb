"""Tests of pauses and edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.join import EDGE_S, LEAD_S, PAUSE_S, fade_edges, padding, silences
from yuliu.types import Boundary

RATE = 24_000


@given(st.lists(st.integers(300, 2000), min_size=1, max_size=6))
def test_fades_do_not_depend_on_the_cuts(sizes: list[int]) -> None:
    """An utterance that is faded in chunks of at least one frame equals the utterance faded as a whole."""
    whole = np.ones(sum(sizes), np.float32)
    pieces, at = [], 0
    for i, size in enumerate(sizes):
        piece = whole[at : at + size]
        pieces.append(fade_edges(piece, RATE, first=i == 0, last=i == len(sizes) - 1))
        at += size
    assert np.array_equal(np.concatenate(pieces), fade_edges(whole, RATE, first=True, last=True))


def test_a_fade_changes_only_the_edges_of_a_copy() -> None:
    """The input and the middle stay unchanged."""
    samples = np.ones(1000, np.float32)
    faded = fade_edges(samples, RATE, first=True, last=True)
    num_edge = round(EDGE_S * RATE)
    assert samples.min() == 1.0
    assert (faded[0], faded[-1]) == (0.0, 0.0)
    assert (faded[num_edge:-num_edge] == 1.0).all()


@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_model_silence_and_padding_make_the_pause(boundary: Boundary, speed: float) -> None:
    """The pause has the requested length for any model silence up to the requested one."""
    wanted = silences(boundary, speed)
    assert wanted.pause_s == PAUSE_S[boundary] / speed
    for tail_s in (0.0, wanted.tail_s / 2, wanted.tail_s):
        zeros = padding(wanted.pause_s, tail_s, LEAD_S, RATE)
        assert not zeros.any()
        assert tail_s + len(zeros) / RATE + LEAD_S == pytest.approx(max(wanted.pause_s, tail_s + LEAD_S), abs=1 / RATE)


def test_long_model_silence_needs_no_padding() -> None:
    """The audio of an engine that leaves too much silence is not extended."""
    assert len(padding(0.1, 0.2, 0.02, RATE)) == 0
