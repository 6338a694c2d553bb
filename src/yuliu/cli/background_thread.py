"""Blocking calls beside a running loop, on a thread that never keeps the program from ending.

``asyncio.to_thread`` will not do: the loop waits for its threads when it ends, so that a Ctrl-C while standard input
is quiet, or while the reader of a pipe has stopped reading, would hang until somebody else moves.
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
    """Runs calls one after the other, in the order they were given. A call that never returns is left behind.

    Args:
        name: The thread's name, for debuggers.
    """

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    async def run(self, call: Callable[[], T]) -> T:
        """Call it and wait for what it returns or raises. If the waiting task is cancelled the call goes on alone."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def perform() -> None:
            try:
                outcome = call()
            except Exception as error:  # noqa: BLE001 - handed on whole to the task that waits
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

    with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
        loop.call_soon_threadsafe(unless_cancelled)
