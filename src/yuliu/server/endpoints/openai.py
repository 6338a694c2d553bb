"""``POST /v1/audio/speech``: one request, one stream, one chunked body.

Nothing is sent before the first sound is there, so that whatever goes wrong until then is a clean error. What goes
wrong later cuts the body off without its last chunk, so that no client takes a part for the whole; where the body is
events, the last of them says what it was.
"""

from __future__ import annotations

import asyncio
import functools
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from yuliu.errors import Closed, NothingToSpeak, YuliuError
from yuliu.server.access_log import AccessRecord
from yuliu.server.encoder_pool import WholeEncoder
from yuliu.server.options import stream_options
from yuliu.server.principal import principal_of
from yuliu.server.pushing import push_text
from yuliu.server.request_body import read_body
from yuliu.server.responses import header_text, headers_of, problem_response, request_id
from yuliu.server.transport.http import cut_off
from yuliu.stream import Caller
from yuliu.types import Cancelled, Coverage, Finished
from yuliu.wire.openai import CODECS, choose_voice, parse_speech, speech_encoding
from yuliu.wire.openai_events import MEDIA_TYPE, done_event, error_event, skipped_characters, sound_events, usage_of
from yuliu.wire.problems import Problem, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from yuliu.audio.formats import Encoding
    from yuliu.server.capacity import BodyReservation
    from yuliu.server.context import ServerContext
    from yuliu.server.encoder_pool import StreamEncoder
    from yuliu.stream import Stream
    from yuliu.types import Chunk
    from yuliu.wire.openai import SpeechRequest


class SpeechBody:
    """Its head goes out with the first bytes of sound.

    Args:
        send: Takes the messages of ASGI.
        account: Is told what was sent.
    """

    def __init__(self, send: Send, account: AccessRecord) -> None:
        self.account = account
        self.started = self.has_sound = self.ended = False
        """Whether anything was sent, whether more than a lead-in was made, and whether the last chunk was sent."""
        self._send = send
        self._lead_in_ms = 0
        self._unsent_s = 0.0
        self._num_characters = 0
        self._events = False
        self._sound: StreamEncoder | WholeEncoder | None = None

    def made_of(self, request: SpeechRequest, sound: StreamEncoder | WholeEncoder) -> None:
        """What it is to be; said once, before the first chunk."""
        self._events = request.stream_format == "sse"
        self._num_characters = len(request.input)
        self._sound = sound

    async def write(self, chunk: Chunk, stream: Stream) -> None:
        """Send a chunk of a stream; waits while the client's connection takes no more.

        Raises:
            SynthesisFailed: The encoder failed.
        """
        sound = self._open_sound
        self.has_sound |= not chunk.lead_in
        if chunk.lead_in:
            self._lead_in_ms = round(1000 * len(chunk.samples) / chunk.sample_rate)
        for piece in sound.pieces(chunk.samples):
            if isinstance(stream.ending, Cancelled):
                return
            data = await sound.write(piece)
            self._unsent_s += len(piece) / chunk.sample_rate
            if data:
                await self._send_sound(data, stream)

    async def finish(self, stream: Stream) -> None:
        """Send what the encoder holds back, and the end of its container.

        Raises:
            SynthesisFailed: The encoder failed.
        """
        data = await self._open_sound.finish()
        if data or not self.started:
            await self._send_sound(data, stream)

    async def end(self, stream: Stream) -> None:
        """Say that the sound is whole: the last event, and the last, empty chunk."""
        audio_s = stream.ending.audio_s if stream.ending is not None else 0.0
        usage = usage_of(self._num_characters, audio_s)
        last = done_event(usage, _skipped(stream)) if self._events else b""
        self.ended = True
        await self._send({"type": "http.response.body", "body": last, "more_body": False})

    async def fail(self, problem: Problem) -> None:
        """Say that the sound is not whole, where there is a way to say it. The body stays without an end even so.

        Programs that read deltas alone and pass over other events (LiveKit's agents) would else take it for whole.
        """
        if self._events:
            await self._send({"type": "http.response.body", "body": error_event(problem), "more_body": True})

    @property
    def _open_sound(self) -> StreamEncoder | WholeEncoder:
        assert self._sound is not None  # noqa: S101 - it is told what it is before it is given sound
        return self._sound

    async def _send_sound(self, data: bytes, stream: Stream) -> None:
        stream.num_bytes += len(data)
        self.account.sending(self._unsent_s, is_sound=self.has_sound)
        self._unsent_s = 0.0
        if not self.started:
            self.started = True
            await self._send(
                {"type": "http.response.start", "status": 200, "headers": self._headers(len(data), stream)}
            )
        body = sound_events(data) if self._events else data
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    def _headers(self, num_bytes: int, stream: Stream) -> list[tuple[bytes, bytes]]:
        encoding = self._open_sound.encoding
        told = {
            "content-type": MEDIA_TYPE if self._events else encoding.media_type,
            "cache-control": "no-store",
            "x-sample-rate": str(encoding.sample_rate),
            "x-channels": str(encoding.num_channels),
            "x-encoding": CODECS[encoding.name],
            "x-request-id": self.account.request_id,
            "x-yuliu-stream": self.account.request_id,
            "x-yuliu-mode": self.account.mode,
            "x-yuliu-lead-in-ms": str(self._lead_in_ms),
            "x-accel-buffering": "no",
        }
        if isinstance(self._sound, WholeEncoder):
            told["content-length"] = str(num_bytes)
            told["x-yuliu-skipped"] = ", ".join(f"{rule}={count}" for rule, count in _skipped(stream).items())
        return [(name.encode("ascii"), value.encode("ascii")) for name, value in told.items()]


