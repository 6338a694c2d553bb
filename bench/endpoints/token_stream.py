"""Streams of tokens: a text is sent to a server token by token while its audio is received."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.endpoints.token_lag import AudioPiece, PartStart, SendTimes, completion_times, token_lag
from yuliu.bench.client import run
from yuliu.client import AsyncClient, EncodedSound
from yuliu.client.decode import BYTES_PER_SAMPLE
from yuliu.explanation import TimedDelta, pause_ms_of
from yuliu.stream import StreamOptions
from yuliu.wire.native.messages import SegmentBegun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.endpoints.token_lag import TokenLag
    from yuliu.client import ClientStream
    from yuliu.client.fields import StreamFields
    from yuliu.explanation import Explainer, Explanation

TOKENS_PER_S = 30.0
STALL_S = StreamOptions().stall_s
"""Pause of the writer after which a server speaks the text that it has."""
_TOKEN = re.compile(r"[\u4e00-\u9fff]{1,2}|\s*[A-Za-z]+|\s*.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TokenStream:
    """Tokens of a text and the delay of each after the first."""

    tokens: tuple[str, ...]
    at_s: tuple[float, ...]


def token_stream(deltas: Sequence[str]) -> TokenStream:
    """Return deltas at ``TOKENS_PER_S``; pause marks become pauses, empty deltas take time but are not sent."""
    tokens, moments, at_s = [], [], 0.0
    for delta in deltas:
        if (pause_ms := pause_ms_of(delta)) is not None:
            at_s += pause_ms / 1000
            continue
        if delta:
            tokens.append(delta)
            moments.append(at_s)
        at_s += 1 / TOKENS_PER_S
    return TokenStream(tuple(tokens), tuple(moments))


def tokenize(text: str) -> list[str]:
    """Cut a text as a language model might write it: a word, or one or two Chinese characters, at a time."""
    return _TOKEN.findall(text)


def speak_tokens(
    port: int, stream: TokenStream, explainer: Explainer, *, fields: StreamFields, only_first: bool = False
) -> TokenLag:
    """Speak a text while it is written.

    Args:
        port: Loopback port of the server.
        stream: The tokens.
        explainer: Explains when segments are complete.
        fields: Fields of the native stream.
        only_first: Leave at the first audio.
    """
    arrivals = [TimedDelta(token, at_s) for token, at_s in zip(stream.tokens, stream.at_s, strict=True)]
    explanation = explainer.follow(arrivals)
    return run(_speak(port, stream, explanation, fields, only_first=only_first))


async def _speak(
    port: int, stream: TokenStream, explanation: Explanation, fields: StreamFields, *, only_first: bool
) -> TokenLag:
    async with AsyncClient(f"http://127.0.0.1:{port}") as client:
        await client.clock(1)  # connects
        async with client.stream(**fields) as spoken, asyncio.TaskGroup() as tasks:
            writer = _TokenWriter(stream)
            writing = tasks.create_task(writer.run(spoken))
            recorder = _AudioRecorder()
            await recorder.run(spoken, only_first=only_first)
            if only_first:
                writing.cancel()
    sent = writer.sent
    return token_lag(
        stream.tokens,
        sent,
        completion_times(explanation, sent),
        recorder.starts,
        recorder.audio,
        bytes_per_s=BYTES_PER_SAMPLE * (spoken.started.sample_rate if spoken.started else 1),
    )


class _TokenWriter:
    """Sends the tokens in time."""

    def __init__(self, stream: TokenStream) -> None:
        self._stream = stream
        self._sent_s: list[float] = []
        self._ended_s: float | None = None

    @property
    def sent(self) -> SendTimes:
        """The times so far; tokens that were not sent have an infinite one."""
        never = [float("inf")] * (len(self._stream.tokens) - len(self._sent_s))
        end_s = float("inf") if self._ended_s is None else self._ended_s
        return SendTimes((*self._sent_s, *never), end_s, STALL_S)

    async def run(self, spoken: ClientStream) -> None:
        """Send all tokens and end the text."""
        began_s = time.perf_counter()
        for token, at_s in zip(self._stream.tokens, self._stream.at_s, strict=True):
            await asyncio.sleep(max(0.0, began_s + at_s - time.perf_counter()))
            self._sent_s.append(time.perf_counter())
            await spoken.push(token)
        self._ended_s = time.perf_counter()
        await spoken.end()


class _AudioRecorder:
    """Records when audio arrives and which part of the text it belongs to."""

    def __init__(self) -> None:
        self.starts: list[PartStart] = []
        self.audio: list[AudioPiece] = []
        self._next: SegmentBegun | None = None

    async def run(self, spoken: ClientStream, *, only_first: bool) -> None:
        """Record to the end, or to the first audio."""
        async for event in spoken.events():
            if isinstance(event, SegmentBegun):
                self._next = event
            elif isinstance(event, EncodedSound):
                self._record(event.data, time.perf_counter())
                if only_first and self.starts:
                    return

    def _record(self, data: bytes, now_s: float) -> None:
        is_pause = self._next is None and not any(data)
        if self._next is not None:
            self.starts.append(PartStart(self._next.source, now_s))
            self._next = None
        self.audio.append(AudioPiece(now_s, len(data), len(self.starts) + is_pause))
