"""Tests of the time limits of a stream, and of its timer."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manual_stream import advance, run

from yuliu.errors import InvalidRequest
from yuliu.stream import StreamLimits
from yuliu.stream.timeouts import NO_READER, NO_TEXT, TOO_LONG, StreamTimeouts
from yuliu.stream.timer import StreamTimer


def patience(**limits: float) -> StreamTimeouts:
    return StreamTimeouts(StreamLimits(**limits), 0.5, 10.0)


def late(patient: StreamTimeouts, now: float) -> str | None:
    error = patient.late(now)
    return None if error is None else error.message


def test_without_limits_only_text_is_flushed() -> None:
    """By default a stream waits forever."""
    patient = patience()
    assert patient.look(10.0, idle=True, offered=True) == math.inf
    assert late(patient, 1e9) is None
    patient.text_came(11.0)
    assert patient.look(11.0, idle=True, offered=True) == 11.5
    assert not patient.stalled(11.4)
    assert patient.stalled(11.5)
    patient.text_done()
    assert not patient.stalled(12.0)


def test_a_disconnected_writer_does_not_stall() -> None:
    """Pending text waits for the writer to reconnect, and then as if it had just arrived."""
    patient = patience(total_s=100.0)
    patient.text_came(11.0)
    patient.writer_lost()
    assert patient.look(11.0, idle=False, offered=False) == 110.0
    assert not patient.stalled(20.0)
    patient.writer_back(20.0)
    assert patient.look(20.0, idle=False, offered=False) == 20.5
    assert patient.stalled(20.5)
    patient.writer_back(20.5)  # it was never disconnected
    assert patient.stalled(20.5)
    patient.text_done()
    patient.writer_lost()
    patient.writer_back(30.0)
    assert not patient.stalled(99.0)


def test_the_total_limit_counts_from_the_opening() -> None:
    """Nothing extends it."""
    patient = patience(total_s=5.0)
    patient.text_came(14.9)
    assert patient.look(14.9, idle=False, offered=False) == 15.0
    assert late(patient, 14.99) is None
    assert late(patient, 15.0) == TOO_LONG


def test_idle_time_counts_from_its_start_or_from_the_last_text() -> None:
    """Work and text restart it."""
    patient = patience(idle_text_s=2.0)
    assert patient.look(10.0, idle=True, offered=False) == 12.0
    assert patient.look(11.0, idle=True, offered=False) == 12.0
    patient.text_came(11.5)
    patient.text_done()
    assert patient.look(11.5, idle=True, offered=False) == 13.5
    assert patient.look(12.0, idle=False, offered=False) == math.inf
    assert late(patient, 20.0) is None
    assert patient.look(20.0, idle=True, offered=False) == 22.0
    assert late(patient, 21.9) is None
    assert late(patient, 22.0) == NO_TEXT


def test_a_stalled_reader_is_timed_from_its_last_chunk() -> None:
    """Each chunk that it takes restarts the time."""
    patient = patience(stalled_reader_s=2.0)
    assert patient.look(10.0, idle=False, offered=True) == 12.0
    assert patient.look(11.0, idle=False, offered=True) == 12.0
    patient.taken()
    assert patient.look(11.5, idle=False, offered=True) == 13.5
    patient.taken()
    assert patient.look(12.0, idle=False, offered=False) == math.inf
    assert late(patient, 99.0) is None
    assert patient.look(99.0, idle=False, offered=True) == 101.0
    assert late(patient, 101.0) == NO_READER


class Owner:
    """Owner of a timer."""

    def __init__(self) -> None:
        self.rung_at_s: list[float] = []
        self.due_s = math.inf
        self.alarm = StreamTimer(asyncio.get_running_loop(), self.ring)

    def want(self, due_s: float) -> None:
        self.due_s = due_s
        self.alarm.set(due_s)

    def ring(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self.due_s:
            self.rung_at_s.append(now)
            self.due_s = math.inf
        self.alarm.set(self.due_s)


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([1, 3, 8, math.inf]))))
def test_the_timer_fires_when_it_is_due_and_has_one_handle(moves: list[tuple[int, float]]) -> None:
    """It agrees with a naive clock for any requests in any order."""

    async def check() -> None:
        loop = asyncio.get_running_loop()
        owner, expected, due_s = Owner(), [], math.inf
        for passed, wanted in moves:
            due_s = loop.time() + wanted
            owner.want(due_s)
            assert len([timer for timer in loop._scheduled if not timer.cancelled()]) <= 1  # type: ignore[attr-defined]
            for _ in range(passed):
                await advance(1.0)
                if loop.time() >= due_s:
                    expected.append(loop.time())
                    due_s = math.inf
        assert owner.rung_at_s == expected
        owner.alarm.stop()

    run(check())


def test_a_timer_does_not_keep_its_owner_alive() -> None:
    """A dropped owner is not called."""

    async def check() -> None:
        owner = Owner()
        owner.want(asyncio.get_running_loop().time() + 1)
        rung = owner.rung_at_s
        del owner
        await advance(2.0)
        assert rung == []

    run(check())


@pytest.mark.parametrize("name", ["idle_text_s", "total_s", "stalled_reader_s"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_invalid_limits_are_rejected(name: str, value: float) -> None:
    """None stands for no limit."""
    with pytest.raises(InvalidRequest, match=name) as error:
        StreamLimits(**{name: value})
    assert error.value.param == name
