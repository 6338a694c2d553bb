"""The client without ``async``: the same calls, which block, on a thread of its own that has the loop."""

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
    from yuliu.client.fields import ConfigFields, StartFields
    from yuliu.client.stream import ClientStream
    from yuliu.client.transport import Transport
    from yuliu.synthesizer import Audio
    from yuliu.types import Cancelled, Chunk, Ending
    from yuliu.wire.native.messages import Done, Started

T = TypeVar("T")


class _Loop:
    """An event loop on a thread."""

    def __init__(self) -> None:
        self._closing = threading.Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="yuliu-client", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Do it there and wait; an interrupt here cancels it there.

        Raises:
            Closed: The loop was closed, maybe meanwhile.
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
        """Take items one after the other."""
        nothing = object()

        async def following() -> T | object:
            return await anext(items, nothing)

        while (item := self.do(following())) is not nothing:
            yield item  # type: ignore[misc] # it is not nothing

    def close(self) -> None:
        """End what is being done there, and the thread. Only the first call does anything."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end_others() -> None:
    """Cancel all other tasks of this loop: threads wait for them."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others)


def _closed() -> Closed:
    return Closed("the client was closed")


class Client:
    """As :class:`AsyncClient`; enter it with ``with``. May be used by several threads.

    Args:
        server: The server's address, or how to reach it.
        retry: How a connection that was lost, or cut while it was made, is made again.

    Raises:
        InvalidRequest: The address is none.
    """

    def __init__(self, server: str | Transport, *, retry: Retry | None = None) -> None:
        self._client = AsyncClient(server, retry=retry)
        self._loop = _Loop()

    def __enter__(self) -> Client:
        """Nothing is done yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As :meth:`close`."""
        self.close()

    def close(self) -> None:
        """Close all connections and end the thread; what other threads wait for ends with ``Closed``."""
        with suppress(Closed):  # it is closed twice
            self._loop.do(self._client.close())
        self._loop.close()

    def speak(self, text: str, **fields: Unpack[StartFields]) -> Audio:
        """A whole text, spoken. Raises as :meth:`AsyncClient.speak` does."""
        return self._loop.do(self._client.speak(text, **fields))

    def stream(self, **fields: Unpack[StartFields]) -> BlockingStream:
        """A new stream; enter it with ``with``. Raises as :meth:`AsyncClient.stream` does."""
        return BlockingStream(self._loop, self._client.stream(**fields))

    def clock(self, num_round_trips: int = NUM_ROUND_TRIPS) -> ClockOffset:
        """As :meth:`AsyncClient.clock`."""
        return self._loop.do(self._client.clock(num_round_trips))


class BlockingStream:
    """As :class:`ClientStream`. One thread may push while another reads.

    Args:
        loop: That of its client.
        stream: What it is the face of.
    """

    def __init__(self, loop: _Loop, stream: ClientStream) -> None:
        self._loop = loop
        self.stream: ClientStream = stream
        """The stream itself."""

    @property
    def context(self) -> str:
        """Its name on the connection."""
        return self.stream.context

    @property
    def started(self) -> Started | None:
        """What the server says of it, once it is carried."""
        return self.stream.started

    @property
    def ending(self) -> Ending | None:
        """How it ended, once it has."""
        return self.stream.ending

    @property
    def done(self) -> Done | None:
        """The server's account of a stream that was finished."""
        return self.stream.done

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.stream.is_over

    @property
    def num_bytes(self) -> int:
        """Of sound, that were received."""
        return self.stream.num_bytes

    @property
    def num_resumed(self) -> int:
        """How often it went on after a drop."""
        return self.stream.num_resumed

    @property
    def entered_at_s(self) -> float | None:
        """When it was asked for, seconds of ``time.monotonic``."""
        return self.stream.entered_at_s

    @property
    def first_sound_at_s(self) -> float | None:
        """When the first sound was received."""
        return self.stream.first_sound_at_s

    def __enter__(self) -> BlockingStream:
        """Connect if need be, and ask for the stream."""
        self._loop.do(self.stream.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel it if it is not over."""
        with suppress(Closed):  # with its client, and so is over
            self._loop.do(self.stream.__aexit__(kind, error, trace))

    def push(self, text: str) -> None:
        """More text, cut anywhere."""
        self._loop.do(self.stream.push(text))

    def flush(self) -> None:
        """Speak what was pushed as it is."""
        self._loop.do(self.stream.flush())

    def configure(self, **fields: Unpack[ConfigFields]) -> None:
        """Cut or speak otherwise from now on."""
        self._loop.do(self.stream.configure(**fields))

    def end(self) -> None:
        """No more text will come."""
        self._loop.do(self.stream.end())

    def played(self, position_s: float) -> None:
        """Tell how much the listener has heard, seconds."""
        self._loop.do(self.stream.played(position_s))

    def cancel(self, position_s: float | None = None) -> Cancelled:
        """Stop at once."""
        return self._loop.do(self.stream.cancel(position_s))

    def events(self) -> Iterator[Event]:
        """All that is told of it, in order."""
        return self._loop.each(self.stream.events())

    def chunks(self) -> Iterator[Chunk]:
        """Its sound as chunks; what ``for chunk in stream`` gives."""
        return self._loop.each(self.stream.chunks())

    def __iter__(self) -> Iterator[Chunk]:
        """As :meth:`chunks`."""
        return self.chunks()
