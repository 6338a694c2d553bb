"""Latency as a listener hears it, from arrivals and samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import running_server

from yuliu.bench.latency import WavResponse, request_wav
from yuliu.bench.playback import ChunkArrival

RATE = 24_000


def made(arrivals: list[tuple[float, float]], *, silence_s: float = 0.0) -> WavResponse:
    """Return a response with audio that arrives as (time, seconds of audio)."""
    num = sum(round(length * RATE) for _, length in arrivals)
    pcm = np.full(num, 8000, "<i2")
    pcm[: round(silence_s * RATE)] = 3
    pieces = tuple(ChunkArrival(at_s, 2 * round(length * RATE)) for at_s, length in arrivals)
    return WavResponse(RATE, pcm.tobytes(), pieces, arrivals[-1][0])


def test_time_to_first_sound_includes_the_leading_silence() -> None:
    """Samples below -46 dBFS are not audible."""
    assert made([(0.1, 1.0)], silence_s=0.25).ttfs_s == pytest.approx(0.35)
    assert made([(0.1, 1.0)]).ttfs_s == pytest.approx(0.1)


def test_inaudible_audio_is_not_heard_before_its_end() -> None:
    """A silent response does not look fast."""
    assert made([(0.1, 1.0)], silence_s=1.0).ttfs_s == pytest.approx(1.1)


def test_late_audio_is_an_underrun() -> None:
    """Only the time in which nothing is left to play counts."""
    assert made([(0.1, 0.5), (0.4, 0.5), (1.3, 0.2)]).underrun_s == pytest.approx(0.2)


@given(st.lists(st.tuples(st.floats(0.01, 2), st.floats(0.01, 2)), min_size=1, max_size=10))
def test_the_underrun_is_the_delay_of_the_player_at_the_end(steps: list[tuple[float, float]]) -> None:
    """A player that starts at the first packet ends later by the sum of its stalls."""
    arrivals, now = [], 0.0
    for wait_s, length_s in steps:
        now += wait_s
        arrivals.append((now, length_s))
    timed = made(arrivals)
    ends_at = 0.0
    for at_s, length_s in arrivals:
        ends_at = max(ends_at, at_s) + length_s
    assert timed.underrun_s == pytest.approx(ends_at - arrivals[0][0] - timed.audio_s, abs=1e-3)


def test_the_header_of_a_response_is_not_audio() -> None:
    """All samples arrive, and nothing else."""
    with running_server() as server:
        timed = request_wav(server.port, "One two three four five six seven.", "tone")
    assert timed.sample_rate == RATE
    assert 0 < timed.ttfp_s <= timed.last_byte_s
    assert sum(arrival.num_bytes for arrival in timed.arrivals) == len(timed.pcm)
    assert np.frombuffer(timed.pcm, "<i2")[0] == 0


def test_a_refused_request_is_an_error() -> None:
    """It does not become a figure."""
    with running_server() as server, pytest.raises(RuntimeError, match="400"):
        request_wav(server.port, "Hello.", "nobody")
