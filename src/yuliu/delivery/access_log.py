"""The access log: one line for each delivery, refused ones included. It never holds the text."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING

from yuliu.errors import Overloaded, SynthesisFailed
from yuliu.logger import Fixed, event_logger
from yuliu.types import Cancelled, Failed, Finished

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.errors import YuliuError
    from yuliu.stream import Caller
    from yuliu.types import Ending

_log = event_logger(__name__)

_ENDINGS: Mapping[type[Ending], str] = {Finished: "finished", Failed: "failed", Cancelled: "cancelled"}


class AccessRecord:
    """Facts of one delivery, collected on its way.

    Args:
        caller: The protocol, which names the event, and the id that the client knows.
    """

    def __init__(self, caller: Caller) -> None:
        self.status: int | None = None
        """Status that the protocol answered with; 0 if it sent nothing, None if it has no statuses."""
        self.num_characters: int = 0
        self.num_bytes: int = 0
        """Encoded bytes sent."""
        self._caller = caller
        self._since_s = time.perf_counter()
        self._voice: str | None = None
        self._format: str | None = None
        self._stream_class: str | None = None
        self._mode: str | None = None
        self._num_skipped = 0
        self._audio_s = 0.0
        self._ttfp_s: float | None = None
        self._retry_s: float | None = None
        self._ending = "aborted"
        self._is_written = False

    @property
    def has_sent(self) -> bool:
        """True once any audio was sent."""
        return self.num_bytes > 0

    def accepted(self, voice: str, audio_format: str, stream_class: str) -> None:
        """Note what was accepted. The time to the first packet runs from here, or from the first text."""
        self._since_s = time.perf_counter()
        self._voice, self._format, self._stream_class = voice, audio_format, stream_class

    def written(self, num_characters: int) -> None:
        """Note the length of the text received so far."""
        if not self.num_characters:
            self._since_s = time.perf_counter()
        self.num_characters = num_characters

    def admitted(self, *, degraded: bool) -> None:
        """Note that the scheduler carries the stream."""
        self._mode = "throughput" if degraded else "normal"

    def sending(self, num_bytes: int, audio_s: float, *, is_sound: bool) -> None:
        """Note audio that is about to be sent.

        Args:
            num_bytes: Encoded size.
            audio_s: Length.
            is_sound: Whether more than a lead-in was made so far.
        """
        if self._ttfp_s is None and is_sound:
            self._ttfp_s = time.perf_counter() - self._since_s
        self.num_bytes += num_bytes
        self._audio_s += audio_s

    def ended(self, ending: Ending) -> None:
        """Note how the stream ended."""
        self._ending = _ENDINGS[type(ending)]
        self._num_skipped = sum(skip.source.end - skip.source.start for skip in ending.coverage.skipped)

    def failed(self, error: YuliuError) -> None:
        """Note the error that refused or ended the delivery."""
        self._ending = error.code
        self._retry_s = error.retry_after_s if isinstance(error, Overloaded) else None
        if isinstance(error, SynthesisFailed):
            cause, place = _origin(error)
            _log.error("synthesis_failed", id=self._caller.stream_id, cause=cause, at=place)

    def cancelled(self) -> None:
        """Note that the client left or stopped the delivery before there was a stream."""
        self._ending = "cancelled"

    def close(self) -> None:
        """Write the line, once."""
        if self._is_written:
            return
        self._is_written = True
        _log.info(
            self._caller.door,
            id=self._caller.stream_id,
            voice=self._voice,
            format=self._format,
            characters=self.num_characters,
            skipped=self._num_skipped,
            bytes=self.num_bytes,
            **{"class": self._stream_class},
            mode=self._mode,
            audio_s=Fixed(self._audio_s, 3),
            ttfp_ms=None if self._ttfp_s is None else round(1000 * self._ttfp_s, 1),
            retry_s=None if self._retry_s is None else round(self._retry_s, 1),
            status=self.status,
            ending=self._ending,
        )


def _origin(failure: YuliuError) -> tuple[str, str]:
    """Return the class and the place of the error at fault, without its message, which might quote the text."""
    cause = failure.__cause__ or failure
    frames = traceback.extract_tb(cause.__traceback__)
    where = f"{frames[-1].filename.rpartition('/')[-1]}:{frames[-1].lineno}" if frames else "unknown"
    return type(cause).__name__, where
