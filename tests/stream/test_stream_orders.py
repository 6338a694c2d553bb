"""Tests of streams under events in any order: chunks have no gaps, and the coverage is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from manual_stream import ManualScheduler, open_manual_stream, run

from yuliu.segmenter import Chunking
from yuliu.stream import StreamOptions
from yuliu.types import Cancelled, Finished, Skipped

if TYPE_CHECKING:
    from yuliu.engines.api import Utterance
    from yuliu.segmenter.chunking import Strategy
    from yuliu.stream import Stream
    from yuliu.types import Chunk, Ending

PIECES = ["One two", " three.", " 你好，", "世界！", "\n", "...", " **four** ", "[pause 300ms]", "$5 and more"]
STRATEGIES: list[Strategy] = ["adaptive", "punctuation", "sentence", "fixed"]
MOVES = st.one_of(
    st.sampled_from(PIECES),
    st.sampled_from(["flush", "plan", "take", "end"]),
    st.integers(1, 80),  # frames to be rendered
    st.floats(0, 3),  # a position of the listener
    st.sampled_from([Chunking(each) for each in STRATEGIES]),
)


class Run:
    """A stream with a scheduler that plans and renders on request."""

    def __init__(self, options: StreamOptions) -> None:
        self.scheduler = ManualScheduler()
        self.stream: Stream = open_manual_stream(self.scheduler, options)
        self.text = ""
        self.chunks: list[Chunk] = []
        self.ended = False
        self.positions: list[float] = []
        self._planned: list[Utterance] = []
        self._num_planned = 0

    async def move(self, move: object) -> None:
        """Apply one event, if it can happen now."""
        match move:
            case "flush":
                self.stream.flush()
            case "plan":
                await self.plan()
            case "take":
                await self.take()
            case "end":
                self.ended = True
                await self.stream.end()
            case str() if not self.ended:
                self.text += move
                await self.stream.push(move)
            case int():
                await self.render(move)
            case float():
                self.stream.played(move)
                self.positions.append(move)
            case Chunking():
                self.stream.configure(chunking=move, speed=1.0 + len(move.strategy) / 10)

    async def plan(self) -> bool:
        if self._num_planned == len(self.scheduler.segments) or self.stream.ending is not None:
            return False
        utterance = await self.scheduler.plan(self._num_planned)
        self._num_planned += 1
        if not utterance.done:
            self._planned.append(utterance)
        return True

    async def render(self, num_frames: int) -> bool:
        if not self._planned or self.stream.ending is not None:
            return False
        after = await self.scheduler.render(self._planned[0], num_frames)
        self._planned[:1] = [] if after.done else [after]
        return True

    async def take(self) -> bool:
        if not self.stream._ready:
            return False
        self.chunks.append(await anext(self.stream))
        return True

    async def finish(self) -> None:
        """Complete all remaining work."""
        await self.move("end")
        while await self.plan() or await self.render(50) or await self.take():
            pass


def check(run_: Run, ending: Ending) -> None:
    """Check the invariants of any stream."""
    stream, chunks = run_.stream, run_.chunks
    at_s = 0.0
    for chunk in chunks:
        assert chunk.start_s == pytest.approx(at_s)
        at_s += len(chunk.samples) / chunk.sample_rate
    if isinstance(ending, Cancelled):
        assert ending.delivered_s == pytest.approx(at_s)
        assert ending.heard == stream.heard()
    made_s = sum(len(chunk.samples) for chunk in chunks if chunk.samples.any()) / 24_000
    assert run_.scheduler.taken_s == pytest.approx(made_s, abs=0.05 * len(chunks))
    spans = [*ending.coverage.spoken, *(skip.source for skip in ending.coverage.skipped), *ending.coverage.failed]
    assert sorted(at for span in spans for at in range(*span)) == list(range(len(run_.text)))
    timings = [timing for chunk in chunks for timing in chunk.timings]
    assert [timing.start_s for timing in timings] == sorted(timing.start_s for timing in timings)
    heard = stream.heard()
    assert (heard is None) == (not run_.positions)
    if heard is not None:
        assert heard.heard_s <= at_s
        begun = [timing.source.end for timing in timings if timing.start_s <= heard.heard_s]
        assert heard.source_end == max(begun, default=0)


@given(st.lists(MOVES, max_size=40), st.booleans(), st.sampled_from([0, 40]))
def test_any_order_of_events_keeps_the_coverage_complete(
    moves: list[object], is_cancelled: bool, lead_in_ms: int
) -> None:
    """The stream is cancelled after any event, or finishes."""

    async def go() -> None:
        run_ = Run(StreamOptions(max_pending=10_000, lead_in_ms=lead_in_ms))
        await run_.scheduler.admit()
        for move in moves:
            await run_.move(move)
        if not is_cancelled:
            await run_.finish()
            assert isinstance(run_.stream.ending, Finished)
            assert not run_.stream.ending.coverage.failed
        ending = run_.stream.cancel()
        check(run_, ending)
        assert run_.scheduler.closed == [1]
        assert [chunk async for chunk in run_.stream] == []

    run(go())


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.integers(1, 80), st.sampled_from(["plan", "take"])), max_size=30))
def test_the_time_of_the_work_does_not_change_the_sound(moves: list[object]) -> None:
    """The same text sounds the same with plans, steps and reads at other times."""

    async def go() -> None:
        sounds = []
        for some in (moves, [move for move in moves if move in PIECES]):
            run_ = Run(StreamOptions(max_pending=10_000))
            await run_.scheduler.admit()
            for move in some:
                await run_.move(move)
            await run_.finish()
            assert isinstance(run_.stream.ending, Finished)
            assert all(isinstance(skip, Skipped) for skip in run_.stream.ending.coverage.skipped)
            sounds.append(np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in run_.chunks)]))
        assert np.array_equal(sounds[0], sounds[1])

    run(go())
