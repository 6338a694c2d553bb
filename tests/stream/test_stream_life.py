"""Tests of a stream with a manual scheduler: admission, cancelling, limits and changes of options."""

from __future__ import annotations

import asyncio
import gc
import math
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manual_stream import ManualScheduler, advance, open_manual_stream, run, settle

from yuliu.errors import Closed, InvalidRequest, Overloaded, TimedOut
from yuliu.scheduler.outputs import Broken
from yuliu.segmenter import Chunking
from yuliu.stream import StreamLimits, StreamOptions
from yuliu.types import Cancelled, Failed, Finished, Heard, Span

if TYPE_CHECKING:
    from yuliu.metrics.report import StreamReport
    from yuliu.stream import Stream
    from yuliu.types import Chunk, StreamClass


class Told:
    """Metrics that store their events."""

    def __init__(self) -> None:
        self.started: list[StreamClass] = []
        self.reports: list[StreamReport] = []
        self.gaps_s: list[float] = []

    def stream_started(self, stream_class: StreamClass) -> None:
        self.started.append(stream_class)

    def stream_ended(self, report: StreamReport) -> None:
        self.reports.append(report)

    def chunk_gap(self, gap_s: float) -> None:
        self.gaps_s.append(gap_s)


async def all_of(stream: Stream) -> list[Chunk]:
    return [chunk async for chunk in stream]


# Admission


def test_a_block_is_entered_once_the_stream_is_admitted() -> None:
    """The block waits for the admission."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler)
        entering = asyncio.ensure_future(stream.__aenter__())
        await settle()
        assert not entering.done()
        await scheduler.admit()
        assert await entering is stream
        assert stream.ending is None

    run(check())


def test_a_rejected_stream_fails_and_states_when_to_retry() -> None:
    """This holds for its block, its pushes and its reads."""

    async def check() -> None:
        told = Told()
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, metrics=told)
        entering = asyncio.ensure_future(stream.__aenter__())
        pushing = asyncio.ensure_future(stream.push("Hello."))
        reading = asyncio.ensure_future(anext(stream))
        await settle()
        await scheduler.refuse()
        for waiting in (entering, pushing, reading):
            with pytest.raises(Overloaded) as error:
                await waiting
            assert error.value.retry_after_s == 3.0
        assert isinstance(stream.ending, Failed)
        assert stream.ending.code == "overloaded"
        assert not scheduler.segments
        assert [report.outcome for report in told.reports] == ["rejected"]

    run(check())


def test_text_waits_for_admission() -> None:
    """It is cut after the admission, which determines the cutting."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler)
        pushing = asyncio.ensure_future(stream.push("First this, then that.\n"))
        await settle()
        assert not pushing.done()
        assert not scheduler.segments
        await scheduler.admit()
        await pushing
        assert scheduler.segments
        await stream.end()
        for number in range(len(scheduler.segments)):
            await scheduler.make(number)
        assert await all_of(stream)
        assert isinstance(stream.ending, Finished)

    run(check())


def test_cancelling_a_waiting_caller_cancels_its_stream() -> None:
    """A stream whose caller is cancelled before the admission leaves the queue."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler)
        entering = asyncio.ensure_future(stream.__aenter__())
        await settle()
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
        assert isinstance(stream.ending, Cancelled)
        assert scheduler.closed == [1]
        with pytest.raises(Closed):
            await stream.admitted()

    run(check())


# Cancelling


async def in_state(state: str, scheduler: ManualScheduler, text: str) -> Stream:
    """Return a stream in this state."""
    stream, reached = open_manual_stream(scheduler), STATES.index(state)

    async def admit() -> None:
        await scheduler.admit()

    async def submit() -> None:
        await stream.push(text)
        await stream.end()

    async def sound() -> None:
        scheduler.utterance = await scheduler.render(scheduler.utterance, 12)

    async def read() -> None:
        assert await anext(stream)

    async def fail() -> None:
        await scheduler.say(Broken(Closed("gone")))

    async def plan() -> None:
        await scheduler.plan()

    steps = [admit, submit, plan, sound, read, sound, fail]
    for step in steps[:reached]:
        await step()
    return stream


STATES = ["waiting", "admitted", "submitted", "planned", "unread", "read", "sounding", "failing"]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("is_read", [True, False])
def test_cancel_in_any_state_ends_the_stream(state: str, is_read: bool) -> None:
    """There is one ending, the coverage is complete, and later outputs of the scheduler are ignored."""

    async def check() -> None:
        scheduler, text = ManualScheduler(), "One two three."
        stream = await in_state(state, scheduler, text)
        reading = asyncio.ensure_future(all_of(stream)) if is_read else None
        if state not in ("unread", "sounding", "failing"):
            await settle()  # the reader waits
        ending = stream.cancel()
        assert isinstance(ending, Cancelled)
        assert stream.ending is stream.cancel(0.1) is ending
        assert ending.coverage.failed == (() if state in ("waiting", "admitted") else (Span(0, len(text)),))
        assert ending.delivered_s == (0.12 if state in ("read", "sounding", "failing") else 0.0)
        assert scheduler.closed == [1]
        if state not in ("waiting", "admitted", "submitted"):
            await scheduler.render(scheduler.utterance)
        assert await all_of(stream) == []
        assert reading is None or await reading == []
        with pytest.raises(Closed):
            await stream.push("more")

    run(check())


def test_cancel_returns_the_position_of_the_listener() -> None:
    """The position is at most what was delivered."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler)
        await scheduler.admit()
        await stream.push("One two three four five six.\n")
        await scheduler.make()  # silence of 20 ms, then 100 ms a word
        (sound,) = [await anext(stream)]
        ending = stream.cancel(0.25)
        assert isinstance(ending, Cancelled)
        assert ending.heard == Heard(0.25, len("One two three"))
        assert ending.delivered_s == ending.audio_s == pytest.approx(len(sound.samples) / sound.sample_rate)
        assert stream.heard() == ending.heard

    run(check())


