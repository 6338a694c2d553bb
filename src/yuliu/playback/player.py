"""Player: a thread between a jitter buffer and an output that takes audio at its own pace."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

from yuliu.errors import Closed
from yuliu.playback.device import SoundDeviceFailed
from yuliu.playback.jitter_buffer import JitterBuffer
from yuliu.playback.playout import Playout

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.types import Samples

BLOCK_S = 0.02
"""Length of the blocks written to the output, seconds."""
STUCK_S = 5.0
"""Time after which an output that does not take a block counts as broken, seconds."""
FALL_SILENT_S = 2.5
"""Maximum time for stopping an output, seconds."""
LOOK_S = 0.1
"""Interval of the checks for a broken output, seconds."""
LOW_S = 0.04
"""Level of the output above which the player waits for more audio instead of writing silence, seconds."""
WAIT_S = 0.005
"""Duration of one such wait, seconds."""


class AudioOutput(Protocol):
    """Destination of played audio. All calls are made on one thread, and block."""

    @property
    def latency_s(self) -> float:
        """Time from a write until its samples are heard once the output is full, seconds."""
        ...

    def write(self, samples: Samples) -> None:
        """Write samples; return when there is room for more."""
        ...

    def finish(self) -> None:
        """Play the written samples to their end, and close."""
        ...

    def abandon(self) -> None:
        """Fall silent immediately, and close."""
        ...


class NullOutput:
    """Output without a device that takes audio at the pace of one.

    Args:
        sample_rate: Sample rate of the audio, Hz.
        clock: Monotonic clock, seconds.
        sleep: Function that waits for a number of seconds.
    """

    def __init__(
        self,
        sample_rate: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.latency_s: float = 0.0
        """Zero: nothing is buffered."""
        self._rate, self._clock, self._sleep = sample_rate, clock, sleep
        self._due_s: float | None = None

    def write(self, samples: Samples) -> None:
        """Wait as long as the samples would play."""
        now = self._clock()
        due_s = now if self._due_s is None else max(self._due_s, now)
        self._due_s = due_s + len(samples) / self._rate
        self._sleep(self._due_s - now)

    def finish(self) -> None:
        """Do nothing: no samples are buffered."""

    def abandon(self) -> None:
        """Do nothing: no samples are buffered."""


class Player:
    """Plays the chunks of one stream. Any thread may call it.

    Args:
        output: Output to play on; closed by :meth:`finish` and :meth:`stop`.
        sample_rate: Sample rate of the audio, Hz.
        buffer: Jitter buffer, new or restarted; None makes a new one.
        clock: Monotonic clock, seconds.
    """

    def __init__(
        self,
        output: AudioOutput,
        sample_rate: int,
        *,
        buffer: JitterBuffer | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.began_at_s: float | None = None
        """Time at which the first audio was written to the output, by the clock; None before that."""
        self._output, self._rate, self._clock = output, sample_rate, clock
        self._buffer = buffer or JitterBuffer(sample_rate)
        self._playout = Playout(sample_rate)
        self._lock = threading.Condition()
        self._stopped = False
        self._closed = False  # whether put() is refused
        self._error: Exception | None = None
        self._giving_since_s: float | None = None  # start of a write that has not returned
        self._silent_at_s: float | None = None  # position at which playback was stopped
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="yuliu-player", daemon=True)
        self._started = False

    @property
    def level_s(self) -> float:
        """Audio in the buffer, seconds."""
        with self._lock:
            return self._buffer.level_s

    @property
    def target_s(self) -> float:
        """Target level of the buffer, seconds."""
        with self._lock:
            return self._buffer.target_s

    @property
    def num_gaps(self) -> int:
        """Number of gaps in playback."""
        with self._lock:
            return self._buffer.num_gaps

    @property
    def position_s(self) -> float:
        """Playback position, seconds of audio, for ``played`` and ``cancel`` of the stream."""
        with self._lock:
            if self._silent_at_s is not None:
                return self._silent_at_s
            return self._playout.position_s(self._clock(), self._output.latency_s)

    @property
    def heard_at_s(self) -> float | None:
        """Time at which the first audio was heard, estimated from the output, by the clock; None before that.

        The estimate is final once the output is full, which it is after its latency, and at the end.
        """
        with self._lock:
            return self._playout.first_heard_at_s

    def put(self, samples: Samples) -> None:
        """Add audio. Playback starts by itself.

        Raises:
            Closed: The player was finished or stopped.
            SoundDeviceFailed: The output takes no audio.
            Exception: An error that the output raised.
        """
        self.check()
        with self._lock:
            if self._closed:
                raise Closed("this player was finished or stopped")
            self._buffer.put(samples, self._clock())
            self._lock.notify()
            begins, self._started = not self._started, True
        if begins:
            self._thread.start()

    def check(self) -> None:
        """Raise the error that ended playback, if there is one.

        Raises:
            SoundDeviceFailed: The output takes no audio.
            Exception: An error that the output raised.
        """
        self._check(STUCK_S)

    def finish(self) -> None:
        """End the audio, and wait until all of it has been heard. Raises what :meth:`check` raises."""
        with self._lock:
            self._closed = True
            self._buffer.end()
            self._lock.notify()
        self._join(STUCK_S)

    def stop(self) -> float:
        """Fall silent immediately, and return the position in seconds.

        Another thread may be waiting in :meth:`finish`. Raises what :meth:`check` raises.
        """
        with self._lock:
            self._stopped = self._closed = True
            self._buffer.clear()
            self._lock.notify()
        self._join(FALL_SILENT_S)
        return self.position_s

    def _join(self, patience_s: float) -> None:
        if not self._started:
            self._output.abandon()
            self._over.set()
        while not self._over.wait(LOOK_S):
            self._check(patience_s)
        self._check(patience_s)

    def _check(self, patience_s: float) -> None:
        if self._error is not None:
            raise self._error
        since_s = self._giving_since_s
        if since_s is not None and self._clock() - since_s > patience_s:
            raise SoundDeviceFailed("the sound device stopped playing: it takes no audio")

    def _run(self) -> None:
        try:
            while self._play_block(round(BLOCK_S * self._rate)):
                pass
            self._giving_since_s = self._clock()
            if self._stopped:
                self._silent_at_s = self.position_s
                self._output.abandon()
            else:
                self._output.finish()
        except Exception as error:  # noqa: BLE001 - passed on unchanged to the callers of put, finish and stop
            self._error = error
        finally:
            self._giving_since_s = None
            self._over.set()

    def _play_block(self, num_samples: int) -> bool:
        """Play one block and return True, or return False at the end.

        Silence follows the last audio until all of it has been heard, so that playback can still be stopped.
        """
        with self._lock:
            latency_s = self._output.latency_s
            while self._may_wait(num_samples, latency_s):
                self._lock.wait(WAIT_S)
            now = self._clock()
            if self._stopped or (self._buffer.is_over and self._is_heard(now, latency_s)):
                return False
            num_before = self._buffer.num_samples_played
            block = self._buffer.take(num_samples, now)
            num_sound = self._buffer.num_samples_played - num_before
            if self.began_at_s is None and num_sound:
                self.began_at_s = now
            self._giving_since_s = now
        self._output.write(block)
        with self._lock:
            self._giving_since_s = None
            self._playout.wrote(num_samples, num_sound, since_s=now, now=self._clock(), latency_s=latency_s)
        return True

    def _may_wait(self, num_samples: int, latency_s: float) -> bool:
        """Return True if there is time to wait for more audio: before the first, and while the output holds enough."""
        now = self._clock()
        if not self._buffer.is_short_of(num_samples, now):
            return False
        return self.began_at_s is None or self._playout.held_s(now, latency_s) > LOW_S

    def _is_heard(self, now: float, latency_s: float) -> bool:
        return self._playout.position_s(now, latency_s) * self._rate >= self._playout.num_sound - 0.5
