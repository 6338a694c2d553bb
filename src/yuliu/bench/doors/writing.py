"""A text is written piece by piece to a server while its sound is listened to."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.bench.doors.following import Begun, SoundPiece, Written, certain_moments, follow
from yuliu.bench.load.point import run
from yuliu.client import AsyncClient, EncodedSound
from yuliu.client.decode import BYTES_PER_SAMPLE
from yuliu.explanation import TimedDelta, pause_ms_of
from yuliu.stream import StreamOptions
from yuliu.wire.native.messages import SegmentBegun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.bench.doors.following import Followed
    from yuliu.client import ClientStream
    from yuliu.client.fields import StartFields
    from yuliu.explanation import Explainer, Explanation

PIECES_PER_S = 30.0
STALL_S = StreamOptions().stall_s
"""After such a pause of its writer a server speaks what it has."""
_PIECE = re.compile(r"[\u4e00-\u9fff]{1,2}|\s*[A-Za-z]+|\s*.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Script:
    """Pieces of a text and how long after the first of them each is written."""

    pieces: tuple[str, ...]
    at_s: tuple[float, ...]


def script_of(deltas: Sequence[str]) -> Script:
    """So many pieces a second; what stands for a pause is one. Empty pieces take their time and are not sent."""
    pieces, moments, at_s = [], [], 0.0
    for delta in deltas:
        if (pause_ms := pause_ms_of(delta)) is not None:
            at_s += pause_ms / 1000
            continue
        if delta:
            pieces.append(delta)
            moments.append(at_s)
        at_s += 1 / PIECES_PER_S
    return Script(tuple(pieces), tuple(moments))


def pieces_of(text: str) -> list[str]:
    """A text as a language model might write it: a word or two Chinese characters at a time."""
    return _PIECE.findall(text)


def write(
    port: int, script: Script, explainer: Explainer, *, fields: StartFields, only_first: bool = False
) -> Followed:
    """Speak a text while it is written.

    Args:
        port: Of a server on this machine.
        script: What is written when.
        explainer: Tells when segments are certain.
        fields: Of the stream.
        only_first: Leave when there is sound.
    """
    arrivals = [TimedDelta(piece, at_s) for piece, at_s in zip(script.pieces, script.at_s, strict=True)]
    explanation = explainer.follow(arrivals)
    return run(_write(port, script, explanation, fields, only_first=only_first))


async def _write(
    port: int, script: Script, explanation: Explanation, fields: StartFields, *, only_first: bool
) -> Followed:
    async with AsyncClient(f"http://127.0.0.1:{port}") as client:
        await client.clock(1)  # connects
        async with client.stream(**fields) as stream, asyncio.TaskGroup() as tasks:
            writer = _Writer(script)
            writing = tasks.create_task(writer.run(stream))
            listener = _Listener()
            await listener.run(stream, only_first=only_first)
            if only_first:
                writing.cancel()
    written = writer.written
    return follow(
        script.pieces,
        written,
        certain_moments(explanation, written),
        listener.begun,
        listener.sound,
        bytes_per_s=BYTES_PER_SAMPLE * (stream.started.sample_rate if stream.started else 1),
    )


class _Writer:
    """Sends the pieces in time."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._sent_s: list[float] = []
        self._ended_s: float | None = None

    @property
    def written(self) -> Written:
        """When what was sent; what was not sent any more will never be."""
        never = [float("inf")] * (len(self._script.pieces) - len(self._sent_s))
        end_s = float("inf") if self._ended_s is None else self._ended_s
        return Written((*self._sent_s, *never), end_s, STALL_S)

    async def run(self, stream: ClientStream) -> None:
        """Until all is written."""
        began_s = time.perf_counter()
        for piece, at_s in zip(self._script.pieces, self._script.at_s, strict=True):
            await asyncio.sleep(max(0.0, began_s + at_s - time.perf_counter()))
            self._sent_s.append(time.perf_counter())
            await stream.push(piece)
        self._ended_s = time.perf_counter()
        await stream.end()


class _Listener:
    """Takes down what comes."""

    def __init__(self) -> None:
        self.begun: list[Begun] = []
        self.sound: list[SoundPiece] = []
        self._next: SegmentBegun | None = None

    async def run(self, stream: ClientStream, *, only_first: bool) -> None:
        """To the end, or to the first sound."""
        async for event in stream.events():
            if isinstance(event, SegmentBegun):
                self._next = event
            elif isinstance(event, EncodedSound):
                self._take(event.data, time.perf_counter())
                if only_first and self.begun:
                    return

    def _take(self, data: bytes, now_s: float) -> None:
        is_pause = self._next is None and not any(data)
        if self._next is not None:
            self.begun.append(Begun(self._next.source, now_s))
            self._next = None
        self.sound.append(SoundPiece(now_s, len(data), len(self.begun) + is_pause))
