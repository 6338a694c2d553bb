"""Adapters of the endpoints: each speaks one text in one format and records when each piece of audio arrived."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlencode

from websockets.asyncio.client import connect

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import choose_encoding
from yuliu.bench.client import HttpRequest, fetch, json_request, run
from yuliu.bench.encoded import EncodedResponse, TimedPieces, audio_of_events, encoded_response
from yuliu.client import AsyncClient, EncodedSound
from yuliu.wire.native.client_codec import request_text
from yuliu.wire.native.encode import parse_sound_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.audio.formats import Encoding, FormatName
    from yuliu.synthesizer import Synthesizer

TIMEOUT_S = 120.0
EndpointName = Literal["speech", "speech sse", "websocket", "post stream", "client", "library"]
ENDPOINTS: tuple[EndpointName, ...] = get_args(EndpointName)
HEADINGS: Mapping[EndpointName, str] = {
    "speech": "`POST /v1/audio/speech`",
    "speech sse": "the same, `sse`",
    "websocket": "`WS /v1/stream`",
    "post stream": "`POST /v1/stream`",
    "client": "`AsyncClient`",
    "library": "library",
}
"""Names in tables."""


@dataclass(frozen=True, slots=True)
class BenchTarget:
    """A server and a library that speak the same voice."""

    port: int
    """Loopback port of the server."""
    synthesizer: Synthesizer
    """The library, in this process."""
    voice: str

    def speak(self, endpoint: EndpointName, text: str, name: FormatName) -> EncodedResponse:
        """Speak a text and wait for all of it. Connecting is not timed.

        Raises:
            RuntimeError: The response holds no audio.
        """
        encoding = choose_encoding(name, self.synthesizer.sample_rate)
        return encoded_response(encoding, self.synthesizer.sample_rate, _ADAPTERS[endpoint](self, text, encoding))


def _speech(target: BenchTarget, text: str, encoding: Encoding) -> TimedPieces:
    return _post_speech(target, text, {"response_format": encoding.name})


def _speech_events(target: BenchTarget, text: str, encoding: Encoding) -> TimedPieces:
    options = {"response_format": encoding.name, "stream_format": "sse"}
    return list(audio_of_events(_post_speech(target, text, options)))


def _post_speech(target: BenchTarget, text: str, options: Mapping[str, str]) -> TimedPieces:
    fields = {"model": "yuliu", "input": text, "voice": target.voice, **options}
    return list(fetch(target.port, json_request("/v1/audio/speech", fields), timeout_s=TIMEOUT_S).pieces())


def _post_stream(target: BenchTarget, text: str, encoding: Encoding) -> TimedPieces:
    query = urlencode({"voice": target.voice, "format": encoding.name})
    request = HttpRequest(f"/v1/stream?{query}", text.encode(), {"Content-Type": "text/plain"})
    return list(fetch(target.port, request, timeout_s=TIMEOUT_S).pieces())


def _websocket(target: BenchTarget, text: str, encoding: Encoding) -> TimedPieces:
    """Use a WebSocket library that knows nothing of Yuliu."""
    start = request_text("start", "a", voice=target.voice, format=encoding.name)
    messages = (start, request_text("text", "a", text=text), request_text("end", "a"))

    async def talk() -> TimedPieces:
        pieces = []
        async with connect(f"ws://127.0.0.1:{target.port}/v1/stream", compression=None, proxy=None) as socket:
            began_s = time.perf_counter()
            for message in messages:
                await socket.send(message)
            async for frame in socket:
                if isinstance(frame, bytes):
                    pieces.append((time.perf_counter() - began_s, bytes(parse_sound_frame(frame).data)))
                elif _is_last(json.loads(frame)):
                    break
        return pieces

    return run(talk())


def _is_last(message: Mapping[str, object]) -> bool:
    if message["type"] == "error":
        raise RuntimeError(f"the server failed: {message['code']}")
    return message["type"] == "done"


def _client(target: BenchTarget, text: str, encoding: Encoding) -> TimedPieces:
    async def talk() -> TimedPieces:
        async with AsyncClient(f"http://127.0.0.1:{target.port}") as client:
            await client.clock(1)  # connects
            began_s = time.perf_counter()
            async with client.stream(voice=target.voice, format=encoding.name) as stream:
                await stream.push(text)
                await stream.end()
                return [
                    (time.perf_counter() - began_s, event.data)
                    async for event in stream.events()
                    if isinstance(event, EncodedSound)
                ]

    return run(talk())


def _library(target: BenchTarget, text: str, encoding: Encoding) -> TimedPieces:
    """Use no server; chunks are encoded where they arrive."""

    async def talk() -> TimedPieces:
        began_s = time.perf_counter()
        async with target.synthesizer.stream(voice=target.voice) as stream:
            await stream.push(text)
            await stream.end()
            with Encoder(encoding, target.synthesizer.sample_rate) as encoder:
                pieces = [
                    (data, time.perf_counter() - began_s)
                    async for chunk in stream
                    if (data := encoder.write(chunk.samples))
                ]
                pieces.append((encoder.finish(), time.perf_counter() - began_s))
        return [(at_s, data) for data, at_s in pieces]

    return run(talk())


_ADAPTERS: Mapping[EndpointName, Callable[[BenchTarget, str, Encoding], TimedPieces]] = {
    "speech": _speech,
    "speech sse": _speech_events,
    "websocket": _websocket,
    "post stream": _post_stream,
    "client": _client,
    "library": _library,
}
