"""Crowds against a real server with a weightless engine; arrivals that are drawn."""

from __future__ import annotations

import itertools
import os
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from serving import running_server

from yuliu.bench.load.crowd import Crowd, arrival_times, closed_loop
from yuliu.bench.load.engine import EngineCost
from yuliu.bench.load.listener import Listener, request_bytes
from yuliu.bench.load.point import Shape, Timing, measure_point
from yuliu.bench.load.texts import Ask
from yuliu.bench.process import free_port

if TYPE_CHECKING:
    from serving import Running as RunningHere

    from yuliu.bench.process import Running

ASK = Ask("tone", "One two three four five six seven.")
COST = EngineCost(0.001, 0.001, 1.0)
PROMISED = {
    *("streams", "voices", "seconds", "ttfp_ms", "underrun", "rejected", "completed", "failed", "audio_s"),
    *("server_cpu_s", "engine_cpu_s_per_audio_s", "cpu_ratio", "rss_mb", "cores_busy"),
}


def this_process(server: RunningHere) -> Running:
    """The server, which runs in this process, as something to be watched."""
    return cast("Running", SimpleNamespace(port=server.port, pid=os.getpid()))


def test_arrivals_are_repeatable_and_random() -> None:
    """A Poisson process: the mean and the variance of the numbers a second are alike."""
    moments = arrival_times(5.0, 1000.0, "seed")
    assert moments == sorted(arrival_times(5.0, 1000.0, "seed"))
    assert moments != arrival_times(5.0, 1000.0, "another")
    counts = [sum(1 for _ in group) for _, group in itertools.groupby(moments, int)]
    mean = len(moments) / 1000
    variance = sum((count - mean) ** 2 for count in counts) / len(counts)
    assert mean == pytest.approx(5.0, rel=0.05)
    assert variance == pytest.approx(5.0, rel=0.15)


def test_a_load_of_players_gives_the_promised_figures() -> None:
    """Nobody is refused or fails, and the most memory is not less than that at the end."""
    with running_server() as server:
        point = measure_point(this_process(server), Shape(("tone",), streams=4), Timing(1.0, 0.2), COST)
    assert set(point) >= PROMISED
    assert set(point["ttfp_ms"]) == {"p50", "p95", "p99", "max"}
    assert point["rejected"] == point["failed"] == 0
    assert point["audio_s"] > 0
    assert point["rss_mb"]["max"] >= max(point["rss_mb"]["start"], point["rss_mb"]["end"]) > 0


def test_a_load_of_newcomers_asks_once_each() -> None:
    """All that came within the time are answered."""
    shape = Shape(("tone",), rate_per_s=30.0, shares=(("short", 1),))
    with running_server() as server:
        point = measure_point(this_process(server), shape, Timing(1.0, 0.0), COST)
    assert point["requests"] == pytest.approx(len(arrival_times(30.0, 1.0, "load")), abs=2)
    assert point["completed"] + point["cut"] == point["requests"]


async def test_sound_is_read_to_its_end() -> None:
    """All of it, and the digest tells it from other sound."""
    with running_server() as server:
        crowd = Crowd(server.port)
        first, again = [await crowd.ask(ASK, keep=True) for _ in range(2)]
        other = await crowd.ask(Ask("tone", "Another text."), keep=True)
    assert first.completed
    assert first.audio_s == pytest.approx(0.72)
    assert first.digest == again.digest != other.digest
    assert crowd.outcomes == [first, again, other]


async def test_a_taster_leaves_at_the_first_sound() -> None:
    """Cut by us is no failure."""
    with running_server() as server:
        outcome = await Crowd(server.port).taste(Ask("tone", "word " * 2000))
    assert outcome.cut
    assert outcome.ttfp_s is not None
    assert not outcome.completed
    assert not outcome.failed


async def test_refusals_and_lost_servers_are_told_apart() -> None:
    """A wrong request and a port where nobody listens are failures."""
    with running_server() as server:
        wrong = await Crowd(server.port).ask(Ask("nobody", "Hello."))
    nobody = await Crowd(free_port()).ask(ASK)
    assert (wrong.status, wrong.failed, wrong.rejected) == (400, True, False)
    assert (nobody.status, nobody.failed) == (0, True)


async def test_who_has_heard_nothing_at_the_end_has_failed() -> None:
    """A server that starves newcomers does not look good for it."""
    with running_server() as server:
        server.gate.close()
        crowd = Crowd(server.port, grace_s=0.05)
        players = [iter([ASK]), iter([ASK])]
        await closed_loop(crowd, players, ramp_s=0.0, until_s=time.perf_counter() + 0.2)
    assert [outcome.failed for outcome in crowd.outcomes] == [True, True]


async def test_a_listener_that_was_cut_before_it_was_connected_asks_nothing() -> None:
    """It is over at once."""
    with running_server() as server:
        listener = Listener(ASK)
        listener.cut()
        await listener.connect(server.port)
        await listener.done
        assert server.engine.num_plans == 0
    assert listener.outcome.cut


def test_a_class_is_sent_only_where_one_is_wanted() -> None:
    """As a field and as a header; a server that knows neither is not bothered."""
    assert b"lass" not in request_bytes(ASK)
    with_class = request_bytes(Ask("tone", "Hi.", "bulk"))
    assert b"X-Yuliu-Class: bulk\r\n" in with_class
    assert b'"class": "bulk"' in with_class