def test_positions_are_kept_and_passed_to_the_scheduler() -> None:
    """The scheduler counts without pauses, and audio that was not taken was not heard."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(lead_in_ms=500))
        await scheduler.admit()
        assert (await anext(stream)).lead_in
        stream.played(0.1)
        await stream.push("One two three four five six.\n")
        await scheduler.make()
        await anext(stream)
        stream.played(0.75)
        stream.played(0.6)
        assert scheduler.positions_s == pytest.approx([0.1, 0.25, 0.25])
        assert stream.heard() == Heard(0.75, len("One two three"))
        ending = stream.cancel()
        assert isinstance(ending, Cancelled)
        assert ending.heard == Heard(0.75, len("One two three"))
        stream.played(99.0)
        heard = stream.heard()
        assert heard is not None
        assert heard.heard_s == pytest.approx(1.12)
        assert heard.source_end == len("One two three four five six")
        assert len(scheduler.positions_s) == 3
        with pytest.raises(InvalidRequest):
            stream.played(math.nan)

    run(check())


def test_the_position_is_known_after_the_end() -> None:
    """A reader is ahead of its listener, so a stream may have finished when the listener interrupts."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler)
        await scheduler.admit()
        await stream.push("One two three.")
        await stream.end()
        await scheduler.make()
        await all_of(stream)
        assert isinstance(stream.cancel(0.15), Finished)
        assert stream.heard() == Heard(0.15, len("One two"))

    run(check())


def test_pending_text_waits_for_a_disconnected_writer() -> None:
    """Cutting does not depend on the network; after the reconnect the stall timer restarts."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(stall_s=0.5))
        await scheduler.admit()
        await stream.push("It is 3.")
        await advance(0.4)
        stream.writer_lost()
        await advance(30.0)
        assert scheduler.segments == []
        stream.writer_back()
        await advance(0.4)
        await stream.push("14")
        await advance(0.4)
        assert scheduler.segments == []
        await advance(0.2)
        assert [segment.source for segment, _ in scheduler.segments] == [Span(0, 10)]
        stream.cancel()

    run(check())


# Limits


def test_a_silent_writer_ends_the_stream() -> None:
    """The time counts from when all text was spoken and taken; new text restarts it."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(limits=StreamLimits(idle_text_s=2.0)))
        await advance(10.0)  # who is not admitted does not idle
        await scheduler.admit()
        await advance(1.9)
        await stream.push("One two three.\n")
        await advance(10.0)
        for number in range(len(scheduler.segments)):
            await scheduler.make(number)
        await advance(10.0)  # nobody reads: the writer is not to blame
        await anext(stream)
        await advance(1.9)
        assert stream.ending is None
        reading = asyncio.ensure_future(anext(stream))
        await advance(0.2)
        with pytest.raises(TimedOut):
            await reading
        assert isinstance(stream.ending, Failed)
        assert stream.ending.code == "timeout"
        assert scheduler.closed == [1]

    run(check())


def test_a_stalled_reader_ends_the_stream() -> None:
    """Chunks that wait for it are dropped."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(limits=StreamLimits(stalled_reader_s=2.0)))
        await scheduler.admit()
        await stream.push("One two three.\n")
        await advance(10.0)
        utterance = await scheduler.plan()
        for _ in range(4):
            utterance = await scheduler.render(utterance, 5)
            await advance(1.0)
            await anext(stream)
        await scheduler.render(utterance, 5)
        await advance(2.1)
        with pytest.raises(TimedOut):
            await anext(stream)
        assert isinstance(stream.ending, Failed)
        assert stream.ending.coverage.failed == (Span(0, 15),)
        with pytest.raises(Closed):
            await stream.push("more")

    run(check())


def test_the_total_limit_ends_the_stream() -> None:
    """The time before the admission counts too."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(limits=StreamLimits(total_s=5.0)))
        entering = asyncio.ensure_future(stream.__aenter__())
        await advance(4.9)
        assert not entering.done()
        await advance(0.2)
        with pytest.raises(TimedOut):
            await entering

    run(check())


