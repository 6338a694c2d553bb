"""What a speech request came to: one line in the log, never the text."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING

from yuliu.errors import SynthesisFailed
from yuliu.logger import Fixed, event_logger
from yuliu.types import Cancelled, Failed, Finished, StreamClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.errors import YuliuError
    from yuliu.stream import Stream
    from yuliu.types import Ending
    from yuliu.wire.openai import SpeechRequest
    from yuliu.wire.problems import Problem

_log = event_logger(__name__)

_ENDINGS: Mapping[type[Ending], str] = {Finished: "finished", Failed: "failed", Cancelled: "cancelled"}


class AccessRecord:
    """Facts of one speech request, gathered on its way.

    Args:
        request_id: Told to the client as ``X-Request-Id``.
    """

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self._since_s = time.perf_counter()
        self._voice: str | None = None
        self._format: str | None = None
        self.stream_class = StreamClass.STANDARD
        """That of its stream; not known before the request was read."""
        self.mode = "-"
        """``throughput`` if the stream is spoken in whole sentences and larger steps, else ``normal``."""
        self._num_characters = self._num_skipped = 0
        self._audio_s = 0.0
        self._ttfp_s: float | None = None
        self._retry_s: float | None = None
        self._status = 0
        self._ending = "aborted"

    def accepted(self, request: SpeechRequest, voice: str, stream_class: StreamClass) -> None:
        """The request arrived whole and can be served; the time to the first packet counts from here."""
        self._since_s = time.perf_counter()
        self._voice, self._format, self.stream_class = voice, request.response_format, stream_class
        self._num_characters = len(request.input)

    def refused(self, problem: Problem) -> None:
        """Nothing was sent but a problem."""
        self._status, self._ending, self._retry_s = problem.status, problem.code, problem.retry_after_s

    def broken_off(self) -> None:
        """What was sent is not whole."""
        self._ending = "failed"

    def admitted(self, stream: Stream) -> None:
        """The stream is carried."""
        self.mode = "throughput" if stream.degraded else "normal"

    def sending(self, audio_s: float, *, is_sound: bool) -> None:
        """So much more sound is about to be sent; whether it is more than a lead-in."""
        self._status = 200
        if self._ttfp_s is None and is_sound:
            self._ttfp_s = time.perf_counter() - self._since_s
        self._audio_s += audio_s

    def ended(self, stream: Stream, failure: YuliuError | None) -> None:
        """The stream is over."""
        if stream.ending is not None:
            self._ending = _ENDINGS[type(stream.ending)]
            skipped = stream.ending.coverage.skipped
            self._num_skipped = sum(skip.source.end - skip.source.start for skip in skipped)
        if isinstance(failure, SynthesisFailed):
            cause, place = _origin(failure)
            _log.error("synthesis_failed", id=self.request_id, cause=cause, at=place)

    def client_gone(self) -> None:
        """The client went away before its request was whole."""
        self._ending = "cancelled"

    def close(self) -> None:
        """Write the line. ``status=0`` means that nothing was sent."""
        _log.info(
            "speech",
            id=self.request_id,
            voice=self._voice,
            format=self._format,
            characters=self._num_characters,
            skipped=self._num_skipped,
            **{"class": None if self._voice is None else self.stream_class.value},
            mode=None if self.mode == "-" else self.mode,
            audio_s=Fixed(self._audio_s, 3),
            ttfp_ms=None if self._ttfp_s is None else round(1000 * self._ttfp_s, 1),
            retry_s=None if self._retry_s is None else round(self._retry_s, 1),
            status=self._status,
            ending=self._ending,
        )


def _origin(failure: YuliuError) -> tuple[str, str]:
    """Return the class and the place of the error, without its message, which might quote the text."""
    cause = failure.__cause__ or failure
    frames = traceback.extract_tb(cause.__traceback__)
    where = f"{frames[-1].filename.rpartition('/')[-1]}:{frames[-1].lineno}" if frames else "unknown"
    return type(cause).__name__, where
