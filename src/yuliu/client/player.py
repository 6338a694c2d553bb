"""Plays what arrives: a thread between a jitter buffer and an output that takes sound at its own pace."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

from yuliu.client.jitter import JitterBuffer

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.types import Samples

BLOCK_S = 0.02
"""Sound is handed to the output in blocks of this length."""


class Output(Protocol):
    """Where sound is heard. All calls are made on one thread, and block."""

    @property
    def latency_s(self) -> float:
        """How long what is written waits to be heard, seconds."""
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
        buffer: What holds sound back; None takes one that begins with none held.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        output: Output,
        sample_rate: int,
        *,
        buffer: JitterBuffer | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.began_at_s: float | None = None
        """When the first sound was given to the output, by the clock; None before."""
        self._output, self._rate, self._clock = output, sample_rate, clock
        self._buffer = buffer or JitterBuffer(sample_rate)
        self._lock = threading.Lock()
        self._stopped = False
        self._error: Exception | None = None
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
        """How much was heard, seconds: for ``played`` and ``cancel`` of the stream."""
        with self._lock:
            return max(0.0, self._buffer.num_samples_played / self._rate - self._output.latency_s)

    def put(self, samples: Samples) -> None:
        """More sound. Playing begins by itself.

        Raises:
            Exception: What the output raised.
        """
        if self._error is not None:
            raise self._error
        with self._lock:
            self._buffer.put(samples, self._clock())
        if not self._started:
            self._started = True
            self._thread.start()

    def finish(self) -> None:
        """Wait until all was heard. Raises as :meth:`put` does."""
        with self._lock:
            self._buffer.end()
        self._join()

    def stop(self) -> float:
        """Fall silent at once; the position, seconds. Raises as :meth:`put` does."""
        with self._lock:
            self._stopped = True
            self._buffer.clear()
        self._join()
        return self.position_s

    def _join(self) -> None:
        if self._started:
            self._thread.join()
        else:
            self._output.abandon()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            num_samples = round(BLOCK_S * self._rate)
            while True:
                with self._lock:
                    if self._buffer.is_over:
                        break
                    now = self._clock()
                    block = self._buffer.take(num_samples, now)
                    if self.began_at_s is None and self._buffer.num_samples_played:
                        self.began_at_s = now
                self._output.write(block)
            if self._stopped:
                self._output.abandon()
            else:
                self._output.finish()
        except Exception as error:  # noqa: BLE001 - handed on whole to whoever puts, finishes or stops
            self._error = error
