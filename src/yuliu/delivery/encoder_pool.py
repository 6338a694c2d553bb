"""Encoders beside the event loop: all deliveries of a server share a few threads, and each keeps its order.

A call on a thread costs 0.03 ms on idle cores. Plain samples take less, and are encoded in the loop.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.encode import Encoder, whole
from yuliu.audio.formats import FORMATS, choose_encoding
from yuliu.audio.pcm import FULL_SCALE, to_s16
from yuliu.errors import Closed, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor
    from typing import Self

    from yuliu.audio.formats import Encoding
    from yuliu.audio.pcm import Pcm
    from yuliu.types import Samples

MAX_THREADS = 8
PIECE_S = 0.5
"""Length of audio that is encoded at a time: at most 4 ms of work, so that no delivery waits long for another."""
MAX_WHOLE_S = 300
"""Maximum length of an answer that is not streamed: it is held until its end."""
_PLAIN = ("pcm", "wav")


class EncoderPool:
    """The encoder threads of one server.

    Args:
        num_threads: Number of threads; None takes one per core, at most :data:`MAX_THREADS`.
    """

    def __init__(self, num_threads: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(num_threads or min(MAX_THREADS, os.cpu_count() or 1), "encoder")

    def stream_encoder(self, encoding: Encoding, source_rate: int) -> StreamEncoder:
        """Return an encoder for one delivery; it begins to open at once.

        Args:
            encoding: Encoding of its output.
            source_rate: Sample rate of its input, Hz.
        """
        return StreamEncoder(encoding, source_rate, self._pool)

    def whole_encoder(self, encoding: Encoding, source_rate: int, take: Callable[[int], None]) -> WholeEncoder:
        """Return an encoder that holds the audio of one delivery until its end.

        Args:
            encoding: Encoding of its output.
            source_rate: Sample rate of its input, Hz.
            take: Is called with the number of bytes that are held; may raise.
        """
        return WholeEncoder(encoding, source_rate, self._pool, take)

    def close(self) -> None:
        """End the threads after the calls that they are in. Encoders can still be closed, and nothing else."""
        self._pool.shutdown(wait=False)


class StreamEncoder:
    """Encoder of one delivery. Also a context manager that closes it.

    Its methods belong to one task of the event loop, which may be cancelled at any time.

    Args:
        encoding: Encoding of the output.
        source_rate: Sample rate of the input, Hz.
        pool: Threads to work on.
    """

    def __init__(self, encoding: Encoding, source_rate: int, pool: Executor) -> None:
        self.encoding = encoding
        self._source_rate = source_rate
        self._coder = _SharedEncoder(encoding, source_rate)
        self._at_once = encoding.name in _PLAIN and encoding.sample_rate == source_rate
        self._pool = pool
        if not self._at_once:
            pool.submit(self._coder.open)

    def pieces(self, samples: Samples) -> Iterator[Samples]:
        """Cut samples into pieces for :meth:`write`, of at most :data:`PIECE_S` where encoding takes long."""
        num_samples = max(1, len(samples)) if self._at_once else round(PIECE_S * self._source_rate)
        for start in range(0, len(samples), num_samples):
            yield samples[start : start + num_samples]

    async def write(self, samples: Samples) -> bytes:
        """Encode samples. Return the bytes that can be sent, maybe none.

        Raises:
            SynthesisFailed: The encoder failed, or could not be opened.
            Closed: The encoder was finished or closed before.
        """
        return await self._run(lambda encoder: encoder.write(samples))

    async def finish(self) -> bytes:
        """Return all bytes that are left, and the end of the container.

        Raises:
            SynthesisFailed: The encoder failed.
            Closed: The encoder was finished or closed before.
        """
        return await self._run(Encoder.finish)

    def close(self) -> None:
        """Free the encoder, now or as soon as a thread is done with it. May be called at any time, and again."""
        self._coder.close()

    def __enter__(self) -> Self:
        """Return the encoder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    async def _run(self, call: Callable[[Encoder], bytes]) -> bytes:
        if self._at_once:
            return self._coder.run(call)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._coder.run, call)


class WholeEncoder:
    """Encoder whose bytes come all at the end, so that their head holds the true sizes. Used as
    :class:`StreamEncoder`.

    Args:
        encoding: Encoding of the output.
        source_rate: Sample rate of the input, Hz.
        pool: Threads to work on.
        take: Is called with the number of bytes that are held; may raise.
    """

    def __init__(self, encoding: Encoding, source_rate: int, pool: Executor, take: Callable[[int], None]) -> None:
        self.encoding = encoding
        self._source_rate = source_rate
        self._pool = pool
        self._take = take
        self._kept: list[Pcm] = []
        self._num_samples = 0

    def pieces(self, samples: Samples) -> Iterator[Samples]:
        """Return the samples in one piece: holding them takes no time."""
        yield samples

    async def write(self, samples: Samples) -> bytes:
        """Hold samples; nothing can be sent.

        Raises:
            InvalidRequest: The audio is longer than :data:`MAX_WHOLE_S`.
            Overloaded: There is no memory left.
        """
        self._num_samples += len(samples)
        if self._num_samples > MAX_WHOLE_S * self._source_rate:
            message = f"this is more than {MAX_WHOLE_S // 60} minutes of sound; leave 'stream' out"
            raise InvalidRequest(message, param="stream")
        pcm = to_s16(samples)
        self._take(pcm.nbytes)
        self._kept.append(pcm)
        return b""

    async def finish(self) -> bytes:
        """Return all audio.

        Raises:
            SynthesisFailed: The encoder failed.
        """
        kept, self._kept = self._kept, []
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._encoded, kept)

    def __enter__(self) -> Self:
        """Return the encoder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Forget the samples."""
        self._kept = []

    def _encoded(self, kept: list[Pcm]) -> bytes:
        samples = np.concatenate([np.zeros(0, np.int16), *kept]).astype(np.float32) / np.float32(FULL_SCALE)
        return whole(samples, self.encoding, self._source_rate)


class _SharedEncoder:
    """An encoder that is opened by the first call, and closed by the last, on any thread."""

    def __init__(self, encoding: Encoding, source_rate: int) -> None:
        self._make = functools.partial(Encoder, encoding, source_rate)
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None
        self._closing = False

    def open(self) -> None:
        """Open the encoder ahead of the first audio. :meth:`run` raises if that fails."""
        self.run(lambda _: b"")

    def run(self, call: Callable[[Encoder], bytes]) -> bytes:
        """Call a function with the encoder, after the calls before."""
        try:
            with self._lock:
                if self._closing:
                    raise Closed("this encoder was closed; open a new one")
                if self._encoder is None:
                    self._encoder = self._make()
                return call(self._encoder)
        finally:
            if self._closing:
                self.close()

    def close(self) -> None:
        """Close the encoder, or let the thread that is using it do so afterwards."""
        self._closing = True
        if self._lock.acquire(blocking=False):
            try:
                encoder, self._encoder = self._encoder, None
                if encoder is not None:
                    encoder.close()
            finally:
                self._lock.release()


@functools.cache
def warm_up() -> None:
    """Open each kind of encoder once in a process: the first one takes 50 ms and more. Blocks."""
    silence = np.zeros(4_800, np.float32)
    for name in FORMATS:
        with Encoder(choose_encoding(name, 24_000), 24_000) as encoder:
            encoder.write(silence)
            encoder.finish()
