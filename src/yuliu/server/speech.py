"""``POST /v1/audio/speech``: one request, one stream, one chunked body.

Nothing is sent before the first sound is there, so that whatever goes wrong until then is a clean error. What goes
wrong later cuts the body off without its last chunk, so that no client takes a part for the whole.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from yuliu.audio.pcm import to_s16le
from yuliu.errors import Closed, NothingToSpeak, Overloaded, SynthesisFailed, YuliuError
from yuliu.server.account import Account
from yuliu.server.answers import header, problem_answer, request_id
from yuliu.session import StreamOptions
from yuliu.types import Finished, SpeakOptions
from yuliu.wire.openai import MEDIA_TYPES, choose_voice, parse_speech, sound_head
from yuliu.wire.problems import Problem, body_too_large, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

    from yuliu.server.limits import Limits
    from yuliu.server.loading import Loading
    from yuliu.session import Stream
    from yuliu.types import Chunk
    from yuliu.wire.openai import SpeechRequest


PIECE_NUM_CHARS = 512
"""So much text is read at a time: about 5 ms of work, in which no other connection is served."""


class Speech:
    """The ASGI application of the path.

    Args:
        loading: Where the speaker comes from.
        limits: What is taken at once.
    """

    def __init__(self, loading: Loading, limits: Limits) -> None:
        self._loading = loading
        self._limits = limits
        self._num_streams = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        account = Account(request_id(scope))
        try:
            problem = await self._answer(scope, receive, send, account)
            if problem is not None:
                account.refused(problem)
                await problem_answer(scope, problem)(scope, receive, send)
        finally:
            account.close()

    async def _answer(self, scope: Scope, receive: Receive, send: Send, account: Account) -> Problem | None:
        """Speak, or say why nothing was sent."""
        try:
            speaker = self._loading.speaker
            body = await read_body(scope, receive, self._limits.speech.max_body_bytes)
            if isinstance(body, Problem):
                return body
            request = parse_speech(body, content_type(scope), self._limits.speech)
            voice = choose_voice(request, speaker.voices, speaker.default)
            account.accepted(request, voice)
            options = StreamOptions(
                speak=SpeakOptions(speed=request.speed),
                lexicon=request.lexicon,
                lexicon_entries=request.lexicon_entries,
                stall_s=math.inf,  # all of the text is there: no sentence is cut because its turn comes late
            )
            with self._slot():
                words = await asyncio.to_thread(speaker.words, options)
                async with speaker.stream(voice=voice, options=options, words=words) as stream:
                    return await _speak(stream, request, receive, SpeechBody(send, account, request))
        except ClientDisconnect:
            account.client_gone()
            return None
        except YuliuError as error:
            return problem_of(error)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """One of the streams that may be spoken at a time."""
        if self._num_streams >= self._limits.max_streams:
            message = f"{self._num_streams} streams are being spoken, which is the limit; try again"
            raise Overloaded(message, retry_after_s=1.0)
        self._num_streams += 1
        try:
            yield
        finally:
            self._num_streams -= 1


class SpeechBody:
    """The chunked body on its way: its head goes out with the first sound."""

    def __init__(self, send: Send, account: Account, request: SpeechRequest) -> None:
        self.account = account
        self.started = False
        """Whether anything was sent."""
        self._send = send
        self._format = request.response_format

    async def write(self, chunk: Chunk) -> None:
        """Send a chunk; waits while the client's connection takes no more."""
        sound = to_s16le(chunk.samples)
        self.account.sending(chunk)
        if not self.started:
            self.started = True
            await self._send(
                {"type": "http.response.start", "status": 200, "headers": self._headers(chunk.sample_rate)}
            )
            sound = sound_head(self._format, chunk.sample_rate) + sound
        await self._send({"type": "http.response.body", "body": sound, "more_body": True})

    async def end(self) -> None:
        """Send the last, empty chunk, which says that the sound is whole."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _headers(self, sample_rate: int) -> list[tuple[bytes, bytes]]:
        return [
            (b"content-type", MEDIA_TYPES[self._format].encode("ascii")),
            (b"cache-control", b"no-store"),
            (b"x-sample-rate", str(sample_rate).encode("ascii")),
            (b"x-channels", b"1"),
            (b"x-encoding", b"pcm_s16le"),
            (b"x-request-id", self.account.request_id.encode("ascii")),
            (b"x-accel-buffering", b"no"),
        ]


async def _speak(stream: Stream, request: SpeechRequest, receive: Receive, body: SpeechBody) -> Problem | None:
    """Speak the text to its end, to a failure, or until the client is gone."""
    async with asyncio.TaskGroup() as tasks:
        beside = [
            tasks.create_task(_push(stream, request.input)),
            tasks.create_task(_cancel_when_gone(receive, stream)),
        ]
        failure = await _write_all(stream, body)
        for task in beside:
            task.cancel()
    body.account.ended(stream.ending, failure)
    if failure is not None:
        return None if body.started else problem_of(failure)  # a body without its end is cut off by the HTTP server
    if isinstance(stream.ending, Finished):
        if not body.started:
            raise NothingToSpeak("the input holds nothing that the voice can say", param="input")
        await body.end()
    return None


async def _push(stream: Stream, text: str) -> None:
    """Push all of the text, a piece at a time, letting others have their turn between: reading a text takes time."""
    with suppress(Closed):  # the client left, which this task may learn before it is cancelled
        for at in range(0, len(text), PIECE_NUM_CHARS):
            await stream.push(text[at : at + PIECE_NUM_CHARS])
            await asyncio.sleep(0)
        await stream.end()


async def _cancel_when_gone(receive: Receive, stream: Stream) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.cancel()


async def _write_all(stream: Stream, body: SpeechBody) -> SynthesisFailed | None:
    try:
        async for chunk in stream:
            if len(chunk.samples):
                await body.write(chunk)
    except SynthesisFailed as failure:
        return failure
    return None


async def read_body(scope: Scope, receive: Receive, max_bytes: int) -> bytes | Problem:
    """The whole body; a problem if it is too large, before more of it than allowed is held.

    Raises:
        ClientDisconnect: The client is gone.
    """
    declared = header(scope, b"content-length")
    if declared is not None and declared.isdigit() and int(declared) > max_bytes:
        return body_too_large(max_bytes)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > max_bytes:
            return body_too_large(max_bytes)
        if not message.get("more_body", False):
            return bytes(body)


def content_type(scope: Scope) -> str | None:
    """The header of that name."""
    value = header(scope, b"content-type")
    return None if value is None else value.decode("latin-1")
