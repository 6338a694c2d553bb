"""``POST /v1/stream``: text comes in the request's body while it is written, sound goes out in the answer meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import structs

from yuliu.errors import NothingToSpeak, TimedOut, YuliuError
from yuliu.server.transport.http import SLOW_BODY
from yuliu.wire.native import messages as said
from yuliu.wire.native.replay_buffer import EncodedPiece
from yuliu.wire.problems import STATUS, UNEXPECTED, Problem, problem_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

    from yuliu.server.native.resumable import ResumableStream
    from yuliu.wire.native.body_codec import Body
    from yuliu.wire.native.messages import ForText


class BodyConnection:
    """One request.

    Args:
        open_stream: Makes a stream from a ``start``; may raise.
        body: Reads what arrives.
        idle_s: How long is waited for the body to begin; then the stream itself waits for text.
    """

    def __init__(self, open_stream: Callable[[said.Start], ResumableStream], body: Body, *, idle_s: float) -> None:
        self._idle_s = idle_s
        self._open_stream = open_stream
        self._body = body
        self._stream: ResumableStream | None = None
        self._awake = asyncio.Event()
        self._begun: said.Started | None = None
        self._problem: Problem | None = None
        self.answering = False
        """Whether any of the answer was sent."""

    def wake(self) -> None:
        """There is something to be sent."""
        self._awake.set()

    def lost(self, stream: ResumableStream) -> None:
        """Nobody can take it over: its client asked not to be waited for."""

    async def run(self, scope: Scope, receive: Receive, send: Send) -> Problem | None:
        """Speak until all is sent, or the client is gone; else what is wrong."""
        extension = scope.get("extensions", {}).get(SLOW_BODY)
        if extension is not None:
            extension["allow"]()
        tasks = [asyncio.create_task(self._read(receive)), asyncio.create_task(self._write(send))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            if self._stream is not None and not self._stream.task.done():
                self._stream.cancel()
        for task in tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error
        return self._problem

    async def _read(self, receive: Receive) -> None:
        """Take the body, and go on until the client is gone."""
        try:
            async with asyncio.timeout(self._idle_s) as beginning:
                await self._read_all(receive, beginning)
        except TimeoutError:
            self._problem = problem_of(TimedOut(f"the body did not begin within {self._idle_s:g} s"))
        except YuliuError as error:
            if self._stream is not None:
                self._stream.fail(error)
                await asyncio.Event().wait()  # it is told by whoever writes, after what was made before
            self._problem = problem_of(error)

    async def _read_all(self, receive: Receive, beginning: asyncio.Timeout) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            if self._stream is None or not self._stream.text_ended:
                self._take(self._body.push(message.get("body", b"")))
                if not message.get("more_body", False) and not (self._stream and self._stream.text_ended):
                    self._take(self._body.finish())
            if self._stream is not None:
                beginning.reschedule(None)

    def _take(self, messages: list[said.Start | ForText]) -> None:
        for message in messages:
            if isinstance(message, said.Start):
                self._stream = self._open_stream(structs.replace(message, timings=False, resume_s=0.0))
                self._stream.attach(self)
                self.wake()
            elif self._stream is not None and not self._stream.text_ended:
                self._stream.take(message)

    async def _write(self, send: Send) -> None:
        while True:
            self._awake.clear()
            stream = self._stream
            while stream is not None and (record := stream.window.next(asyncio.get_running_loop().time())) is not None:
                if await self._send(record, stream, send):
                    return
                if not stream.window.has_unsent:
                    stream.all_sent()
            await self._awake.wait()

    async def _send(self, record: EncodedPiece | said.Told, stream: ResumableStream, send: Send) -> bool:
        """Send what of a record goes into a body; whether it was the last."""
        match record:
            case EncodedPiece(data=data):
                if not self.answering:
                    self.answering = True
                    await send({"type": "http.response.start", "status": 200, "headers": self._headers(stream)})
                await send({"type": "http.response.body", "body": data, "more_body": True})
            case said.Started():
                self._begun = record
            case said.Done() if self.answering and stream.has_sound:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return True
            case said.Done():
                self._problem = problem_of(NothingToSpeak("the text holds nothing that the voice can say"))
                return True
            case said.Failure():
                self._problem = _problem(record)
                return True
        return False

    def _headers(self, stream: ResumableStream) -> list[tuple[bytes, bytes]]:
        begun = self._begun or said.Started()
        values = {
            "content-type": begun.media_type,
            "cache-control": "no-store",
            "x-sample-rate": begun.sample_rate,
            "x-channels": begun.channels,
            "x-request-id": stream.stream_id,
            "x-yuliu-stream": stream.stream_id,
            "x-yuliu-mode": begun.mode,
            "x-accel-buffering": "no",
        }
        return [(name.encode("ascii"), str(value).encode("ascii")) for name, value in values.items()]


def _problem(failure: said.Failure) -> Problem:
    status = STATUS.get(failure.code, UNEXPECTED.status)
    return Problem(status, failure.code, failure.message, failure.param, failure.retry_after_s)
