"""What is put is played, whole, at the output's pace."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from yuliu.client.player import BLOCK_S, NullOutput, Player

RATE = 1_000
SOUND = np.arange(1, 101, dtype=np.float32)


class Recorder:
    """An output that keeps what it gets; waits before the first block if told to."""

    def __init__(self, latency_s: float = 0.0) -> None:
        self.latency_s = latency_s
        self.blocks: list[float] = []
        self.closed = ""
        self.open = threading.Event()
        self.open.set()
        self.began = threading.Event()

    def write(self, samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
        self.began.set()
        assert self.open.wait(20)
        self.blocks += samples.tolist()

    def finish(self) -> None:
        self.closed = "finished"

    def abandon(self) -> None:
        self.closed = "abandoned"


def sounding(output: Recorder) -> list[float]:
    return [sample for sample in output.blocks if sample]


def test_all_is_played() -> None:
    """To the last sample, then silence until all was heard, then the output is finished."""
    output = Recorder(latency_s=0.03)
    player = Player(output, RATE)
    player.put(SOUND[:37])
    player.put(SOUND[37:])
    player.finish()
    assert sounding(output) == SOUND.tolist()
    assert output.closed == "finished"
    assert player.position_s == pytest.approx(0.1)
    assert len(output.blocks) >= len(SOUND) + 0.03 * RATE
    assert player.level_s == 0
    assert player.began_at_s is not None


def test_stopping_tells_what_was_heard() -> None:
    """The rest is not played."""
    output = Recorder()
    output.open.clear()
    player = Player(output, RATE)
    player.put(SOUND)
    assert output.began.wait(20)
    stopping = threading.Timer(0, output.open.set)
    with player._lock:  # it is stopped before the second block
        player._stopped = True
        player._buffer.clear()
    stopping.start()
    assert player.stop() == pytest.approx(BLOCK_S)
    assert output.closed == "abandoned"
    assert sounding(output) == SOUND[: round(BLOCK_S * RATE)].tolist()


def test_what_the_output_raises_is_raised() -> None:
    """At the next call."""

    class Broken(Recorder):
        def write(self, samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
            raise OSError("unplugged")

    player = Player(Broken(), RATE)
    player.put(SOUND)
    with pytest.raises(OSError, match="unplugged"):
        player.finish()
    with pytest.raises(OSError, match="unplugged"):
        player.put(SOUND)


def test_one_that_played_nothing() -> None:
    """Closes its output."""
    output = Recorder()
    assert Player(output, RATE).stop() == 0
    assert output.closed == "abandoned"


def test_no_device_has_the_pace_of_one() -> None:
    """Two seconds of sound take two seconds of the clock, and time that was lost is not caught up."""
    now, slept = [0.0], []

    def sleep(for_s: float) -> None:
        slept.append(for_s)
        now[0] += for_s

    output = NullOutput(RATE, clock=lambda: now[0], sleep=sleep)
    for _ in range(20):
        output.write(np.zeros(100, np.float32))
    assert now[0] == pytest.approx(2.0)
    now[0] += 1.0
    output.write(np.zeros(100, np.float32))
    assert now[0] == pytest.approx(3.1)
    assert max(slept) == pytest.approx(0.1)
