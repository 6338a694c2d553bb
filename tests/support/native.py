"""A client of the native stream on a foreign library, ``websockets``."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import TYPE_CHECKING, Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from yuliu.audio.pcm import to_s16le
from yuliu.segmenter import Chunking
from yuliu.stream import StreamOptions
from yuliu.wire.native.encode import SoundFrame as SoundFrame  # re-exported
from yuliu.wire.native.encode import parse_sound_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from serving import Running
    from websockets.sync.client import ClientConnection

    from yuliu.segmenter.chunking import Strategy

PATIENCE_S = 20.0
"""Timeout that only a failing test meets."""

TEXT = "Hello there, how are you? 你好，今天天气怎么样？"
LONG = "one two three four five six seven eight nine ten. " * 100
"""About 100 s of audio."""

Told = dict[str, Any]


def pcm_of(running: Running, text: str, strategy: Strategy = "adaptive") -> bytes:
    """Return the library's audio for a text."""
    options = StreamOptions(chunking=Chunking(strategy))
    return to_s16le(running.synthesizer.speak(text, options=options).samples)


class Talk:
    """A connection and everything received on it."""

    def __init__(self, ws: ClientConnection) -> None:
        self.ws = ws
        self.received: list[Told | SoundFrame] = []

    def say(self, kind: str, context: str | None = "a", **fields: Any) -> None:
        """Send a message."""
        of_context = {} if context is None else {"context": context}
        self.ws.send(json.dumps({"type": kind, **of_context, **fields}))

    def speak(self, text: str, context: str = "a", **start: Any) -> None:
        """Send a whole text."""
        self.say("start", context, **start)
        self.say("text", context, text=text)
        self.say("end", context)

    def next(self) -> Told | SoundFrame:
        """Return the next frame."""
        frame = self.ws.recv(timeout=PATIENCE_S)
        read = json.loads(frame) if isinstance(frame, str) else parse_sound_frame(frame)
        self.received.append(read)
        return read

    def until(self, kind: str, context: str | None = "a") -> Told:
        """Return the next message of a type; fail on an unexpected error of that context."""
        while True:
            told = self.next()
            if isinstance(told, dict) and told.get("context") == context:
                if told["type"] == kind:
                    return told
                assert told["type"] != "error", told

    def until_sound(self) -> SoundFrame:
        """Return the next audio frame."""
        while not isinstance(frame := self.next(), SoundFrame):
            assert frame["type"] != "error", frame
        return frame

    def sound(self, tag: int) -> bytes:
        """Return all audio of a tag, which must have no gap or repetition."""
        frames = [each for each in self.received if isinstance(each, SoundFrame) and each.tag == tag]
        sound = b""
        for frame in frames:
            assert frame.offset == frames[0].offset + len(sound)
            sound += frame.data
        return sound

    def told(self, kind: str, context: str | None = "a") -> list[Told]:
        """Return all messages of a type so far."""
        return [
            each
            for each in self.received
            if isinstance(each, dict) and each["type"] == kind and each.get("context") == context
        ]

    def closed(self) -> tuple[int, str]:
        """Receive until the server closes; return code and reason."""
        try:
            while True:
                self.next()
        except ConnectionClosed as end:
            assert end.rcvd is not None, end
            return end.rcvd.code, end.rcvd.reason

    def vanish(self) -> None:
        """Drop the connection without a close frame."""
        with contextlib.suppress(OSError):
            self.ws.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self.ws.socket.close()


@contextlib.contextmanager
def talking(
    port: int,
    *,
    host: str = "127.0.0.1",
    query: str = "",
    adjust: Callable[[socket.socket], None] | None = None,
    **options: Any,
) -> Iterator[Talk]:
    """Connect to a server on this machine under any host name."""
    raw = socket.create_connection(("127.0.0.1", port))
    if adjust is not None:
        adjust(raw)
    with connect(f"ws://{host}:{port}/v1/stream{query}", sock=raw, compression="deflate", **options) as ws:
        yield Talk(ws)