def test_pending_text_is_flushed_by_the_same_timer() -> None:
    """Stalled text is spoken before any other timeout, and there is never a second timer."""

    async def check() -> None:
        loop = asyncio.get_running_loop()
        scheduler = ManualScheduler()
        limits = StreamLimits(idle_text_s=3.0, stalled_reader_s=3.0, total_s=60.0)
        stream = open_manual_stream(scheduler, StreamOptions(limits=limits))
        await scheduler.admit()
        for word in ("Let ", "me ", "check ", "that"):
            await stream.push(word)
            await advance(0.4)
            timers = [timer for timer in loop._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
            assert len(timers) == 1
            assert not scheduler.segments
        await advance(0.2)
        assert [segment.text for segment, _ in scheduler.segments] == ["Let me check that"]
        assert stream.cancel()
        assert not [timer for timer in loop._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]

    run(check())


# Changes on the way


LONG = "First a clause, then another clause of it, and then a third one, which ends. A second sentence follows here.\n"


def pieces(scheduler: ManualScheduler) -> list[str]:
    return [segment.text.strip() for segment, _ in scheduler.segments]


def test_in_throughput_mode_whole_sentences_are_spoken() -> None:
    """The ending reports it."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler)
        await scheduler.admit(throughput=True)
        assert stream.degraded
        await stream.push(LONG)
        assert pieces(scheduler)[0].endswith("which ends.")
        stream.configure(chunking=Chunking("punctuation"))  # which is still decided by the load
        await stream.push(LONG)
        assert [piece[-1] for piece in pieces(scheduler)] == ["."] * 4
        assert stream.cancel().degraded

    run(check())


def test_the_first_segment_follows_the_scale_of_the_admission() -> None:
    """A smaller scale cuts the first segment earlier."""

    async def check() -> None:
        firsts = []
        for scale in (1.0, 0.5):
            scheduler = ManualScheduler()
            stream = open_manual_stream(scheduler, StreamOptions(chunking=Chunking("punctuation", 8)))
            await scheduler.admit(first_weight_scale=scale)
            await stream.push("今天天气不错，我们去公园走走，然后回家吃饭。")
            firsts.append(len(pieces(scheduler)[0]))
            stream.cancel()
        assert firsts == [len("今天天气不错，我们去公园走走，"), len("今天天气不错，")]

    run(check())


def test_cutting_and_speed_can_change_while_text_arrives() -> None:
    """Segments that are already cut stay the same."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(chunking=Chunking("sentence")))
        await scheduler.admit()
        await stream.push(LONG)
        before = pieces(scheduler)
        stream.configure(chunking=Chunking("fixed", 4, 6), speed=2.0)
        with pytest.raises(InvalidRequest):
            stream.configure(speed=9.0)
        await stream.push(LONG)
        await stream.end()
        assert pieces(scheduler)[: len(before)] == before
        assert max(map(len, pieces(scheduler)[len(before) :])) < 30 < max(map(len, before))
        speeds = [plan.speak.speed for _, plan in scheduler.segments]
        assert speeds == [1.0] * len(before) + [2.0] * (len(speeds) - len(before))
        assert "".join(segment.text for segment, _ in scheduler.segments) == LONG * 2

    run(check())


def test_push_waits_for_the_configured_number_of_parts() -> None:
    """It continues when a part is done."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(max_pending=2))
        await scheduler.admit()
        for _ in range(3):
            await stream.push("This is a sentence.\n")
        pushing = asyncio.ensure_future(stream.push("This is a sentence.\n"))
        await settle()
        assert not pushing.done()
        await scheduler.make()
        await pushing
        stream.cancel()

    run(check())


# Silence at the head


@given(st.integers(1, 1000))
@settings(max_examples=20)
def test_the_lead_in_is_sent_at_once_and_shifts_the_rest(lead_in_ms: int) -> None:
    """It is not the first packet; all other audio is the same, only later."""

    async def check() -> None:
        chunks: list[list[Chunk]] = []
        for options in (StreamOptions(), StreamOptions(lead_in_ms=lead_in_ms)):
            scheduler = ManualScheduler()
            stream = open_manual_stream(scheduler, options)
            await scheduler.admit()
            if options.lead_in_ms:
                lead_in = await anext(stream)
                assert (lead_in.lead_in, lead_in.source, lead_in.start_s) == (True, Span(0, 0), 0.0)
                assert len(lead_in.samples) == round(lead_in_ms * 24)
                assert not lead_in.samples.any()
                assert stream.timeline.taken_at_s is stream.timeline.ttfp_s is None
            await stream.push("One two three. Four five six.")
            await stream.end()
            for number in range(len(scheduler.segments)):
                await scheduler.make(number)
            chunks.append(await all_of(stream))
            assert stream.timeline.taken_at_s is not None
            assert not any(chunk.lead_in for chunk in chunks[-1])
        plain, later = chunks
        assert all(np.array_equal(one.samples, other.samples) for one, other in zip(plain, later, strict=True))
        for one, other in zip(plain, later, strict=True):
            assert other.start_s - one.start_s == pytest.approx(lead_in_ms / 1000, abs=1e-4)
            for timing, shifted in zip(one.timings, other.timings, strict=True):
                assert shifted.start_s - timing.start_s == pytest.approx(lead_in_ms / 1000, abs=1e-4)

    run(check())


# Times and reports


def test_the_timeline_has_the_times_of_all_stages() -> None:
    """Times are those of the scheduler's clock; the report follows at the exit of the block, with the bytes sent."""

    async def check() -> None:
        told, scheduler = Told(), ManualScheduler()
        stream = open_manual_stream(scheduler, metrics=told)
        await advance(1.0)
        await scheduler.admit()
        async with stream:
            await advance(1.0)
            await stream.push("One two three.")
            await advance(1.0)
            await stream.end()
            await advance(2.0)
            utterance = await scheduler.plan(took_s=0.5)
            await advance(1.0)
            utterance = await scheduler.render(utterance, 10, took_s=0.25)
            await advance(1.0)
            await anext(stream)
            await advance(1.0)
            await scheduler.render(utterance)
            await advance(1.0)
            assert len(await all_of(stream)) == 1
            stream.num_bytes += 1234
            assert not told.reports
            await advance(1.0)
        line = stream.timeline
        assert line.parts == {
            "queue": 2.5,
            "wait_for_text": 2.0,
            "front_end": 0.0,
            "plan": 0.5,
            "first_step": 1.0,
            "transport": 1.0,
        }
        assert (line.opened_at_s, line.step_began_at_s, line.ended_at_s) == (100.0, 105.75, 109.0)
        assert line.underrun_s == pytest.approx(0.9)  # 0.1 s of sound from 107 on, the rest was there at 108
        (report,) = told.reports
        assert (report.outcome, report.voice, report.door, report.num_bytes) == ("finished", "tone", "library", 1234)
        assert report.num_characters == len("One two three.")
        assert report.audio_s == pytest.approx(0.32)
        assert report.moments == line.moments
        assert told.gaps_s == [2.0] == [report.longest_gap_s]
        assert told.started == [report.stream_class]

    run(check())


@pytest.mark.parametrize("how", ["finished", "cancelled", "failed"])
def test_without_a_block_the_report_follows_at_the_end(how: str) -> None:
    """There is one report."""

    async def check() -> None:
        told, scheduler = Told(), ManualScheduler()
        stream = open_manual_stream(scheduler, metrics=told)
        await scheduler.admit()
        if how == "finished":
            await stream.end()
        if how == "failed":
            await scheduler.say(Broken(Closed("gone")))
        stream.cancel()
        stream.cancel()
        (report,) = told.reports
        assert report.outcome == how
        assert report.code == ("closed" if how == "failed" else "")

    run(check())


# Dropped


@pytest.mark.parametrize("state", ["waiting", "admitted", "sounding"])
def test_a_dropped_stream_is_abandoned(state: str) -> None:
    """Neither the scheduler nor a timer keeps it alive, and it is in no reference cycle."""

    async def check() -> None:
        gc.collect()
        gc.disable()
        try:
            scheduler = ManualScheduler()
            limits = StreamLimits(idle_text_s=1.0, stalled_reader_s=1.0, total_s=1.0)
            stream = open_manual_stream(scheduler, StreamOptions(limits=limits))
            if state != "waiting":
                await scheduler.admit()
            if state == "sounding":
                await stream.push("One two three.\n")
                await scheduler.make()
            gone = weakref.ref(stream)
            del stream
            assert gone() is None
            assert scheduler.abandoned == [1]
            await advance(2.0)
            with suppress(IndexError):
                await scheduler.make()
        finally:
            gc.enable()

    run(check())


def test_an_ended_stream_is_not_abandoned() -> None:
    """It has been closed."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler)
        stream.cancel()
        del stream
        assert (scheduler.closed, scheduler.abandoned) == ([1], [])

    run(check())
