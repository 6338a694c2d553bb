"""Voices that are being loaded, while the port is open already."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from yuliu.errors import VoiceNotReady, YuliuError
from yuliu.logger import event_logger
from yuliu.wire.openai import VoiceEntry

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.synthesizer import Synthesizer

_log = event_logger(__name__)


class Loading:
    """A synthesizer that is loaded on a thread.

    Args:
        load: Returns a synthesizer, loaded and warm. Called once.
    """

    def __init__(self, load: Callable[[], Synthesizer]) -> None:
        self._load = load
        self._task: asyncio.Task[Synthesizer] | None = None

    def start(self) -> None:
        """Begin to load. Needs a running loop."""
        self._task = asyncio.create_task(asyncio.to_thread(self._load))
        self._task.add_done_callback(_report)

    def synthesizer(self) -> Synthesizer:
        """Return the synthesizer.

        Raises:
            VoiceNotReady: It is not loaded yet, or loading failed for a reason that only the log may tell.
            YuliuError: Loading failed for this reason.
        """
        if self._task is None or not self._task.done():
            raise VoiceNotReady("voices are being loaded; try again in a moment")
        error = self._task.exception()
        if isinstance(error, YuliuError):
            raise error
        if error is not None:
            raise VoiceNotReady("voices could not be loaded; see the server's log") from error
        return self._task.result()

    def voices(self) -> list[VoiceEntry]:
        """Return the loaded voices. Raises as :meth:`synthesizer` does."""
        synthesizer = self.synthesizer()
        return [
            VoiceEntry(name, synthesizer.languages(name), synthesizer.rate(name), name == synthesizer.default)
            for name in synthesizer.voices
        ]

    async def close(self) -> None:
        """Wait until loading is over, and close the synthesizer."""
        if self._task is None:
            return
        await asyncio.wait([self._task])
        if self._task.exception() is None:
            await asyncio.to_thread(self._task.result().close)


def _report(task: asyncio.Task[Synthesizer]) -> None:
    if task.cancelled():
        return
    error = task.exception()
    if error is None:
        _log.info("ready", voices=",".join(task.result().voices))
    elif isinstance(error, YuliuError):
        _log.error("loading_failed", code=error.code, message=error.message)
    else:
        _log.error("loading_failed", exc_info=error)
