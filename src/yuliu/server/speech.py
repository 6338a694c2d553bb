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
from yuliu.server.account import Account
from yuliu.server.answers import header_text, headers_of, problem_answer, request_id
from yuliu.server.bodies import read_body
from yuliu.server.connection import cut_off
from yuliu.server.guests import guest_of
from yuliu.server.options import stream_options
from yuliu.server.pushing import push_text
from yuliu.server.speech_body import SpeechBody
from yuliu.session import Caller
from yuliu.types import Finished
from yuliu.wire.openai import choose_voice, parse_speech, speech_encoding
from yuliu.wire.problems import Problem, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from yuliu.audio.formats import Encoding
    from yuliu.server.rooms import BodyRoom
    from yuliu.server.shared import Shared
    from yuliu.server.sound import Sound, WholeSound
    from yuliu.session import Stream
    from yuliu.wire.openai import SpeechRequest

DOOR = "speech"
"""Which way in this is, for the metrics."""
THREAD_BYTES = 32_768
"""Longer bodies are parsed on a thread: hostile ones take a tenth of a second."""


class Speech:
    """The ASGI application of the path.

    Args:
        shared: What it has in common with other doors.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        account = Account(request_id(scope))
        body = SpeechBody(send, account)
        try:
            problem = await self._answer(scope, receive, body)
            if problem is not None and body.started:
                account.broken_off()
                await body.fail(problem)
            elif problem is not None:
                account.refused(problem)
                await problem_answer(scope, problem)(scope, receive, send)
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
            speaker = self._shared.loading.speaker
            with self._shared.rooms.body() as room:
                request = await self._read(scope, receive, room)
                if isinstance(request, Problem):
                    return request
                voice = choose_voice(request, speaker.voices, speaker.default)
                encoding = speech_encoding(request, speaker.sample_rate)
                guest = guest_of(scope)
                options = guest.granted(
                    stream_options(request, self._shared.presets, self._shared.limits), request.manner
                )
                account.accepted(request, voice, options.terms.stream_class)
                with (
                    guest.stream(),
                    guest.text(len(request.input)),
                    self._shared.rooms.stream(options.terms.stream_class),
                    self._sound(request, encoding, speaker.sample_rate, room) as sound,
                ):
                    body.made_of(request, sound)
                    words = await asyncio.to_thread(speaker.words, options)
                    caller = Caller(DOOR, account.request_id, header_text(scope, b"traceparent"))
                    stream = speaker.stream(voice=voice, options=options, words=words, caller=caller)
                    return await _speak(stream, request.input, receive, body)
        except ClientDisconnect:
            account.client_gone()
            return None
        except YuliuError as error:
            return problem_of(error)

    def _sound(self, request: SpeechRequest, encoding: Encoding, rate: int, room: BodyRoom) -> Sound | WholeSound:
        if request.stream:
            return self._shared.threads.sound(encoding, rate)
        return self._shared.threads.whole(encoding, rate, room.take)

    async def _read(self, scope: Scope, receive: Receive, room: BodyRoom) -> SpeechRequest | Problem:
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
