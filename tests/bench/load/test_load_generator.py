"""Load generator against a real server with a weightless engine, and arrival times."""

from __future__ import annotations

import itertools
import os
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from serving import running_server

from yuliu.bench.engine_cost import EngineCost
from yuliu.bench.load.generator import LoadGenerator, arrival_times, closed_loop, speech_request
from yuliu.bench.load.point import LoadShape, LoadTiming, measure_point
from yuliu.bench.server_process import free_port
from yuliu.bench.texts import LoadRequest

if TYPE_CHECKING:
    from serving import Running

    from yuliu.bench.server_process import ServerHandle

REQUEST = LoadRequest("tone", "One two three four five six seven.")
COST = EngineCost(0.001, 0.001, 1.0)
PROMISED = {
    *("streams", "voices", "seconds", "ttfp_ms", "underrun", "rejected", "completed", "failed", "audio_s"),
    *("server_cpu_s", "engine_cpu_s_per_audio_s", "cpu_ratio", "rss_mb", "cores_busy"),
}


def in_this_process(server: Running) -> ServerHandle:
    """A handle of a server that runs in this process."""
    return cast("ServerHandle", SimpleNamespace(port=server.port, pid=os.getpid()))


def test_arrivals_are_repeatable_and_random() -> None:
    """A Poisson process: mean and variance of the numbers a second are equal."""
    moments = arrival_times(5.0, 1000.0, "seed")
    assert moments == sorted(arrival_times(5.0, 1000.0, "seed"))
    assert moments != arrival_times(5.0, 1000.0, "another")
    counts = [sum(1 for _ in group) for _, group in itertools.groupby(moments, int)]
    mean = len(moments) / 1000
    variance = sum((count - mean) ** 2 for count in counts) / len(counts)
    assert mean == pytest.approx(5.0, rel=0.05)
    assert variance == pytest.approx(5.0, rel=0.15)


def test_a_load_of_players_gives_the_promised_figures() -> None:
    """No request is refused or fails, and the maximum memory is not below that at the end."""
    with running_server() as server:
        point = measure_point(in_this_process(server), LoadShape(("tone",), streams=4), LoadTiming(1.0, 0.2), COST)
    assert set(point) >= PROMISED
    assert set(point["ttfp_ms"]) == {"p50", "p95", "p99", "max"}
    assert point["rejected"] == point["failed"] == 0
    assert point["audio_s"] > 0
    assert point["rss_mb"]["max"] >= max(point["rss_mb"]["start"], point["rss_mb"]["end"]) > 0


def test_a_load_of_arrivals_sends_one_request_each() -> None:
    """All that arrived in the measured time are answered."""
    shape = LoadShape(("tone",), rate_per_s=30.0, shares=(("short", 1),))
    with running_server() as server:
        point = measure_point(in_this_process(server), shape, LoadTiming(1.0, 0.0), COST)
    assert point["requests"] == pytest.approx(len(arrival_times(30.0, 1.0, "load")), abs=2)
    assert point["completed"] + point["cut"] == point["requests"]


async def test_audio_is_read_to_its_end() -> None:
    """The digest covers all of it and distinguishes it from other audio."""
    with running_server() as server:
        generator = LoadGenerator(server.port)
        first, again = [await generator.request(REQUEST, keep=True) for _ in range(2)]
        other = await generator.request(LoadRequest("tone", "Another text."), keep=True)
    assert first.completed
    assert first.audio_s == pytest.approx(0.72)
    assert first.digest == again.digest != other.digest
    assert generator.results == [first, again, other]


async def test_leaving_at_the_first_byte_is_not_a_failure() -> None:
    """The exchange was cut by the generator itself."""
    with running_server() as server:
        result = await LoadGenerator(server.port).request_first_byte(LoadRequest("tone", "word " * 2000))
    assert result.cut
    assert result.ttfp_s is not None
    assert not result.completed
    assert not result.failed


async def test_refusals_and_lost_servers_are_told_apart() -> None:
    """A wrong request and a port on which nothing listens are failures."""
    with running_server() as server:
        wrong = await LoadGenerator(server.port).request(LoadRequest("nobody", "Hello."))
    nobody = await LoadGenerator(free_port()).request(REQUEST)
    assert (wrong.status, wrong.failed, wrong.rejected) == (400, True, False)
    assert (nobody.status, nobody.failed) == (0, True)


async def test_a_client_without_audio_at_the_end_has_failed() -> None:
    """A server that starves new clients does not look good for it."""
    with running_server() as server:
        server.gate.close()
        generator = LoadGenerator(server.port, grace_s=0.05)
        players = [iter([REQUEST]), iter([REQUEST])]
        await closed_loop(generator, players, ramp_s=0.0, until_s=time.perf_counter() + 0.2)
    assert [result.failed for result in generator.results] == [True, True]


def test_a_class_is_sent_only_if_there_is_one() -> None:
    """As a field and as a header; a server that knows neither gets neither."""
    assert b"lass" not in speech_request(REQUEST).encode()
    with_class = speech_request(LoadRequest("tone", "Hi.", "bulk")).encode()
    assert b"X-Yuliu-Class: bulk\r\n" in with_class
    assert b'"class": "bulk"' in with_class
