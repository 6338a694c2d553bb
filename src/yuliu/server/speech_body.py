"""The chunked body of a speech answer on its way: encoded sound, bare or in events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.server.sound import WholeSound
from yuliu.types import Cancelled, Coverage
from yuliu.wire.openai import CODECS
from yuliu.wire.speech_events import MEDIA_TYPE, done_event, error_event, skipped_characters, sound_events, usage_of

if TYPE_CHECKING:
    from starlette.types import Send

    from yuliu.server.account import Account
    from yuliu.server.sound import Sound
    from yuliu.session import Stream
    from yuliu.types import Chunk
    from yuliu.wire.openai import SpeechRequest
    from yuliu.wire.problems import Problem


class SpeechBody:
    """Its head goes out with the first bytes of sound.

    Args:
        send: Takes the messages of ASGI.
        account: Is told what was sent.
    """

    def __init__(self, send: Send, account: Account) -> None:
        self.account = account
        self.started = self.has_sound = self.ended = False
        """Whether anything was sent, whether more than a lead-in was made, and whether the last chunk was sent."""
        self._send = send
        self._lead_in_ms = 0
        self._unsent_s = 0.0
        self._num_characters = 0
        self._events = False
        self._sound: Sound | WholeSound | None = None

    def made_of(self, request: SpeechRequest, sound: Sound | WholeSound) -> None:
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
    def _open_sound(self) -> Sound | WholeSound:
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
        if isinstance(self._sound, WholeSound):
            told["content-length"] = str(num_bytes)
            told["x-yuliu-skipped"] = ", ".join(f"{rule}={count}" for rule, count in _skipped(stream).items())
        return [(name.encode("ascii"), value.encode("ascii")) for name, value in told.items()]


def _skipped(stream: Stream) -> dict[str, int]:
    """Characters that a stream which is over did not speak, by rule."""
    return skipped_characters(stream.ending.coverage if stream.ending is not None else Coverage())
