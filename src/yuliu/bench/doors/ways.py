"""The ways in: each speaks one text in one format, and tells what was heard when."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlencode

from websockets.asyncio.client import connect

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import choose_encoding
from yuliu.bench.doors.heard import Heard, heard, sound_of_events
from yuliu.bench.load.point import run
from yuliu.bench.probe import TIMEOUT_S
from yuliu.client import AsyncClient, EncodedSound
from yuliu.wire.native.client_codec import request_text
from yuliu.wire.native.encode import parse_sound_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.audio.formats import Encoding, FormatName
    from yuliu.synthesizer import Synthesizer

DoorName = Literal["speech", "speech sse", "websocket", "post stream", "client", "library"]
DOORS: tuple[DoorName, ...] = get_args(DoorName)
HEADINGS: Mapping[DoorName, str] = {
    "speech": "`POST /v1/audio/speech`",
    "speech sse": "the same, `sse`",
    "websocket": "`WS /v1/stream`",
    "post stream": "`POST /v1/stream`",
    "client": "`AsyncClient`",
    "library": "library",
}
"""What people call them."""
Pieces = list[tuple[float, bytes]]
"""What came, each with its moment: seconds since the request was sent."""


@dataclass(frozen=True, slots=True)
class House:
    """What the doors lead to."""

    port: int
    """Of a server on this machine."""
    synthesizer: Synthesizer
    """In this process."""
    voice: str

    def take(self, door: DoorName, text: str, name: FormatName) -> Heard:
        """Speak a text, and wait for all of it. Connecting is not timed.

        Raises:
            RuntimeError: There was no sound.
        """
        encoding = choose_encoding(name, self.synthesizer.sample_rate)
        return heard(encoding, self.synthesizer.sample_rate, _WAYS[door](self, text, encoding))


def _speech(house: House, text: str, encoding: Encoding) -> Pieces:
    return _post_speech(house, text, {"response_format": encoding.name})


def _speech_events(house: House, text: str, encoding: Encoding) -> Pieces:
    wanted = {"response_format": encoding.name, "stream_format": "sse"}
    return list(sound_of_events(_post_speech(house, text, wanted)))


def _post_speech(house: House, text: str, wanted: Mapping[str, str]) -> Pieces:
    body = json.dumps({"model": "yuliu", "input": text, "voice": house.voice, **wanted}).encode()
    return _post(house.port, "/v1/audio/speech", body, "application/json")


def _post_stream(house: House, text: str, encoding: Encoding) -> Pieces:
    query = urlencode({"voice": house.voice, "format": encoding.name})
    return _post(house.port, f"/v1/stream?{query}", text.encode(), "text/plain")


def _post(port: int, path: str, body: bytes, media_type: str) -> Pieces:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)) as connection:
        connection.connect()
        began_s = time.perf_counter()
        connection.request("POST", path, body, {"Content-Type": media_type})
        with connection.getresponse() as response:
            if response.status != http.client.OK:
                raise RuntimeError(f"the server answered {response.status}: {response.read(500).decode()}")
            pieces = []
            while data := response.read1(1 << 16):
                pieces.append((time.perf_counter() - began_s, data))
            return pieces


def _websocket(house: House, text: str, encoding: Encoding) -> Pieces:
    """By a client that knows nothing of Yuliu."""
    start = request_text("start", "a", voice=house.voice, format=encoding.name)
    messages = (start, request_text("text", "a", text=text), request_text("end", "a"))

    async def talk() -> Pieces:
        pieces = []
        async with connect(f"ws://127.0.0.1:{house.port}/v1/stream", compression=None, proxy=None) as socket:
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


def _is_last(told: Mapping[str, object]) -> bool:
    if told["type"] == "error":
        raise RuntimeError(f"the server failed: {told['code']}")
    return told["type"] == "done"


def _client(house: House, text: str, encoding: Encoding) -> Pieces:
    async def talk() -> Pieces:
        async with AsyncClient(f"http://127.0.0.1:{house.port}") as client:
            await client.clock(1)  # connects
            began_s = time.perf_counter()
            async with client.stream(voice=house.voice, format=encoding.name) as stream:
                await stream.push(text)
                await stream.end()
                return [
                    (time.perf_counter() - began_s, event.data)
                    async for event in stream.events()
                    if isinstance(event, EncodedSound)
                ]

    return run(talk())


def _library(house: House, text: str, encoding: Encoding) -> Pieces:
    """Without a server; what encodes works where the chunks arrive."""

    async def talk() -> Pieces:
        began_s = time.perf_counter()
        async with house.synthesizer.stream(voice=house.voice) as stream:
            await stream.push(text)
            await stream.end()
            with Encoder(encoding, house.synthesizer.sample_rate) as encoder:
                pieces = [
                    (data, time.perf_counter() - began_s)
                    async for chunk in stream
                    if (data := encoder.write(chunk.samples))
                ]
                pieces.append((encoder.finish(), time.perf_counter() - began_s))
        return [(at_s, data) for data, at_s in pieces]

    return run(talk())


_WAYS: Mapping[DoorName, Callable[[House, str, Encoding], Pieces]] = {
    "speech": _speech,
    "speech sse": _speech_events,
    "websocket": _websocket,
    "post stream": _post_stream,
    "client": _client,
    "library": _library,
}
