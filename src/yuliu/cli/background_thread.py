"""Thread for blocking calls beside an event loop, which never keeps the program from ending.

``asyncio.to_thread`` does not fit: the loop waits for its threads when it ends, so a Ctrl-C would hang while standard
input is silent, or while the reader of a pipe has stopped reading.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
V = TypeVar("V")


class BackgroundThread:
    """Runs calls one after the other, in order. A call that never returns is abandoned at exit.

    Args:
        name: Name of the thread, for debuggers.
    """

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    async def run(self, call: Callable[[], T]) -> T:
        """Run a call and wait for its result. If the waiting task is cancelled, the call continues on its own."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def perform() -> None:
            try:
                outcome = call()
            except Exception as error:  # noqa: BLE001 - passed on unchanged to the waiting task
                _settle(loop, future, future.set_exception, error)
            else:
                _settle(loop, future, future.set_result, outcome)

        self._calls.put(perform)
        return await future

    def _run(self) -> None:
        while True:
            self._calls.get()()


def _settle(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[T], settle: Callable[[V], None], outcome: V
) -> None:
    def unless_cancelled() -> None:
        if not future.done():
            settle(outcome)

    with suppress(RuntimeError):  # the loop is closed, so no task waits any more
        loop.call_soon_threadsafe(unless_cancelled)