def _skipped(stream: Stream) -> dict[str, int]:
    """Characters that a stream which is over did not speak, by rule."""
    return skipped_characters(stream.ending.coverage if stream.ending is not None else Coverage())


DOOR = "speech"
"""Which way in this is, for the metrics."""
THREAD_BYTES = 32_768
"""Longer bodies are parsed on a thread: hostile ones take a tenth of a second."""


class SpeechEndpoint:
    """The ASGI application of the path.

    Args:
        shared: What it has in common with other doors.
    """

    def __init__(self, shared: ServerContext) -> None:
        self._shared = shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        account = AccessRecord(request_id(scope))
        body = SpeechBody(send, account)
        try:
            problem = await self._answer(scope, receive, body)
            if problem is not None and body.started:
                account.broken_off()
                await body.fail(problem)
            elif problem is not None:
                account.refused(problem)
                await problem_response(scope, problem)(scope, receive, send)
            if problem is not None:
                self._shared.metrics.error_told(DOOR, problem.code)
        finally:
            account.close()
        if body.started and not body.ended:
            await cut_off(scope, receive)

    async def _answer(self, scope: Scope, receive: Receive, body: SpeechBody) -> Problem | None:
        """Speak, or say what is wrong."""
        account = body.account
        try:
            synthesizer = self._shared.loading.synthesizer
            with self._shared.rooms.body() as room:
                request = await self._read(scope, receive, room)
                if isinstance(request, Problem):
                    return request
                voice = choose_voice(request, synthesizer.voices, synthesizer.default)
                encoding = speech_encoding(request, synthesizer.sample_rate)
                guest = principal_of(scope)
                options = guest.granted(
                    stream_options(request, self._shared.presets, self._shared.limits), request.manner
                )
                account.accepted(request, voice, options.terms.stream_class)
                with (
                    guest.stream(),
                    guest.text(len(request.input)),
                    self._shared.rooms.stream(options.terms.stream_class),
                    self._sound(request, encoding, synthesizer.sample_rate, room) as sound,
                ):
                    body.made_of(request, sound)
                    words = await asyncio.to_thread(synthesizer.words, options)
                    caller = Caller(DOOR, account.request_id, header_text(scope, b"traceparent"))
                    stream = synthesizer.stream(voice=voice, options=options, words=words, caller=caller)
                    return await _speak(stream, request.input, receive, body)
        except ClientDisconnect:
            account.client_gone()
            return None
        except YuliuError as error:
            return problem_of(error)

    def _sound(
        self, request: SpeechRequest, encoding: Encoding, rate: int, room: BodyReservation
    ) -> StreamEncoder | WholeEncoder:
        if request.stream:
            return self._shared.threads.sound(encoding, rate)
        return self._shared.threads.whole(encoding, rate, room.take)

    async def _read(self, scope: Scope, receive: Receive, room: BodyReservation) -> SpeechRequest | Problem:
        """The request; its body is not kept."""
        limits = self._shared.limits.speech
        body = await read_body(scope, receive, limits.max_body_bytes, take=room.take)
        if isinstance(body, Problem):
            return body
        headers = headers_of(scope)
        parse = functools.partial(parse_speech, body, headers.get("content-type"), limits, headers=headers)
        return parse() if len(body) <= THREAD_BYTES else await asyncio.to_thread(parse)


async def _speak(stream: Stream, text: str, receive: Receive, body: SpeechBody) -> Problem | None:
    """Speak the text to its end, to a failure, or until the client is gone."""
    async with _cancelled_when_gone(receive, stream), stream, asyncio.TaskGroup() as tasks:
        body.account.admitted(stream)
        pushing = tasks.create_task(_push(stream, text))
        failure = await _write_all(stream, body)
        pushing.cancel()
    body.account.ended(stream, failure)
    if failure is not None:
        return problem_of(failure)
    if isinstance(stream.ending, Finished):
        if not body.has_sound:
            raise NothingToSpeak("the input holds nothing that the voice can say", param="input")
        await body.end(stream)
    return None


async def _push(stream: Stream, text: str) -> None:
    """Push all of the text."""
    with suppress(Closed):  # the client left, which this task may learn before it is cancelled
        await push_text(stream, text)
        await stream.end()


@asynccontextmanager
async def _cancelled_when_gone(receive: Receive, stream: Stream) -> AsyncIterator[None]:
    """Watch the client from before its stream is admitted on: one that leaves while it waits frees its place.

    Raises:
        ClientDisconnect: It left before the stream was admitted.
    """
    watching = asyncio.create_task(_cancel_when_gone(receive, stream))
    try:
        yield
    except Closed:
        if not watching.done():
            raise
        raise ClientDisconnect from None
    finally:
        watching.cancel()
        await asyncio.wait([watching])


async def _cancel_when_gone(receive: Receive, stream: Stream) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.cancel()


async def _write_all(stream: Stream, body: SpeechBody) -> YuliuError | None:
    try:
        async for chunk in stream:
            if len(chunk.samples):
                await body.write(chunk, stream)
        if isinstance(stream.ending, Finished) and body.has_sound:
            await body.finish(stream)
    except YuliuError as failure:
        return failure
    return None
