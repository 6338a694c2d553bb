"""Plays what arrives: a thread between a jitter buffer and an output that takes sound at its own pace."""

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
"""Sound is handed to the output in blocks of this length."""
STUCK_S = 5.0
"""An output that does not take a block for so long is broken."""
FALL_SILENT_S = 2.5
"""How long an output that is stopped may take."""
LOOK_S = 0.1
"""How often is looked whether it is."""
LOW_S = 0.04
"""Silence is written for want of sound only when the output holds no more than this: more sound may come in time."""
WAIT_S = 0.005
"""How long is waited for it at a time."""


class AudioOutput(Protocol):
    """Where sound is heard. All calls are made on one thread, and block."""

    @property
    def latency_s(self) -> float:
        """How long what is written waits to be heard once the output is full, seconds."""
        ...

    def write(self, samples: Samples) -> None:
        """Take samples; returns when there is room for the next."""
        ...

    def finish(self) -> None:
        """All was given: let it sound to its end, and close."""
        ...

    def abandon(self) -> None:
        """Fall silent at once, and close."""
        ...


class NullOutput:
    """No device, at the pace of one.

    Args:
        sample_rate: Hz.
        clock: Seconds, monotonic.
        sleep: Waits so many seconds.
    """

    def __init__(
        self,
        sample_rate: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.latency_s: float = 0.0
        """Nothing waits."""
        self._rate, self._clock, self._sleep = sample_rate, clock, sleep
        self._due_s: float | None = None

    def write(self, samples: Samples) -> None:
        """Wait as long as they would sound."""
        now = self._clock()
        due_s = now if self._due_s is None else max(self._due_s, now)
        self._due_s = due_s + len(samples) / self._rate
        self._sleep(self._due_s - now)

    def finish(self) -> None:
        """Nothing is held."""

    def abandon(self) -> None:
        """Nothing is held."""


class Player:
    """Plays the chunks of one stream. Any thread may call it.

    Args:
        output: Where to; is closed by :meth:`finish` and :meth:`stop`.
        sample_rate: Hz.
        buffer: What holds sound back, fresh or restarted; None takes one that begins with none held.
        clock: Seconds, monotonic.
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
        """When the first sound was given to the output, by the clock; None before."""
        self._output, self._rate, self._clock = output, sample_rate, clock
        self._buffer = buffer or JitterBuffer(sample_rate)
        self._playout = Playout(sample_rate)
        self._lock = threading.Condition()
        self._stopped = False
        self._closed = False  # for what is put
        self._error: Exception | None = None
        self._giving_since_s: float | None = None  # a block to the output, which has not taken it
        self._silent_at_s: float | None = None  # the position where it was stopped
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="yuliu-player", daemon=True)
        self._started = False

    @property
    def level_s(self) -> float:
        """How much sound waits in the buffer, seconds."""
        with self._lock:
            return self._buffer.level_s

    @property
    def target_s(self) -> float:
        """How much the buffer wants to hold, seconds."""
        with self._lock:
            return self._buffer.target_s

    @property
    def num_gaps(self) -> int:
        """How often the sound stood still."""
        with self._lock:
            return self._buffer.num_gaps

    @property
    def position_s(self) -> float:
        """How much was heard, seconds of sound: for ``played`` and ``cancel`` of the stream."""
        with self._lock:
            if self._silent_at_s is not None:
                return self._silent_at_s
            return self._playout.position_s(self._clock(), self._output.latency_s)

    @property
    def heard_at_s(self) -> float | None:
        """When the first sound was heard, as far as the output tells, by the clock; None before.

        It is known once the output is full, which it is after its latency, and at the end.
        """
        with self._lock:
            return self._playout.first_heard_at_s

    def put(self, samples: Samples) -> None:
        """More sound. Playing begins by itself.

        Raises:
            Closed: It was finished or stopped.
            SoundDeviceFailed: The output does not take any.
            Exception: What the output raised.
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
        """Whether it still plays.

        Raises:
            SoundDeviceFailed: The output does not take any sound.
            Exception: What the output raised.
        """
        self._check(STUCK_S)

    def finish(self) -> None:
        """No more will be put; wait until all was heard. Raises as :meth:`check` does."""
        with self._lock:
            self._closed = True
            self._buffer.end()
            self._lock.notify()
        self._join(STUCK_S)

    def stop(self) -> float:
        """Fall silent at once, also while another thread waits in :meth:`finish`; the position, seconds.

        Raises as :meth:`check` does.
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
            raise SoundDeviceFailed("the sound device does not play any more: it takes no sound")

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
        except Exception as error:  # noqa: BLE001 - handed on whole to whoever puts, finishes or stops
            self._error = error
        finally:
            self._giving_since_s = None
            self._over.set()

    def _play_block(self, num_samples: int) -> bool:
        """Whether there was one; silence follows the last until all was heard, so that it can still be stopped."""
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
        """Whether there is time to wait for sound: before the first, and while the output holds enough."""
        now = self._clock()
        if not self._buffer.is_short_of(num_samples, now):
            return False
        return self.began_at_s is None or self._playout.held_s(now, latency_s) > LOW_S

    def _is_heard(self, now: float, latency_s: float) -> bool:
        return self._playout.position_s(now, latency_s) * self._rate >= self._playout.num_sound - 0.5
