"""Player: all audio is played, at the output's pace."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from yuliu.client import JitterBuffer, SoundDeviceFailed
from yuliu.errors import Closed
from yuliu.playback.player import BLOCK_S, LOW_S, STUCK_S, NullOutput, Player

if TYPE_CHECKING:
    from collections.abc import Callable

RATE = 1_000
SOUND = np.arange(1, 101, dtype=np.float32)


class Recorder:
    """Output that records its samples, and can block before the first one."""

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


def test_all_audio_is_played() -> None:
    """Silence follows the last sample until all has been heard, and then the output is finished."""
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


def test_stop_returns_the_position() -> None:
    """The rest of the audio is not played."""
    output = Recorder()
    output.open.clear()
    player = Player(output, RATE)
    player.put(SOUND)
    assert output.began.wait(20)
    stopping = threading.Timer(0, output.open.set)
    with player._lock:  # stop before the second block
        player._stopped = True
        player._buffer.clear()
    stopping.start()
    assert player.stop() == pytest.approx(BLOCK_S)
    assert output.closed == "abandoned"
    assert sounding(output) == SOUND[: round(BLOCK_S * RATE)].tolist()


def test_errors_of_the_output_are_raised() -> None:
    """The next call raises the error."""

    class Broken(Recorder):
        def write(self, samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
            raise OSError("unplugged")

    player = Player(Broken(), RATE)
    player.put(SOUND)
    with pytest.raises(OSError, match="unplugged"):
        player.finish()
    with pytest.raises(OSError, match="unplugged"):
        player.put(SOUND)


def test_unused_player_closes_its_output() -> None:
    """Stopping a player that played nothing abandons the output."""
    output = Recorder()
    assert Player(output, RATE).stop() == 0
    assert output.closed == "abandoned"


@pytest.mark.parametrize("close", [Player.finish, Player.stop])
@pytest.mark.parametrize("has_played", [True, False])
def test_late_audio_is_refused(close: Callable[[Player], object], has_played: bool) -> None:
    """Audio after the end raises an error instead of being lost."""
    output = Recorder()
    player = Player(output, RATE)
    if has_played:
        player.put(SOUND)
    close(player)
    num_heard = len(sounding(output))
    with pytest.raises(Closed):
        player.put(SOUND)
    assert player.level_s == 0
    assert len(sounding(output)) == num_heard


class Timed(Recorder):
    """Output that holds a tenth of a second, with a clock that advances only while it is full."""

    def __init__(self) -> None:
        super().__init__(latency_s=0.1)
        self.now_s = 0.0
        self._empty_at_s = 0.0

    def write(self, samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
        super().write(samples)
        self._empty_at_s = max(self._empty_at_s, self.now_s) + len(samples) / RATE
        self.now_s = max(self.now_s, self._empty_at_s - self.latency_s)

    def until(self, num_samples: int) -> None:
        for _ in range(4_000):
            if len(self.blocks) >= num_samples:
                return
            threading.Event().wait(0.005)
        raise AssertionError("the samples were never written")


def test_player_waits_for_audio_while_the_output_holds_some() -> None:
    """Audio that arrives in time is played without silence between, although the output takes the first at once."""
    output = Timed()
    player = Player(output, RATE, clock=lambda: output.now_s)
    player.put(SOUND)
    output.until(len(SOUND))
    assert output.now_s == 0.0
    threading.Event().wait(0.05)
    player.put(SOUND)
    output.until(2 * len(SOUND))
    assert player.num_gaps == 0
    assert output.now_s == pytest.approx(0.1)
    assert player.position_s == pytest.approx(0.1)
    player.finish()
    assert output.blocks[:200] == [*SOUND.tolist()] * 2
    assert player.heard_at_s == 0.0
    assert player.position_s == pytest.approx(0.2)


def test_silence_in_a_gap_does_not_count_as_audio() -> None:
    """The position stands still during a gap, and the output holds little silence."""
    output = Timed()
    player = Player(output, RATE, clock=lambda: output.now_s)
    player.put(SOUND)
    output.until(len(SOUND))
    for now_s in (0.05, 0.09, 0.13, 0.17):
        output.now_s = now_s
        assert player.position_s == pytest.approx(min(now_s, 0.1))
        output.until(round(RATE * (now_s + LOW_S)))
    assert player.num_gaps == 1
    assert len(output.blocks) <= RATE * (0.17 + LOW_S + BLOCK_S)
    player.put(SOUND)
    player.finish()
    assert sounding(output) == [*SOUND.tolist()] * 2


def test_blocked_output_is_reported() -> None:
    """Every further call raises the error."""
    output = Timed()
    output.open.clear()
    player = Player(output, RATE, clock=lambda: output.now_s)
    player.put(SOUND)
    assert output.began.wait(20)
    player.check()
    output.now_s += STUCK_S + 1
    for call in (player.check, player.finish, player.stop, lambda: player.put(SOUND)):
        with pytest.raises(SoundDeviceFailed, match="takes no audio"):
            call()
    output.open.set()


def test_stop_wakes_a_thread_that_waits_for_the_end() -> None:
    """Both calls return, and the output is abandoned."""
    output = Recorder()
    output.open.clear()
    player = Player(output, RATE)
    player.put(SOUND)
    waiting = threading.Thread(target=player.finish)
    waiting.start()
    assert output.began.wait(20)
    opening = threading.Timer(0.05, output.open.set)
    opening.start()
    assert player.stop() == pytest.approx(BLOCK_S)
    waiting.join(20)
    assert not waiting.is_alive()
    assert output.closed == "abandoned"


def test_streams_can_share_a_buffer() -> None:
    """No audio carries over to the next stream, but the target level does."""
    buffer = JitterBuffer(RATE)
    buffer.target_s = 0.2
    for _ in range(2):
        buffer.restart()
        output = Recorder()
        player = Player(output, RATE, buffer=buffer)
        player.put(SOUND)
        player.finish()
        assert sounding(output) == SOUND.tolist()
        assert player.position_s == pytest.approx(0.1)
    assert buffer.target_s == 0.2


def test_null_output_keeps_the_pace_of_a_device() -> None:
    """Two seconds of audio take two seconds of the clock, and lost time is not caught up."""
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
