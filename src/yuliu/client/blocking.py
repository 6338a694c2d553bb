"""Blocking client: the same calls without ``async``, carried out by an event loop on a background thread."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, Unpack

from yuliu.client.client import NUM_ROUND_TRIPS, AsyncClient
from yuliu.errors import Closed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator
    from types import TracebackType
    from typing import Any

    from yuliu.client.client import Retry
    from yuliu.client.clock import ClockOffset
    from yuliu.client.decode import Event
    from yuliu.client.fields import ConfigureFields, StreamFields
    from yuliu.client.stream import ClientStream
    from yuliu.client.transport import Transport
    from yuliu.synthesizer import Audio
    from yuliu.types import Cancelled, Chunk, Ending
    from yuliu.wire.native.messages import Done, Started

T = TypeVar("T")


class _Loop:
    """Event loop on a background thread."""

    def __init__(self) -> None:
        self._closing = threading.Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="yuliu-client", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it; an interrupt in the calling thread cancels it.

        Raises:
            Closed: The loop is closed, or was closed in the meantime.
        """
        with self._closing:
            if self._closed:
                work.close()
                raise _closed()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise _closed() from None
        except BaseException:
            future.cancel()
            raise

    def each(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Iterate over an asynchronous iterator."""
        nothing = object()

        async def following() -> T | object:
            return await anext(items, nothing)

        while (item := self.do(following())) is not nothing:
            yield item  # type: ignore[misc] # cannot be the sentinel

    def close(self) -> None:
        """Cancel everything that runs on the loop and end the thread. Further calls do nothing."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end_others() -> None:
    """Cancel all other tasks of this loop, since threads are waiting for them."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others)


def _closed() -> Closed:
    return Closed("the client is closed")


class Client:
    """Blocking counterpart of :class:`AsyncClient`. Enter it with ``with``; several threads may use it.

    Args:
        server: Address of the server, or a transport to it.
        retry: Policy for reconnecting.

    Raises:
        InvalidRequest: The address is invalid.
    """

    def __init__(self, server: str | Transport, *, retry: Retry | None = None) -> None:
        self._client = AsyncClient(server, retry=retry)
        self._loop = _Loop()

    def __enter__(self) -> Client:
        """Return the client; it connects when it has to."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client."""
        self.close()

    def close(self) -> None:
        """Close all connections and end the thread; calls in progress on other threads raise ``Closed``."""
        with suppress(Closed):  # already closed
            self._loop.do(self._client.close())
        self._loop.close()

    def speak(self, text: str, **fields: Unpack[StreamFields]) -> Audio:
        """Synthesize a whole text. Raises what :meth:`AsyncClient.speak` raises."""
        return self._loop.do(self._client.speak(text, **fields))

    def stream(self, **fields: Unpack[StreamFields]) -> BlockingStream:
        """Return a new stream, to be entered with ``with``. Raises what :meth:`AsyncClient.stream` raises."""
        return BlockingStream(self._loop, self._client.stream(**fields))

    def clock(self, num_round_trips: int = NUM_ROUND_TRIPS) -> ClockOffset:
        """Measure the offset of the server's clock. See :meth:`AsyncClient.clock`."""
        return self._loop.do(self._client.clock(num_round_trips))


class BlockingStream:
    """Blocking counterpart of :class:`ClientStream`. One thread may push while another reads.

    Args:
        loop: Loop of the client.
        stream: Stream to wrap.
    """

    def __init__(self, loop: _Loop, stream: ClientStream) -> None:
        self._loop = loop
        self.stream: ClientStream = stream
        """Wrapped stream."""

    @property
    def context(self) -> str:
        """Name of the stream on its connection."""
        return self.stream.context

    @property
    def started(self) -> Started | None:
        """The server's ``started`` message, once it has arrived."""
        return self.stream.started

    @property
    def ending(self) -> Ending | None:
        """Terminal event, once the stream has ended."""
        return self.stream.ending

    @property
    def done(self) -> Done | None:
        """The server's ``done`` message of a finished stream."""
        return self.stream.done

    @property
    def is_over(self) -> bool:
        """True if the stream is over."""
        return self.stream.is_over

    @property
    def num_bytes(self) -> int:
        """Bytes of audio received."""
        return self.stream.num_bytes

    @property
    def num_resumed(self) -> int:
        """Number of times the stream was resumed after a lost connection."""
        return self.stream.num_resumed

    @property
    def entered_at_s(self) -> float | None:
        """Time of the request, seconds of ``time.monotonic``."""
        return self.stream.entered_at_s

    @property
    def first_sound_at_s(self) -> float | None:
        """Time of arrival of the first audio, seconds of ``time.monotonic``."""
        return self.stream.first_sound_at_s

    def __enter__(self) -> BlockingStream:
        """Connect if necessary, and start the stream."""
        self._loop.do(self.stream.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel the stream if it is not over."""
        with suppress(Closed):  # the client is closed, so the stream is over
            self._loop.do(self.stream.__aexit__(kind, error, trace))

    def push(self, text: str) -> None:
        """Push more text, cut anywhere."""
        self._loop.do(self.stream.push(text))

    def flush(self) -> None:
        """Speak the pending text without waiting for more."""
        self._loop.do(self.stream.flush())

    def configure(self, **fields: Unpack[ConfigureFields]) -> None:
        """Change options for the text that follows."""
        self._loop.do(self.stream.configure(**fields))

    def end(self) -> None:
        """End the text."""
        self._loop.do(self.stream.end())

    def played(self, position_s: float) -> None:
        """Report the playback position, seconds."""
        self._loop.do(self.stream.played(position_s))

    def cancel(self, position_s: float | None = None) -> Cancelled:
        """Stop immediately."""
        return self._loop.do(self.stream.cancel(position_s))

    def events(self) -> Iterator[Event]:
        """Iterate over all events of the stream, in order."""
        return self._loop.each(self.stream.events())

    def chunks(self) -> Iterator[Chunk]:
        """Iterate over the audio as chunks, like ``for chunk in stream``."""
        return self._loop.each(self.stream.chunks())

    def __iter__(self) -> Iterator[Chunk]:
        """Iterate over the audio as chunks."""
        return self.chunks()
